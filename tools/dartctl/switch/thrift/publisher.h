/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Listens to a publisher of nanomsg: the scalability protocols "PUB/SUB", version 1, over TCP or
 * over a local socket.  Both sides begin with 8 bytes, 0, 'S', 'P', 0, their type of socket (2 B),
 * 0, 0.  Then the publisher sends messages: a length (8 B, network byte order) and as many bytes;
 * on a local socket, a byte of 1 precedes the length.
 *
 * The library of nanomsg is not used: it starts threads, and after a message that is longer than
 * its limit it connects again and again without receiving anything.
 */
#ifndef SWITCH_PUBLISHER_H
#define SWITCH_PUBLISHER_H

#include <stdint.h>

#include <libdart/error.h>

#define PUBLISHER_MESSAGE_MAX	65536	/* bytes */

struct publisher;

/*
 * Connects to @address, "tcp://HOST:PORT" or "ipc://PATH"; waits for an answer at most 10 s for
 * each address of the host.  Returns 0, or -errno with a sentence in @error: -EINVAL if @address is
 * not of this form.
 */
int publisher__open(const char *address, struct publisher **publisher, struct dart_error *error);
/* @publisher may be NULL. */
void publisher__close(struct publisher *publisher);

/*
 * For poll(): readable when more bytes have arrived.  Call publisher__next() until it returns
 * 0 before waiting.  The descriptor belongs to @publisher.
 */
int publisher__descriptor(const struct publisher *publisher);

/*
 * Takes the next message, without waiting.  Returns 1 and its bytes, valid until the next call; 0
 * if no whole message has arrived; or -errno with a sentence in @error: -ECONNRESET if the
 * publisher has closed the connection, -EPROTO if it speaks another protocol or sends a message
 * that is too long.  After an error the publisher can only be closed.
 */
int publisher__next(struct publisher *publisher, const uint8_t **message,
		    uint32_t *length, struct dart_error *error);

#endif /* SWITCH_PUBLISHER_H */

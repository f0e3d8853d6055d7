/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Receives the digests of simple_switch: samples of a struct that the P4 program gives to digest(),
 * here keys that became popular, see <dart/tea_sketch.h>.  The switch publishes them over nanomsg,
 * at its --notifications-addr, to all listeners.  The switch is not trusted.
 *
 * A message is a header of 32 bytes, integers in the byte order of the switch's host, which must be
 * that of this host (little-endian):
 *
 *   0    "LEA|"
 *   4    device ID (8 B)
 *   12   context (4 B), 0
 *   16   list (4 B): which of the program's digests
 *   20   buffer (8 B): counts the messages of this list, from 0
 *   28   samples (4 B): how many follow
 *
 * and then the samples: the fields of the struct, each in whole bytes, in network byte order.
 *
 * The switch remembers each sample, and does not send it again until its buffer has been
 * acknowledged over Thrift.  So lost buffers are acknowledged, too.
 */
#ifndef SWITCH_DIGESTS_H
#define SWITCH_DIGESTS_H

#include <stdint.h>

#include <libdart/error.h>

#include "thrift.h"

/* Most lost buffers before an arriving one that are acknowledged with it. */
#define SWITCH_DIGESTS_LOST_MAX		4096

struct switch_digests_settings {
	const char *address;	/* "tcp://HOST:PORT" or "ipc://PATH" */
	int32_t list;		/* from the compiled program: learn_lists, id */
	uint32_t sample_length;	/* bytes, 1 to 65504 */
};

struct switch_digests;

/*
 * Listens to a switch.  Returns 0, or -errno with a sentence in @error, as publisher__open()
 * does.
 */
int switch_digests__open(const struct switch_digests_settings *settings,
			 struct switch_digests **digests, struct dart_error *error);
/* @digests may be NULL. */
void switch_digests__close(struct switch_digests *digests);

/*
 * For poll(): readable when more bytes have arrived.  Call switch_digests__next() until it returns
 * 0 before waiting.  The descriptor belongs to @digests.
 */
int switch_digests__descriptor(const struct switch_digests *digests);

/*
 * Takes a message of the list, without waiting.  Returns 1, and @count samples one after the other
 * at @samples, valid until the next call; 0 if no message has arrived; or -errno with a sentence in
 * @error, as publisher__next() does: then the caller must open the digests again.  Skips messages
 * of another form than above.
 */
int switch_digests__next(struct switch_digests *digests, const void **samples,
			 uint32_t *count, struct dart_error *error);

/*
 * Acknowledges the last message that was taken, and lost messages before it. Returns 0, or -errno
 * with a sentence in @error; then the next call tries again.
 */
int switch_digests__acknowledge(struct switch_digests *digests, struct thrift *thrift,
				struct dart_error *error);

#endif /* SWITCH_DIGESTS_H */

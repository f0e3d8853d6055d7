/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Receives the answers of collectors to requests that a packet socket sent through the same
 * interface: RoCEv2 acknowledgements, which no process of this host waits for otherwise.  Needs
 * CAP_NET_RAW.
 */
#ifndef DART_ANSWER_SOCKET_H
#define DART_ANSWER_SOCKET_H

#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#define DART_ANSWER_SOCKET_FRAME_MAX 256 /* bytes; the rest of longer frames is cut off */

struct dart_answer_socket;

/* Returns 0, or sets @error, and -errno. */
int dart_answer_socket__open(const char *interface, struct dart_answer_socket **socket,
			     struct dart_error *error);
/* @socket may be NULL. */
void dart_answer_socket__close(struct dart_answer_socket *socket);

/*
 * Waits for a frame until @due, CLOCK_MONOTONIC in ns, and copies it to @frame.  Returns its bytes,
 * which may be hostile, 0 if none came, or -errno.
 */
int dart_answer_socket__receive(struct dart_answer_socket *socket, uint64_t due,
				uint8_t frame[DART_ANSWER_SOCKET_FRAME_MAX]);

#endif /* DART_ANSWER_SOCKET_H */

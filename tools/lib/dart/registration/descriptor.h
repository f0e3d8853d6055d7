/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes over a UNIX stream socket, with at most one file descriptor beside the first of them
 * (SCM_RIGHTS, unix(7)), as in <dart/registration.h>.
 */
#ifndef DART_DESCRIPTOR_H
#define DART_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Sends @length bytes or fewer, and @fd, which stays the caller's, with the first of them unless it
 * is -1.  @flags as of sendmsg(2); no signal is ever raised.  Returns how many bytes were sent, or
 * -errno.
 */
ssize_t dart_descriptor__send(int socket, const void *bytes, size_t length, int flags, int fd);

/*
 * Receives up to @length bytes; *@fd becomes the descriptor that came with them, which is closed on
 * exec and is the caller's to close, or -1.  @flags as of recvmsg(2). *@is_truncated, unless NULL:
 * more than one descriptor came, and the kernel has closed the others.  Returns how many bytes
 * came, 0 if the peer has disconnected, or -errno; without bytes there is no descriptor.
 */
ssize_t dart_descriptor__receive(int socket, void *bytes, size_t length,
				 int flags, int *fd, bool *is_truncated);

#endif /* DART_DESCRIPTOR_H */

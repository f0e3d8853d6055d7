/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that clients pass (SCM_RIGHTS).  Whoever passes one decides how long its close takes:
 * a socket lingers, and the file of a FUSE server waits for that server.  So threads close all but
 * the kinds that requests take.
 */
#ifndef PASSED_H
#define PASSED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Descriptors of a user that threads are to close, before its clients wait. */
#define PASSED_MAX 256

/*
 * Receives up to @length bytes without waiting; *@fd becomes the first descriptor that came with
 * them, which is the caller's to close with passed__close(), or -1.  *@has_more: others came, too,
 * which @uid had passed; they are closed.  Returns how many bytes came, 0 if the peer has
 * disconnected, or -errno.
 */
ssize_t passed__receive(int socket, void *bytes, size_t length, int *fd, bool *has_more, uid_t uid);
/* Closes @fd, which @uid had passed; -1: does nothing. */
void passed__close(int fd, uid_t uid);
/*
 * Closes the socket of a client of @uid, which may have passed descriptors that dartd has not
 * received.
 */
void passed__close_socket(int socket, uid_t uid);
/* True while more than PASSED_MAX descriptors that @uid had passed are not closed yet. */
bool passed__are_many(uid_t uid);

#endif /* PASSED_H */

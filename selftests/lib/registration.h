/* SPDX-License-Identifier: GPL-2.0-only */
/* The registration socket of the agent, for tests. */
#ifndef DART_TEST_REGISTRATION_H
#define DART_TEST_REGISTRATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The longest time after which an entry leaves whose process ended, on a slow and busy machine. */
#define REGISTRATION_LEASE_SECONDS_MAX 300

int registration__connect(void);

/* Sends @length bytes, with @fd_count file descriptors at the first byte. */
void registration__send(int socket, const void *bytes, size_t length,
			const int *fds, unsigned int fd_count);

/* The next reply, a new reference; NULL if the agent disconnected. */
json_t *registration__reply(int socket);

/* The descriptor that comes with the next reply, which is "ok". */
int registration__reply_fd(int socket);

/*
 * Sends @request, which ends with a newline, with the descriptor @fd or -1, and returns
 * the reply.
 */
json_t *registration__ask(int socket, const char *request, int fd);

/* Sends {"request": @request, "name": @name} over a separate connection, as registration__ask(). */
json_t *registration__ask_about(const char *request, const char *name, int fd);

/* The field "done" of the only copy of an entry; -1: the entry does not exist. */
int registration__done(const char *name);

/* Waits for the end of an entry.  Polls: dartd tells nothing to a client without a monitor. */
bool registration__becomes_absent(const char *name);

/*
 * All entries without their ages, and all stores, as text, over a separate
 * connection; the caller frees it.
 */
char *registration__list(void);

bool registration__is_ok(const json_t *reply);

#endif /* DART_TEST_REGISTRATION_H */

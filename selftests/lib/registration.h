/* SPDX-License-Identifier: GPL-2.0-only */
/* The registration socket of the agent, for tests. */
#ifndef DART_TEST_REGISTRATION_H
#define DART_TEST_REGISTRATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

int registration__connect(void);

/* Sends @length bytes, with @fd_count file descriptors beside the first. */
void registration__send(int socket, const void *bytes, size_t length,
			const int *fds, unsigned int fd_count);

/* The next reply, a new reference; NULL if the agent has hung up. */
json_t *registration__reply(int socket);

/* The next reply, which says yes: the descriptor that comes with it. */
int registration__reply_fd(int socket);

/* A request with its newline, and the reply to it. */
json_t *registration__ask(int socket, const char *request, int fd);

/*
 * What there is, entries and stores, asked over a connection of its own, as
 * text; the caller frees it.
 */
char *registration__list(void);

bool registration__is_ok(const json_t *reply);

#endif /* DART_TEST_REGISTRATION_H */

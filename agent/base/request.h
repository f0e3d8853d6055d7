/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of <dart/registration.h>.  Each room exports a table of the types that
 * it handles; agent.c pairs the table with the object that they are about.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include <libdart/error.h>

struct request {
	void *subject;	/* the object that agent.c paired the table with */
	json_t *members;	/* without "request"; hostile */
	int fd;	/* came with it, the caller's; -1 if none did */
	uid_t uid;		/* of the peer */
	/* Takes a descriptor to send with the reply; -1 as long as there is none. */
	int *reply_fd;
	/* Set by a handler: a new reference, NULL if out of memory; or a reason. */
	json_t *result;
	struct dart_error error;
	bool is_monitor;	/* changes follow the reply; set by "monitor" */
};

enum request_fd {
	REQUEST_FD_NONE,
	REQUEST_FD_OPTIONAL,
	REQUEST_FD_REQUIRED,
};

struct request_type {
	const char *name;	/* NULL ends a table */
	const char *result;	/* its member in the reply */
	int (*handle)(struct request *request);	/* 0 or -errno */
	const char *only_root;	/* may do this; NULL: every client may */
	enum request_fd fd;
};

/* A table of types and the subject of their requests. */
struct request_table {
	const struct request_type *types;	/* NULL ends a list of tables */
	void *subject;
};

/* Unpacks the members; refuses a request that has others. */
int request__unpack(struct request *request, const char *format, ...);
/* -EPERM unless the peer is root or @owner of the thing called @name. */
int request__check_owner(struct request *request, uid_t owner,
			 const char *name);

#endif /* REQUEST_H */

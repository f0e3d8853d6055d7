/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of <dart/registration.h>.  Each room exports a table of the types that
 * it handles; agent.c pairs the table with the object that they are about.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <jansson.h>
#include <sys/types.h>

#include <libdart/error.h>

struct request {
	json_t *members; /* without "request"; hostile */
	int fd; /* came with it, the caller's; -1 if none did */
	uid_t uid;		/* of the peer */
	/*
	 * Takes a descriptor that is sent with the reply and then closed; -1 as
	 * long as there is none.
	 */
	int *reply_fd;
};

enum request_fd {
	REQUEST_FD_NONE,
	REQUEST_FD_OPTIONAL,
	REQUEST_FD_REQUIRED,
};

struct request_type {
	const char *name; /* NULL ends a table */
	const char *result; /* its member in the reply */
	/*
	 * Sets @result, a new reference or NULL if out of memory, or returns
	 * -errno.
	 */
	int (*handle)(void *subject, const struct request *request,
		      json_t **result, struct dart_error *error);
	const char *only_root; /* may do this; NULL: every client may */
	enum request_fd fd;
};

/* A table of types and the object that its handlers get. */
struct request_table {
	const struct request_type *types; /* NULL ends a list of tables */
	void *subject;
};

/* Unpacks the members; refuses a request that has others. */
int request__unpack(const struct request *request, struct dart_error *error,
		    const char *format, ...);
/* -EPERM unless the peer is root or @owner of the thing called @name. */
int request__check_owner(const struct request *request, uid_t owner,
			 const char *name, struct dart_error *error);

#endif /* REQUEST_H */

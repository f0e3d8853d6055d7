/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of <dart/registration.h>, and their replies. */
#ifndef REQUEST_H
#define REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <libdart/error.h>

struct agent;

struct request {
	const char *line;	/* hostile */
	size_t length;		/* bytes of it, without the newline */
	int fd;			/* that came with it, -1 if none did */
	bool has_extra_fd;	/* more came, or one in the midst of it */
	bool is_too_long;	/* and so not here */
	uid_t uid;		/* of the peer */
	/*
	 * Where a descriptor goes that is sent with the reply and then closed;
	 * -1 as long as there is none.
	 */
	int *reply_fd;
};

/* A new reference, NULL if memory is short.  The fd stays the caller's. */
json_t *request__handle(struct agent *agent, const struct request *request);

/*
 * Of requests of a kind: makes @result, which is NULL if memory is short, out
 * of the members of @object, or returns -errno.
 */
typedef int request_handler(struct agent *agent, const struct request *request,
			    json_t *object, json_t **result,
			    struct dart_error *error);

/* Does the object hold what @format says, and nothing else? */
int request__unpack(json_t *object, struct dart_error *error,
		    const char *format, ...);

#endif /* REQUEST_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Hands each request to the room that has its type. */
#ifndef DISPATCH_H
#define DISPATCH_H

#include <stdbool.h>

#include "agent/base/request.h"

/* A request as it arrived. */
struct message {
	const char *line;	/* hostile */
	size_t length;	/* bytes of it, without the newline */
	int fd;	/* came with it, -1 if none did */
	bool has_extra_fd;	/* more came, or one behind the first byte */
	bool is_too_long;	/* the line is not here */
	uid_t uid;	/* of the peer */
	int *reply_fd;	/* see struct request */
};

/* The reply, a new reference; NULL if out of memory.  Do changes follow it? */
json_t *dispatch(const struct request_table *tables,
		 const struct message *message, bool *is_monitor);

#endif /* DISPATCH_H */

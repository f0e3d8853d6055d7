/* SPDX-License-Identifier: GPL-2.0-only */
/* Hands each request to the room that has its type. */
#ifndef DISPATCH_H
#define DISPATCH_H

#include "agent/base/request.h"

/*
 * Parses @line, hostile and without the newline, NULL if it was too long, into
 * @request, of which the caller has set the descriptors and the user.  Returns
 * the reply, a new reference; NULL if out of memory.
 */
json_t *dispatch(const struct request_table *tables, struct request *request,
		 const char *line, size_t length);

#endif /* DISPATCH_H */

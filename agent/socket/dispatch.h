/* SPDX-License-Identifier: GPL-2.0-only */
/* Hands each request to the room that handles its type. */
#ifndef DISPATCH_H
#define DISPATCH_H

#include "agent/base/request.h"

/*
 * Parses @line, hostile and without the newline, NULL if it was too long, into @request, of which
 * the caller has set the descriptors and the user.  Returns the reply, a new reference; NULL if out
 * of memory, if the reply is in @request->answer, or if it is short.  The recorder is told about
 * objects that are to outlive this process.
 */
json_t *dispatch(const struct request_table *tables, struct request_recorder *recorder,
		 struct request *request, const char *line, size_t length);

/*
 * Returns the type of the requests with this name, NULL if there is none, and
 * their subject in *@subject, unless that is NULL.
 */
const struct request_type *dispatch__find(const struct request_table *tables,
					  const char *name, void **subject);

/*
 * Carries out the request whose members, "request" among them, are already in
 * @request; the caller keeps all references.  *@type is set once it is known.
 */
int dispatch__members(const struct request_table *tables, struct request *request,
		      const struct request_type **type);

#endif /* DISPATCH_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch push of tables: what the command line asks for. */
#ifndef SWITCH_LOOKUP_PUSH_H
#define SWITCH_LOOKUP_PUSH_H

#include "wish.h"

struct lookup_push {
	const char *thrift; /* of the switch, "HOST:PORT" */
	const char *digests; /* its address, or NULL: no cache */
	const struct switch_options *ports;
	bool as_json;
	struct in_addr requester; /* INADDR_ANY: the only one there is */
	struct lookup_options options;
	size_t file_count;
	const char *const *files;
};

/* Returns 0, or EXIT_USAGE with a message printed. */
int lookup_push__take_requester(struct lookup_push *push, const char *text);

/* Was an option given that is for tables alone? */
bool lookup_push__is_given(const struct lookup_push *push);

/*
 * Reads the files into @wish, which the caller ends with dart_tea_tables__free().  Returns 0,
 * or -errno with a sentence in @error.
 */
int lookup_push__wish(const struct lookup_push *push, struct lookup_wish *wish,
		      struct dart_error *error);

/* Pushes the files.  Returns an exit status, with the changes or a message printed. */
int lookup_push__once(const struct lookup_push *push, bool is_dry);

/* Says on the standard error that shares have no server, if some have none. */
void lookup_push__warn(const struct lookup_wish *wish);

#endif /* SWITCH_LOOKUP_PUSH_H */

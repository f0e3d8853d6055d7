/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch push of lookup tables: the request of the command line. */
#ifndef LOOKUP_PUSH_H
#define LOOKUP_PUSH_H

#include "wish.h"

struct lookup_push {
	const char *thrift; /* of the switch, "HOST:PORT" */
	const char *digests; /* the address of its digests, or NULL: no cache */
	const char *renew; /* command that renews a queue pair, or NULL: none, see renewals.h */
	struct switch_ports ports;
	bool as_json;
	struct in_addr requester; /* INADDR_ANY: the only one in the files */
	struct lookup_options options;
	size_t file_count;
	const char *const *files;
};

/* Takes the address of the requester into a struct in_addr, for an option_row. */
int lookup_push__take_requester(void *address, const char *text);

/* Did the command line give an option that is only for lookup tables? */
bool lookup_push__is_given(const struct lookup_push *push);

/*
 * Reads the files into @wish, which the caller ends with dart_tea_tables__free().  Returns 0,
 * or -errno with a sentence in @error.
 */
int lookup_push__wish(const struct lookup_push *push, struct lookup_wish *wish,
		      struct dart_error *error);

/*
 * Pushes @wish.  @last: the tables that this process pushed last, or NULL.  Returns 0, or -errno
 * with a sentence in @error.
 */
int lookup_push__push(const struct lookup_push *push, const struct lookup_wish *wish,
		      const struct dart_tea_tables *last, bool is_dry, struct dart_error *error);

/* Pushes the files.  Returns an exit status, with the changes or a message printed. */
int lookup_push__once(const struct lookup_push *push, bool is_dry);

/* Prints to the standard error how many shares have no server, if there are any. */
void lookup_push__warn(const struct lookup_wish *wish);

#endif /* LOOKUP_PUSH_H */

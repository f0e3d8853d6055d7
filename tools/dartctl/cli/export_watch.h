/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that follows the export of dartd for reporters or switches. */
#ifndef EXPORT_WATCH_H
#define EXPORT_WATCH_H

#include <jansson.h>

#include <libdart/registration/client.h>

#include "options.h"

/* A kind of objects that dartd exports. */
struct export_kind {
	const char *object;	/* "store" */
	const char *request;	/* "store-export" */
	const char *member;	/* of the reply */
	/* "reporter": an event of this object, which names @object, also changes the export */
	const char *part;
	const char *remedy;	/* command that adds a part: "dartctl reporter add" */
	int period_ms;		/* pause before the next export without changes; -1: none */
	/*
	 * Unless NULL, runs before each export, and mends failures that no event announces.
	 * Returns 0, or -errno with a sentence in @error.  If dartd refuses to mend a part, the
	 * error is printed, the file is written nevertheless, and the next try is later.
	 */
	int (*mend)(struct dart_registration_client *client, const char *name,
		    struct dart_error *error);
};

struct export_watch {
	const struct options *options;
	const struct export_kind *kind;
	const char *name;	/* of the store or lookup table */
	const char *path;	/* of the file */
	/*
	 * Makes the contents of the file from the member of the reply.  Returns a new reference, or
	 * NULL with an errno: ENODATA if no part is to be written.
	 */
	json_t *(*make)(json_t *exported, const void *argument);
	const void *argument;
};

/*
 * Sends a request, with the name unless that is NULL.  Returns 0 and the reply, a new reference, or
 * -errno with a sentence in @error; even then, *@reply may be a reply.
 */
int export_watch__ask(struct dart_registration_client *client, const char *type, const char *name,
		      json_t **reply, struct dart_error *error);

/*
 * Writes the file now and after each change of its contents, until a signal ends this process.
 * Waits for dartd while it does not run.  Returns an exit status, with its message printed, after a
 * failure that cannot pass by waiting.
 */
int export_watch__run(const struct export_watch *watch);

#endif /* EXPORT_WATCH_H */

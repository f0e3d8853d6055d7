/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that follows what dartd exports for reporters or switches. */
#ifndef EXPORT_WATCH_H
#define EXPORT_WATCH_H

#include <jansson.h>

#include <libdart/registration/client.h>

#include "options.h"

/* What is exported. */
struct export_kind {
	const char *object;	/* "store" */
	const char *request;	/* "store-export" */
	const char *member;	/* of the reply */
	const char *part;	/* "reporter": also changes it, has member @object */
	const char *remedy;	/* how to get one: "dartctl reporter add" */
	int period_ms;		/* look again after this time; -1: only after changes */
	/*
	 * Before each look, unless NULL: mends what no change tells of.  Returns 0, or
	 * -errno with a sentence in @error.  If dartd refused something, this is said,
	 * the file is written nevertheless, and the next try is later.
	 */
	int (*mend)(struct dart_registration_client *client, const char *name,
		    struct dart_error *error);
};

struct export_watch {
	const struct options *options;
	const struct export_kind *kind;
	const char *name;	/* of the store or table */
	const char *path;	/* of the file */
	/*
	 * Makes the file out of the member of the reply: a new reference, NULL with an
	 * errno: ENODATA if it has no part for which there is something to write.
	 */
	json_t *(*make)(json_t *exported, const void *argument);
	const void *argument;
};

/*
 * Sends a request, with the name unless that is NULL.  Returns 0 and the reply, a new
 * reference, or -errno with a sentence in @error; *@reply may then be there, too.
 */
int export_watch__ask(struct dart_registration_client *client, const char *type, const char *name,
		      json_t **reply, struct dart_error *error);

/*
 * Writes the file now, and whenever what it has changes, until a signal ends this
 * process.  Waits for dartd while it is not running.  Returns an exit status after a
 * failure that waiting does not mend, with its message printed.
 */
int export_watch__run(const struct export_watch *watch);

#endif /* EXPORT_WATCH_H */

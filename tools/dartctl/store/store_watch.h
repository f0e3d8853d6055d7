/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that follows the collectors of a store. */
#ifndef STORE_WATCH_H
#define STORE_WATCH_H

#include <jansson.h>

#include "tools/dartctl/options.h"

struct store_watch {
	const struct options *options;
	const char *store;
	const char *path;	/* of the file */
	/*
	 * Makes the file out of the collectors: a new reference, NULL with an
	 * errno: ENODATA if there are none to report to.
	 */
	json_t *(*make)(json_t *collectors, const void *argument);
	const void *argument;
};

/*
 * Writes the file now, and whenever the collectors change, until a signal ends this
 * process.  Waits for dartd while it is not running.  Returns an exit status after a
 * failure that waiting does not mend, with its message printed.
 */
int store_watch__run(const struct store_watch *watch);

#endif /* STORE_WATCH_H */

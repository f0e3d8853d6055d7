/* SPDX-License-Identifier: GPL-2.0-only */
/* The XDP program that appends to a journal instead of reporting to stores. */
#ifndef APPENDER_H
#define APPENDER_H

#include <libdart/error.h>
#include <libdart/report/journal_target.h>

/*
 * Reads the journal for the appender at @address from the file at @path, and makes @collectors of
 * it: the only collector, which has share 0, is that of the journal.  Returns 0, or -errno with a
 * sentence in @error; -EINVAL if the entries have no room for a flow.
 */
int xdp_appender__load(const char *path, struct in_addr address, struct dart_journal_target *target,
		       struct dart_collectors *collectors, struct dart_error *error);

/*
 * Sends the entries that wait in batches of the appender on @interface, or the paths or sums that
 * wait in a translator, to which frames no longer come; does nothing for a reporter of whole
 * paths.  Returns 0, or -errno with a sentence in @error.
 */
int xdp_appender__flush(const char *interface, struct dart_error *error);

#endif /* APPENDER_H */

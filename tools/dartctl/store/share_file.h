/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of shares, see <libdart/store/share_history.h>, which one command at a time changes. */
#ifndef SHARE_FILE_H
#define SHARE_FILE_H

#include <libdart/store/share_history.h>

/* Sets @history, the caller's; returns 0, or -errno with a sentence in @error. */
int share_file__read(const char *path, struct dart_share_history **history,
		     struct dart_error *error);
/* Replaces the file in one step, and keeps its owner and mode; returns as above. */
int share_file__write(const char *path, const struct dart_share_history *history,
		      struct dart_error *error);

/* Makes the file, which nobody may have made before; returns as above, -EEXIST if it is there. */
int share_file__create(const char *path, const struct dart_share_history *history,
		       struct dart_error *error);

/*
 * Other commands that change this file wait while it is taken.  Only users who may write the file
 * can take it.
 */
struct share_lock {
	int file; /* descriptor */
};

int share_lock__take(struct share_lock *lock, const char *path, struct dart_error *error);
void share_lock__release(struct share_lock *lock);

#endif /* SHARE_FILE_H */

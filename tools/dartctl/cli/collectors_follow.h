/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps a reporter in line with files of collectors: see dart_collectors(5). */
#ifndef COLLECTORS_FOLLOW_H
#define COLLECTORS_FOLLOW_H

#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/report/collectors.h>

/* The files that options --collectors name. */
struct collectors_files {
	size_t count;
	const char *paths[DART_COLLECTORS_MAX];
};

/* Adds a path to @files, a struct collectors_files: a function of an option_row. */
int collectors_files__take(void *files, const char *path);

struct collectors_follow {
	const char *name;	/* of the reporter, for messages */
	const char *const *files;
	size_t file_count;
	struct in_addr reporter;	/* INADDR_ANY: the only one in the files */
	/* Reads the files otherwise than dart_collectors__load(), unless it is NULL. */
	int (*load)(void *subject, const struct collectors_follow *follow,
		    struct dart_collectors *collectors, struct dart_error *error);
	/* advice if the reporter cannot follow, for messages */
	const char *remedy;
	/*
	 * Gives the reporter @collectors; @last: its present ones, NULL if unknown.  Signals are
	 * blocked meanwhile.  Returns 0, or -errno with a sentence in @error.
	 */
	int (*apply)(void *subject, const struct dart_collectors *collectors,
		     const struct dart_collectors *last, struct dart_error *error);
	/*
	 * Has the reporter lost its collectors, or can it not be asked?  Called every few seconds;
	 * NULL: a reporter never does.
	 */
	bool (*is_lost)(const void *subject);
	void *subject;
	bool retries;		/* tries again after a failure, with longer and longer pauses */
};

/*
 * Applies the collectors now, after each valid change of the files and after the reporter has lost
 * them, until a signal ends this process.  Stores and their geometry must stay the same, but shares
 * may move from one to another.  Returns an exit status, with its message printed, if apply() fails
 * and is not retried.
 */
int collectors_follow__run(const struct collectors_follow *follow);

#endif /* COLLECTORS_FOLLOW_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes of the host an application consists of. */
#ifndef APPLICATION_SELECTION_H
#define APPLICATION_SELECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/error.h>

enum selection_kind {
	SELECTION_ALL, /* processes of the application, wherever they are */
	SELECTION_UNIT, /* of systemd, with everything in it */
	SELECTION_PID,
	SELECTION_CGROUP, /* with all cgroups below it */
	SELECTION_EXE, /* executables, as a pattern of fnmatch(3) */
};

#define SELECTION_TEXT_MAX 256

struct selection {
	enum selection_kind kind;
	pid_t pid;
	char text[SELECTION_TEXT_MAX]; /* unit, path or pattern */
};

/* Takes over the members of a request, which the client left out if they are NULL. */
int selection__init(struct selection *selection, const char *unit, const json_t *pid,
		    const char *cgroup, const char *exe, struct dart_error *error);
/* True says nothing about the program of the process. */
bool selection__matches(const struct selection *selection, pid_t pid);
bool selection__equals(const struct selection *one, const struct selection *other);
/*
 * -ESRCH: a process that is selected by its number has ended, or started at another time than
 * @start (see host_process__origin(); 0: any), because the kernel gave its number away again.
 */
int selection__check_start(const struct selection *selection, uint64_t start,
			   struct dart_error *error);
/* "unit", "pid", "cgroup" or "exe"; NULL for all. */
const char *selection__kind(const struct selection *selection);
/* The unit, number, path or pattern. */
void selection__print(const struct selection *selection, char text[static SELECTION_TEXT_MAX]);

#endif /* APPLICATION_SELECTION_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that is wanted, and how its processes are recognized. */
#ifndef APPLICATION_PROGRAM_H
#define APPLICATION_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "layouts.h"
#include "selection.h"

struct program {
	char *name; /* as its layouts call it */
	struct selection selection;
	char last_executable[PATH_MAX]; /* of the last process that was the program, or "" */
};

/*
 * Finds the layout of a process that is selected; *@layout is valid until the next call.
 * @is_missing: no process is the program now.  Returns 0; -ENODEV if the process is not the program,
 * or only a copy of its parent; or another -errno if it should be the program, but is not.
 */
int program__recognize(const struct program *program, struct layouts *layouts, pid_t pid, int pidfd,
		       bool is_missing, const struct dart_application_layout **layout,
		       struct dart_error *error);

/* Writes NAME@SELECTION, and a star if all its processes are meant.  -ENAMETOOLONG. */
int program__print(const struct program *program, bool follows, char *text, size_t room,
		   struct dart_error *error);

#endif /* APPLICATION_PROGRAM_H */

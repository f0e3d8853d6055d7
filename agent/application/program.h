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

#include "examination.h"
#include "layouts.h"
#include "selection.h"

struct program {
	char *name; /* as its layouts call it, or that of a format */
	enum application_format format; /* ANY: known by the build-id */
	struct selection selection;
	char last_executable[PATH_MAX]; /* of the last process that was the program, or "" */
};

/* Takes a copy of @name.  0 or -ENOMEM. */
int program__init(struct program *program, const char *name, const struct selection *selection);
void program__clear(struct program *program);

/*
 * Finds the layout of an examined process by its build-id, which was read; the caller puts *@layout
 * back.  @is_missing: no process is the program now.  Returns 0; -ENODEV if the process is not the
 * program, or only a copy of its parent; or another -errno if it should be the program, but is not.
 */
int program__find_layout(const struct program *program, struct layouts *layouts,
			 const struct examination *examination, bool is_missing,
			 const struct dart_application_layout **layout, struct dart_error *error);
/*
 * Is the examined process the program?  Returns as above; after 0, the finding has a process.
 * *@is_early: it may become the program.
 */
int program__judge(const struct program *program, const struct examination *examination,
		   bool is_missing, bool *is_early, struct dart_error *error);

/* Writes NAME@SELECTION, and a star if all its processes are meant.  -ENAMETOOLONG. */
int program__print(const struct program *program, bool follows, char *text, size_t room,
		   struct dart_error *error);

#endif /* APPLICATION_PROGRAM_H */

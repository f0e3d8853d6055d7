/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that gets what a command prints if it succeeds, and stays as it is otherwise, which
 * a redirection of the shell cannot do: it empties the file first.
 */
#ifndef DARTCTL_OUTPUT_FILE_H
#define DARTCTL_OUTPUT_FILE_H

#include <stdbool.h>

#include <libdart/error.h>

/*
 * The standard output becomes a new file of mode 0600 beside @path, @path and ".new"; it is
 * to be ended.  Returns 0, or -errno with a sentence in @error.
 */
int output_file__begin(const char *path, struct dart_error *error);
/* Puts the file in the place of @path, or removes it if the command failed. */
int output_file__end(const char *path, bool has_failed,
		     struct dart_error *error);

#endif /* DARTCTL_OUTPUT_FILE_H */

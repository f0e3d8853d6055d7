/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is replaced by the output of a command if the command succeeds, and unchanged
 * otherwise.  A redirection of the shell cannot do this: it empties the file first.
 */
#ifndef DARTCTL_OUTPUT_FILE_H
#define DARTCTL_OUTPUT_FILE_H

#include <stdbool.h>

#include <libdart/error.h>

/*
 * Redirects the standard output to a new file of mode 0600 named @path plus ".new".  The caller
 * then calls output_file__end().  Returns 0, or -errno with a sentence in @error.
 */
int output_file__begin(const char *path, struct dart_error *error);
/* Renames the new file to @path, or removes it if the command failed. */
int output_file__end(const char *path, bool has_failed, struct dart_error *error);

#endif /* DARTCTL_OUTPUT_FILE_H */

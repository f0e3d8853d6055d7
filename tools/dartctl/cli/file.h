/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that commands write as a whole or not at all, and files that dartd keeps as memory. */
#ifndef DARTCTL_FILE_H
#define DARTCTL_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

/*
 * Puts a file with @text and mode 0600 in the place of @path: readers see the old contents or
 * the new ones.  Overwrites the file named @path plus ".new".  Returns 0, or -errno with a sentence
 * in @error; then @path is unchanged.  Refuses devices, pipes, directories and links to them.
 */
int file__replace(const char *path, const char *text, struct dart_error *error);
/*
 * The same for a file without secrets that others may have to read: it keeps the owner, group and
 * mode of the regular file at @path, if there is one.
 */
int file__change(const char *path, const char *text, struct dart_error *error);
/* Makes a new file with @text and mode 0600; returns as above, -EEXIST if @path is there. */
int file__create(const char *path, const char *text, struct dart_error *error);

/*
 * The same as file__replace() with the output of a command, unless the command fails.  A
 * redirection of the shell cannot do this: it empties the file first.  file__begin_output()
 * redirects the standard output to the new file; the caller then calls file__end_output(), which
 * renames the new file, or removes it if the command failed.
 */
int file__begin_output(const char *path, struct dart_error *error);
int file__end_output(const char *path, bool has_failed, struct dart_error *error);

/*
 * Opens the file at @path for the memory of a store or a lookup table, creates it if needed, and
 * writes its absolute path to @full.  Returns a descriptor, the caller's, or -1 with a message
 * printed.
 */
int file__open_memory(const char *path, char full[static PATH_MAX], bool *is_new);

/*
 * Maps the whole file @fd, which dartd sent, for reading.  Returns 0, -EPROTO if @fd is -1 or the
 * file is shorter than @least bytes, or -errno.
 */
int file__map(int fd, uint64_t least, void **memory, size_t *length);

#endif /* DARTCTL_FILE_H */

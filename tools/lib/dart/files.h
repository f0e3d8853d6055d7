/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Directories of YAML files, places beside the program, and writing whole files. */
#ifndef DART_FILES_H
#define DART_FILES_H

#include <dirent.h>
#include <limits.h>
#include <stddef.h>

#define DART_FILES_YAML ".yaml"

/*
 * Lists the files *.yaml in @directory that are not hidden, in the order of their bytes, which does
 * not depend on the locale.  Returns their number, or -errno; the caller calls dart_files__free().
 */
int dart_files__list_yaml(const char *directory, struct dirent ***entries);
/* Nothing if @count is negative. */
void dart_files__free(struct dirent **entries, int count);

/* Finds @path, relative to the directory of this program; "" if that is unknown. */
void dart_files__beside_program(const char *path, char found[static PATH_MAX]);

/* Writes all @length bytes.  Returns 0 or -errno. */
int dart_files__write(int fd, const void *bytes, size_t length);

#endif /* DART_FILES_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that a store or a table of dartd has as its memory. */
#ifndef MEMORY_FILE_H
#define MEMORY_FILE_H

#include <limits.h>
#include <stdbool.h>

/*
 * Opens the file at @path, which it creates if needed, and writes its path from the root to
 * @full.  Returns a descriptor, the caller's, or -1 with a message printed.
 */
int memory_file__open(const char *path, char full[static PATH_MAX], bool *is_new);

#endif /* MEMORY_FILE_H */

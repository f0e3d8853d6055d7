/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FILE_REPLACE_H
#define FILE_REPLACE_H

#include <libdart/error.h>

/*
 * Puts a file with @text and mode 0600 in the place of @path, or leaves that as it
 * is: readers see the old contents or the new ones.  ".new" behind the name is
 * written over.
 */
int file_replace(const char *path, const char *text, struct dart_error *error);

#endif /* FILE_REPLACE_H */

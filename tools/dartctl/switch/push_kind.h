/* SPDX-License-Identifier: GPL-2.0-only */
/* What files for a switch are about: see dart_collectors(5) and dart_tables(5). */
#ifndef SWITCH_PUSH_KIND_H
#define SWITCH_PUSH_KIND_H

#include <stddef.h>

#include <libdart/error.h>

enum push_kind { PUSH_COLLECTORS, PUSH_TABLES };

/*
 * Reads the file at @path.  What is neither counts as collectors, and so does a pipe, which is
 * not read.  Returns 0, or -errno with a sentence in @error if it cannot be opened or is not
 * JSON.
 */
int push_kind__read(const char *path, enum push_kind *kind, struct dart_error *error);

/*
 * Waits for the first of @count files to be there, and to be JSON, and says once that it does.
 * @name: of the switch, for this.  Returns as push_kind__read() does, but not for these
 * reasons.
 */
int push_kind__wait(const char *name, const char *const *files, size_t count,
		    enum push_kind *kind, struct dart_error *error);

#endif /* SWITCH_PUSH_KIND_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kinds of files for a switch, see dart_collectors(5), dart_tables(5), dart_ledgers(5),
 * dart_journals(5) and dart_sketches(5).
 */
#ifndef SWITCH_PUSH_KIND_H
#define SWITCH_PUSH_KIND_H

#include <stddef.h>

#include <libdart/error.h>

enum push_kind { PUSH_COLLECTORS, PUSH_TABLES, PUSH_LEDGER, PUSH_JOURNAL, PUSH_SKETCH };

/*
 * Reads the file at @path.  A file of no kind counts as collectors, and so does a pipe, which
 * is not read.  Returns 0, or -errno with a sentence in @error if the file cannot be opened or is
 * not JSON.
 */
int push_kind__read(const char *path, enum push_kind *kind, struct dart_error *error);

/*
 * Waits until the first of @count files exists and is JSON, and prints once why it waits; @name is
 * the switch in this message.  Returns 0, or -errno with a sentence in @error if the files cannot
 * be watched.
 */
int push_kind__wait(const char *name, const char *const *files, size_t count,
		    enum push_kind *kind, struct dart_error *error);

#endif /* SWITCH_PUSH_KIND_H */

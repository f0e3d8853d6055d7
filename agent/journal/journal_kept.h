/* SPDX-License-Identifier: GPL-2.0-only */
/* The names and numbers by which the next dartd recognizes a journal and its appenders. */
#ifndef JOURNAL_KEPT_H
#define JOURNAL_KEPT_H

#include <jansson.h>

#include <libdart/journal/journal.h>

#include "agent/base/fd_store.h"

/* In errors, and in the names of kept descriptors. */
#define JOURNAL_NOUN "journal"
/* All names in the fd store begin with this. */
#define JOURNAL_KEPT_PREFIX JOURNAL_NOUN "-"

/* The name of the memory, see kept_memory.h. */
void journal_kept__name(const char *journal, const struct dart_journal_geometry *geometry,
			char name[static FD_STORE_NAME_MAX]);

/* Adds the part of an appender to the numbers @kept, which may be NULL. */
void journal_kept__set_part(json_t *kept, uint32_t part);
/* Returns the part in @kept, which may be hostile or NULL; -1 if @kept has no valid part. */
int journal_kept__part(const json_t *kept);

#endif /* JOURNAL_KEPT_H */

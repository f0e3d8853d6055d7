/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Journals: their geometry, batches of entries, and an appender's lists: see <dart/journal.h>. */
#ifndef DART_JOURNAL_H
#define DART_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/journal.h>

/* The parameters that all appenders and readers of a journal share. */
struct dart_journal_geometry {
	uint32_t parts; /* of the memory, one for each appender */
	uint32_t lists_log2;
	uint32_t batches_log2; /* of a ring */
	uint32_t batch_log2; /* bytes of a batch */
	uint32_t entry_length; /* bytes */
};

/* Returns 0, or -EINVAL if a journal cannot have this geometry. */
int dart_journal_geometry__check(const struct dart_journal_geometry *geometry);
/* Entries of a full batch. */
uint32_t dart_journal_geometry__capacity(const struct dart_journal_geometry *geometry);
/* Bytes of an appender's part, and of all parts. */
uint64_t dart_journal_geometry__part(const struct dart_journal_geometry *geometry);
uint64_t dart_journal_geometry__length(const struct dart_journal_geometry *geometry);
/* Where the batch at @place of @list begins in the part of its appender. */
uint64_t dart_journal_geometry__offset(const struct dart_journal_geometry *geometry, uint32_t list,
				       uint32_t place);

/* ---- batches */

/* What a batch says, apart from its entries. */
struct dart_journal_batch {
	uint64_t start;
	uint32_t sequence;
	uint32_t count;
	const uint8_t *entries; /* in the bytes of the batch */
};

enum dart_journal_state {
	DART_JOURNAL_WHOLE,
	DART_JOURNAL_EMPTY, /* all bytes are zeros */
	DART_JOURNAL_TORN, /* anything else */
};

/*
 * Reads the batch at @bytes, which was found at @place; the bytes may be hostile, but must not
 * change meanwhile.  Sets @batch if the batch is whole.
 */
enum dart_journal_state dart_journal_batch__read(const struct dart_journal_geometry *geometry,
						 const uint8_t *bytes, uint32_t place,
						 struct dart_journal_batch *batch);

/* The start of an appender that begins now. */
uint64_t dart_journal__start(void);

/* ---- the appender's side */

/* A WRITE of a batch to the part of the appender. */
struct dart_journal_write {
	uint64_t offset; /* in the part */
	uint32_t length; /* bytes */
	const uint8_t *bytes; /* valid until the next call with this list */
};

struct dart_journal_appender;

/* Returns 0, -EINVAL (the geometry, or a start of more than 48 bits) or -ENOMEM. */
int dart_journal_appender__new(const struct dart_journal_geometry *geometry, uint64_t start,
			       struct dart_journal_appender **appender);
/* Forgets entries that were not flushed; @appender may be NULL. */
void dart_journal_appender__free(struct dart_journal_appender *appender);

/*
 * Appends an entry to @list, which exists.  Returns whether the batch is full: then @write is due,
 * and the next entry begins the next batch.
 */
bool dart_journal_appender__append(struct dart_journal_appender *appender, uint32_t list,
				   const void *entry, struct dart_journal_write *write);
/* Returns whether @list has entries that no WRITE contained yet: then @write is due. */
bool dart_journal_appender__flush(struct dart_journal_appender *appender, uint32_t list,
				  struct dart_journal_write *write);

#endif /* DART_JOURNAL_H */

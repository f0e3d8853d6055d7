/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the table of a control region while it is being READ, by the rules of
 * <dart/control.h>.  Adding an entry and taking one out takes the same time
 * however many there are (on average: now and then the table is laid out anew,
 * with more room).  One caller at a time.
 */
#ifndef DART_TABLE_WRITER_H
#define DART_TABLE_WRITER_H

#include "table.h"

struct dart_table_writer;

/*
 * Will write to @memory, which is 8-byte aligned, outlives the writer and is
 * written by nobody else; nothing is written yet.  NULL if memory is short.
 */
struct dart_table_writer *dart_table_writer__new(void *memory, size_t capacity);
void dart_table_writer__free(struct dart_table_writer *writer);

/*
 * Makes @table the table.  Its generation has been raised.  Schemas that say
 * the same are written once.  Returns the bytes of the control region from now
 * on; -ENOSPC if they are more than @capacity, -EINVAL if dart_table__decode()
 * would refuse the result (too many, too long, a field outside the ranges),
 * -ENOMEM: then the table stays what it was.
 */
int dart_table_writer__rewrite(struct dart_table_writer *writer,
			       const struct dart_table *table);

/*
 * Adds the memory regions and the entries of @more behind those that are
 * there; everything else in @more, such as the generation, replaces what was.
 * Its ranges count the memory regions of the whole table.  Returns as
 * dart_table_writer__rewrite().
 */
int dart_table_writer__append(struct dart_table_writer *writer,
			      const struct dart_table *more);

/*
 * Takes the entry of this name out; @rest is as @more above, without memory
 * regions and entries.  Memory regions stay in the table, whether an entry
 * still refers to them or not.  Returns the bytes of the control region;
 * -ENOENT; -EAGAIN if more than half of the table would be room that is lost
 * until it is rewritten, or -EINVAL: then the table stays what it was.
 */
int dart_table_writer__remove(struct dart_table_writer *writer,
			      const struct dart_table *rest, const char *name);

#endif /* DART_TABLE_WRITER_H */

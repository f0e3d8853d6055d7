/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the table of a control region while it is READ, by the rules of
 * <dart/control.h>.  Adding or removing an entry takes constant time on
 * average: now and then the table is laid out again, with more room.  One
 * caller at a time.
 */
#ifndef DART_TABLE_WRITER_H
#define DART_TABLE_WRITER_H

#include "table.h"

struct dart_table_writer;

/*
 * Creates a writer to @memory, which is 8-byte aligned, outlives the writer and
 * has no other writer; writes nothing yet.  Returns NULL if out of memory.
 */
struct dart_table_writer *dart_table_writer__new(void *memory, size_t capacity);
void dart_table_writer__free(struct dart_table_writer *writer);

/*
 * Replaces the table with @table, whose generation the caller has raised.
 * Equal schemas are written once.  Returns the bytes of the new control region;
 * -ENOSPC if they exceed @capacity, -EINVAL if dart_table__decode() would
 * refuse the result (too many, too long, a field outside the ranges), or
 * -ENOMEM.  An error leaves the table unchanged.
 */
int dart_table_writer__rewrite(struct dart_table_writer *writer, const struct dart_table *table);

/*
 * Removes the @count entries with these @names, and appends the memory regions and the entries of
 * @more; its other members, such as the generation, replace the members of the table.  Its ranges
 * index the memory regions of the whole table, of which unused ones stay.  Returns the bytes of the
 * control region; -ENOENT: no entry has a name; -EAGAIN if more than half of the entries or ranges
 * would be removed ones, whose room is lost until the table is rewritten, or if the CPU sets
 * differ; otherwise like dart_table_writer__rewrite().  An error leaves the table unchanged.
 */
int dart_table_writer__change(struct dart_table_writer *writer, const char *const *names,
			      uint32_t count, const struct dart_table *more);
/* The same without removals, or without additions. */
int dart_table_writer__append(struct dart_table_writer *writer, const struct dart_table *more);

int dart_table_writer__remove(struct dart_table_writer *writer,
			      const struct dart_table *rest, const char *name);

/*
 * Finds the next run of whole blocks of DART_CONTROL_BLOCK bytes, from @offset on and below @end,
 * that changed after @generation; a last block of the table that is shorter counts as whole.  Both
 * are multiples of DART_CONTROL_BLOCK, @end at most the capacity.  Returns the bytes of the run,
 * and sets *@begin to its offset; 0: there is none.  The first block, with the header, changes
 * with each generation.
 */
uint32_t dart_table_writer__changed(const struct dart_table_writer *writer, uint64_t generation,
				    uint32_t offset, uint32_t end, uint32_t *begin);

#endif /* DART_TABLE_WRITER_H */

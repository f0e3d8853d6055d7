/* SPDX-License-Identifier: GPL-2.0-only */
/* The facts that a compiled P4 program with lookup tables tells about itself. */
#ifndef LOOKUP_PROGRAM_H
#define LOOKUP_PROGRAM_H

#include <libdart/tea/tea_tables.h>

#include "tools/dartctl/switch/bmv2/program.h"

/* Tables whose keys and values are strings of bytes, and their actions. */
#define LOOKUP_TABLE_STASH "tea_stash"
#define LOOKUP_ACTION_STASH "tea_stashed"
#define LOOKUP_TABLE_CACHE "tea_cache"
#define LOOKUP_ACTION_CACHE "tea_cached"

/* The sizes that the program was compiled for. */
struct lookup_sizes {
	uint32_t key_length, value_length, cells;
	uint32_t stash_room; /* entries */
	uint32_t cache_room; /* likewise */
};

/* Returns 0, or -EINVAL with a sentence in @error. */
int lookup_program__sizes(const struct switch_program *program, struct lookup_sizes *sizes,
			  struct dart_error *error);
/*
 * Writes the number of the digest that contains popular keys to @list.  Returns 0, or -EINVAL with
 * a sentence in @error if the program does not report popular keys.
 */
int lookup_program__popular(const struct switch_program *program, int32_t *list,
			    struct dart_error *error);
/* Can the program use @tables?  Returns 0, or -EINVAL with a sentence in @error. */
int lookup_program__check(const struct switch_program *program,
			  const struct dart_tea_tables *tables, struct dart_error *error);

#endif /* LOOKUP_PROGRAM_H */

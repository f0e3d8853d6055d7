/* SPDX-License-Identifier: GPL-2.0-only */
/* A P4 program with lookup tables. */
#ifndef SWITCH_LOOKUP_PROGRAM_H
#define SWITCH_LOOKUP_PROGRAM_H

#include <libdart/tea/tea_tables.h>

#include "tools/dartctl/switch/bmv2/program.h"

extern const struct switch_kind lookup_program;

/* What the program was compiled for. */
struct lookup_sizes {
	uint32_t key_length, value_length, cells;
	uint32_t stash_room; /* entries */
	uint32_t cache_room; /* likewise */
};

/* Returns 0, or -EINVAL with a sentence in @error. */
int lookup_program__sizes(const struct switch_program *program,
			  struct lookup_sizes *sizes, struct dart_error *error);
/*
 * The number of the digest that has popular keys.  Returns 0, or -EINVAL with a sentence in
 * @error if the program does not report them.
 */
int lookup_program__popular(const struct switch_program *program, int32_t *list,
			    struct dart_error *error);
/* Can it use @tables?  Returns 0, or -EINVAL with a sentence in @error. */
int lookup_program__check(const struct switch_program *program,
			  const struct dart_tea_tables *tables,
			  struct dart_error *error);

#endif /* SWITCH_LOOKUP_PROGRAM_H */

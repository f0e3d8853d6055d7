/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Obtains the values of records and writes their rows: asks eBPF programs, takes samples by itself,
 * or writes the cost of gathering.  One thread at a time uses an asker.
 */
#ifndef ASKER_H
#define ASKER_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#include "namespace_list.h"
#include "programs.h"
#include "record.h"

struct asker {
	struct gather_programs programs;
	struct namespace_list namespaces;
	uint32_t cpus; /* highest possible CPU + 1 */
};

int asker__open(struct asker *asker, uint32_t cpus, struct dart_error *error);
void asker__close(struct asker *asker);

/*
 * Asks programs for the values of @count records, at most GATHER_QUESTIONS, one program after the
 * other, and writes their rows; sets is_gone of records whose object ended.  Adds the outcome to
 * @cost.
 */
void asker__ask(struct asker *asker, struct record *const *records, uint32_t count,
		struct dart_zero_gathering *cost);
/* Writes the rows of @record, which has no program, in the same way; else it contains @cost. */
void asker__sample(struct asker *asker, struct record *record, struct dart_zero_gathering *cost);

#endif /* ASKER_H */

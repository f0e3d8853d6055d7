/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of a host of the farm, by the rule of farm_rule.h.  A row consists of
 * lines of 64 bytes, each between two sequences of 4 bytes, like gathered records:
 *
 *   sequence | host | epoch | update | value 0 ... 3 | sequence	the first
 *   sequence | value 0 ... 6 | sequence				the others
 *
 * The values of line L are the field "value.L".
 */
#ifndef FARM_VALUES_H
#define FARM_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include <dart/control.h>
#include <libdart/table/schema.h>

#include "farm_rule.h"

#define FARM_LINE DART_CONTROL_LINE
#define FARM_LINE_WORDS 7

struct farm_line {
	uint32_t sequence;
	uint64_t words[FARM_LINE_WORDS];
	uint32_t last_sequence;
} __attribute__((packed, aligned(FARM_LINE)));

enum farm_form {
	FARM_ROWS,	/* one entry with rows of one line, like a map */
	FARM_RECORDS,	/* entries with one row of eight lines, like records */
};

/* The shape of the tables of all hosts. */
struct farm_shape {
	enum farm_form form;
	uint32_t entries;
	uint32_t copies;	/* of each entry */
	uint32_t lines;		/* of each copy */
};

/*
 * Values of @bytes, as many for each host.  Returns 0, or -EINVAL if they are not a
 * multiple of 512 up to 1 MiB.
 */
int farm_shape__init(struct farm_shape *shape, enum farm_form form, uint64_t bytes);

/* Bytes of a copy, of an entry, and of all of them. */
uint32_t farm_shape__row(const struct farm_shape *shape);
uint32_t farm_shape__entry(const struct farm_shape *shape);
uint32_t farm_shape__size(const struct farm_shape *shape);

/* The schema of a copy; the caller frees it.  NULL and errno on error. */
struct dart_schema *farm_shape__schema(const struct farm_shape *shape);

/* The number of values in line @line of a row. */
uint32_t farm_shape__values(uint32_t line);

/*
 * Writes entry @entry as of @update, which grows, to @memory, while it is READ: a reader
 * sees torn rows or whole ones.
 */
void farm_values__write(void *memory, const struct farm_shape *shape, uint32_t host, uint32_t epoch,
			uint32_t entry, uint64_t update);

#endif /* FARM_VALUES_H */

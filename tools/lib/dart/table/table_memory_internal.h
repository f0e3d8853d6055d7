/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All memory of a table from dart_table__decode(); private to the library. */
#ifndef DART_TABLE_MEMORY_H
#define DART_TABLE_MEMORY_H

#include <libdart/table/table.h>

struct decoded_table {
	struct dart_table table;	/* first: it is found by it */
	struct dart_range *ranges;
	struct dart_schema *schemas;	/* NULL: replaced, as are the fields */
	uint32_t schema_count;
	struct dart_field *fields;
	char *strings;
	uint64_t *cpu_sets;
};

#endif /* DART_TABLE_MEMORY_H */

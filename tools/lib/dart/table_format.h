/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files that read, check and write a control region share; programs
 * do not include this.
 */
#ifndef DART_TABLE_FORMAT_H
#define DART_TABLE_FORMAT_H

#include "table.h"

/* The sections behind the header, in their order. */
enum dart_section {
	DART_SECTION_MEMORY_REGIONS,
	DART_SECTION_ENTRIES,
	DART_SECTION_RANGES,
	DART_SECTION_SCHEMAS,
	DART_SECTION_FIELDS,
	DART_SECTION_STRINGS,
	DART_SECTIONS
};

/* Bytes of an element of each section. */
static const uint32_t dart_section_element[DART_SECTIONS] = {
	sizeof(struct dart_control_memory_region),
	sizeof(struct dart_control_entry),
	sizeof(struct dart_control_range),
	sizeof(struct dart_control_schema),
	sizeof(struct dart_control_field),
	1,
};

#define DART_SECTION_ALIGNMENT 8

/* A header and six sections that are known to lie inside the bytes at hand. */
struct dart_frame {
	struct dart_control_header header;	/* little-endian, as it came */
	struct {
		uint32_t offset;
		uint32_t count;
	} sections[DART_SECTIONS];
};

/*
 * Checks what can be checked without looking into a section.  Returns and
 * @needed as dart_table__decode().
 */
int dart_frame__decode(struct dart_frame *frame, const void *bytes,
		       size_t length, size_t *needed, char why[DART_WHY_MAX]);

/* XXH64 of a table as its header defines it; @length covers the header. */
uint64_t dart_table__checksum(const void *bytes, size_t length);

/*
 * Makes the bytes of @table, which the caller frees with free().  Returns 0,
 * -EINVAL if they would be too many, -ENOMEM.
 */
int dart_table__encode(const struct dart_table *table, void **bytes,
		       uint32_t *length);

/*
 * The rules about what a table means, for one whose strings and references are
 * known to be good.  @schemas are all that it has, used or not.  Returns 0,
 * -EBADMSG, -ENOMEM.
 */
int dart_table__check(const struct dart_table *table,
		      const struct dart_schema *schemas, uint32_t schema_count,
		      char why[DART_WHY_MAX]);

/* Writes the sentence into @why and returns -EBADMSG. */
__attribute__((format(printf, 2, 3)))
int dart_table__refuse(char why[DART_WHY_MAX], const char *format, ...);

#endif /* DART_TABLE_FORMAT_H */

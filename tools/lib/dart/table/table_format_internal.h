/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the files that read, check and write a control region; private to
 * the library.
 */
#ifndef DART_TABLE_FORMAT_H
#define DART_TABLE_FORMAT_H

#include <errno.h>

#include <libdart/error.h>
#include <libdart/table/table.h>

/* The sections after the header, in their order. */
enum dart_section {
	DART_SECTION_MEMORY_REGIONS,
	DART_SECTION_ENTRIES,
	DART_SECTION_RANGES,
	DART_SECTION_SCHEMAS,
	DART_SECTION_FIELDS,
	DART_SECTION_STRINGS,
	DART_SECTION_CPU_SETS,
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
	sizeof(__le64),
};

#define DART_SECTION_ALIGNMENT 8

/* A header and seven sections that lie inside the bytes of the table. */
struct dart_table_outline {
	struct dart_control_header header;	/* little-endian, as received */
	struct {
		uint32_t offset;
		uint32_t count;
	} sections[DART_SECTIONS];
};

/*
 * Checks the header and the bounds of the sections, not their contents.
 * Returns, and sets @needed, like dart_table__decode().
 */
int dart_table_outline__decode(struct dart_table_outline *outline, const void *bytes, size_t length,
			       size_t *needed, struct dart_error *error);

/* The hash of block @index of a table, for its checksum. */
uint64_t dart_block__hash(const void *block, size_t size, uint32_t index);
/* The checksum of a table; @length covers the header. */
uint64_t dart_table__checksum(const void *bytes, size_t length);

/*
 * Checks the rules about the meaning of a table whose strings and references
 * are known to be valid, and sorts by_name, which has room for all entries.
 * @schemas are all that it has, used or not.  Returns 0, -EBADMSG or -ENOMEM.
 */
int dart_table__check(struct dart_table *table, const struct dart_schema *schemas,
		      uint32_t schema_count, struct dart_error *error);

/*
 * The same for parts of a table; the sentence says @index.  Return 0 or
 * -EBADMSG.  dart_check__entry() uses only the memory regions of @table and
 * adds the bytes of the copies to @data.  @names has room for the fields.
 */
int dart_check__header(const struct dart_table *table,
		       struct dart_error *error);
int dart_check__memory_region(const struct dart_memory_region *region,
			      uint32_t index, struct dart_error *error);
int dart_check__schema(const struct dart_schema *schema, uint32_t index,
		       const char **names, struct dart_error *error);
int dart_check__entry(const struct dart_table *table,
		      const struct dart_entry *entry, uint32_t index,
		      uint64_t *data, struct dart_error *error);

/* Sets the error and returns -EBADMSG. */
#define refuse(error, ...) \
	dart_error__set(error, EBADMSG, __VA_ARGS__)

#endif /* DART_TABLE_FORMAT_H */

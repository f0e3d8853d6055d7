// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decodes hostile bytes to a table.  This file knows the places of elements;
 * table_check.c checks their meaning.  A count is used only after it is known
 * to fit into the bytes, so memory and time are bounded by a multiple of them.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/table_format_internal.h>
#include <libdart/table/table_memory_internal.h>

struct decoder {
	const uint8_t *bytes;
	struct dart_table_outline outline;
	struct decoded_table *decoded;
	struct dart_error *error;
};

static uint32_t count(const struct decoder *decoder, enum dart_section section)
{
	return decoder->outline.sections[section].count;
}

/* Room for the elements of @section and one more: calloc(0) may return NULL. */
static void *array(const struct decoder *decoder, enum dart_section section, size_t size)
{
	return calloc((size_t)count(decoder, section) + 1, size);
}

static int allocate(struct decoder *decoder)
{
	struct decoded_table *decoded = calloc(1, sizeof(*decoded));
	struct dart_table *table;

	if (!decoded)
		return dart_error__no_memory(decoder->error);
	decoder->decoded = decoded;
	table = &decoded->table;

	table->memory_regions =
		array(decoder, DART_SECTION_MEMORY_REGIONS, sizeof(*table->memory_regions));
	table->entries = array(decoder, DART_SECTION_ENTRIES, sizeof(*table->entries));
	table->by_name = array(decoder, DART_SECTION_ENTRIES, sizeof(*table->by_name));
	decoded->ranges = array(decoder, DART_SECTION_RANGES, sizeof(*decoded->ranges));
	decoded->schemas = array(decoder, DART_SECTION_SCHEMAS, sizeof(*decoded->schemas));
	decoded->schema_count = count(decoder, DART_SECTION_SCHEMAS);
	decoded->fields = array(decoder, DART_SECTION_FIELDS, sizeof(*decoded->fields));
	decoded->strings = array(decoder, DART_SECTION_STRINGS, 1);
	decoded->cpu_sets = array(decoder, DART_SECTION_CPU_SETS, sizeof(*decoded->cpu_sets));
	if (!decoded->cpu_sets || !table->memory_regions || !table->entries || !table->by_name ||
	    !decoded->ranges || !decoded->schemas || !decoded->fields || !decoded->strings)
		return dart_error__no_memory(decoder->error);
	return 0;
}

static void decode_header_members(struct decoder *decoder)
{
	const struct dart_control_header *header = &decoder->outline.header;
	struct dart_table *table = &decoder->decoded->table;

	table->generation = le64toh(header->generation_begin);
	table->instance = le64toh(header->instance);
	table->clock_offset_ns = (int64_t)le64toh(header->clock_offset_ns);
	memcpy(table->host_id, header->host_id, sizeof(table->host_id));
	memcpy(table->boot_id, header->boot_id, sizeof(table->boot_id));
	memcpy(table->node_name, header->node_name, sizeof(table->node_name));
	table->exposure = le32toh(header->exposure);
	table->cpus = le32toh(header->cpus);
	table->page_size = le32toh(header->page_size);
	table->lease_ms = le32toh(header->lease_ms);
}

/* Copies element @index of @section, which need not be aligned. */
static void element(const struct decoder *decoder, enum dart_section section,
		    uint32_t index, void *copy)
{
	size_t size = dart_section_element[section];

	memcpy(copy, decoder->bytes + decoder->outline.sections[section].offset + index * size,
	       size);
}

/*
 * Checks the whole section once: then every offset into it is the start of a
 * valid string, referenced or not.
 */
static int decode_strings(struct decoder *decoder)
{
	uint32_t size = count(decoder, DART_SECTION_STRINGS);
	char *strings = decoder->decoded->strings;
	uint32_t i, length = 0;

	memcpy(strings, decoder->bytes + decoder->outline.sections[DART_SECTION_STRINGS].offset,
	       size);
	if (!size || strings[0])
		return refuse(decoder->error, "the strings do not begin with the empty string");
	if (strings[size - 1])
		return refuse(decoder->error, "the last string has no end");

	for (i = 0; i < size; i++) {
		length = strings[i] ? length + 1 : 0;
		if (length >= DART_CONTROL_ENTRY_NAME_MAX)
			return refuse(decoder->error, "a string is longer than %u bytes",
				      DART_CONTROL_ENTRY_NAME_MAX - 1);
		if (strings[i] && (strings[i] < 0x20 || strings[i] > 0x7e))
			return refuse(decoder->error,
				      "a string has a byte that is not printable ASCII");
	}
	return 0;
}

/* The string at a reference; NULL if it lies outside the section. */
static char *string_at(const struct decoder *decoder, __le32 reference)
{
	uint32_t offset = le32toh(reference);

	if (offset >= count(decoder, DART_SECTION_STRINGS))
		return NULL;
	return decoder->decoded->strings + offset;
}

/* Only the name of an entry can be long. */
static char *short_string_at(const struct decoder *decoder, __le32 reference)
{
	char *text = string_at(decoder, reference);

	if (!text || strnlen(text, DART_CONTROL_NAME_MAX) == DART_CONTROL_NAME_MAX)
		return NULL;
	return text;
}

static int decode_cpu_sets(struct decoder *decoder)
{
	uint32_t i, count_all = count(decoder, DART_SECTION_CPU_SETS);
	struct dart_table *table = &decoder->decoded->table;
	const uint32_t words = dart_table__cpu_words(table);
	uint64_t *sets = decoder->decoded->cpu_sets, any = 0;
	__le64 raw;

	/* A table for no CPUs is refused later. */
	if (!words)
		return 0;
	if (count_all != 2 * words)
		return refuse(decoder->error, "%u words of CPU sets are not for two of %u CPUs",
			      count_all, table->cpus);
	for (i = 0; i < count_all; i++) {
		element(decoder, DART_SECTION_CPU_SETS, i, &raw);
		sets[i] = le64toh(raw);
		any |= i < words ? sets[i] : 0;
	}
	if (table->cpus % 64 && sets[words - 1] >> table->cpus % 64)
		return refuse(decoder->error, "a CPU is online that the host does not have");
	if (table->cpus % 64 && sets[2 * words - 1] >> table->cpus % 64)
		return refuse(decoder->error, "a CPU is of nohz_full that the host does not have");
	if (!any)
		return refuse(decoder->error, "no CPU is online");
	table->online = sets;
	table->nohz_full = sets + words;
	return 0;
}

static int decode_memory_regions(struct decoder *decoder)
{
	struct dart_table *table = &decoder->decoded->table;
	struct dart_control_memory_region raw;
	uint32_t i;

	table->memory_region_count = count(decoder, DART_SECTION_MEMORY_REGIONS);
	for (i = 0; i < table->memory_region_count; i++) {
		element(decoder, DART_SECTION_MEMORY_REGIONS, i, &raw);
		if (raw.reserved)
			return refuse(decoder->error,
				      "a reserved member of memory region %u is not 0", i);
		table->memory_regions[i] = (struct dart_memory_region){
			.address = le64toh(raw.address),
			.length = le64toh(raw.length),
			.rkey = le32toh(raw.rkey),
		};
	}
	return 0;
}

static int decode_fields(struct decoder *decoder)
{
	uint32_t i, fields = count(decoder, DART_SECTION_FIELDS);
	struct dart_control_field raw;

	for (i = 0; i < fields; i++) {
		struct dart_field *field = &decoder->decoded->fields[i];

		element(decoder, DART_SECTION_FIELDS, i, &raw);
		field->name = short_string_at(decoder, raw.name);
		field->unit = short_string_at(decoder, raw.unit);
		field->offset = le32toh(raw.offset);
		field->width = le32toh(raw.width);
		field->count = le32toh(raw.count);
		field->kind = le16toh(raw.kind);
		field->is_signed = le16toh(raw.flags) & DART_CONTROL_FIELD_SIGNED;
		field->lags = le16toh(raw.flags) & DART_CONTROL_FIELD_LAGS;
		if (!field->name || !field->unit)
			return refuse(decoder->error, "field %u refers to no string", i);
		if (le16toh(raw.flags) & ~(DART_CONTROL_FIELD_SIGNED | DART_CONTROL_FIELD_LAGS))
			return refuse(decoder->error, "field %u has an unknown flag", i);
	}
	return 0;
}

static int decode_schemas(struct decoder *decoder)
{
	uint32_t i, schemas = count(decoder, DART_SECTION_SCHEMAS);
	uint32_t fields = count(decoder, DART_SECTION_FIELDS);
	struct dart_control_schema raw;
	uint32_t next = 0;

	for (i = 0; i < schemas; i++) {
		struct dart_schema *schema = &decoder->decoded->schemas[i];

		element(decoder, DART_SECTION_SCHEMAS, i, &raw);
		schema->name = short_string_at(decoder, raw.name);
		schema->length = le32toh(raw.length);
		schema->fields = decoder->decoded->fields + next;
		schema->field_count = le32toh(raw.fields);
		if (!schema->name)
			return refuse(decoder->error, "schema %u refers to no string", i);
		if (le32toh(raw.first_field) != next || schema->field_count > fields - next)
			return refuse(
				decoder->error,
				"the fields of schema %u do not follow those of the previous schema",
				i);
		next += schema->field_count;
	}
	if (next != fields)
		return refuse(decoder->error, "field %u belongs to no schema", next);
	return 0;
}

static int decode_ranges(struct decoder *decoder)
{
	uint32_t i, ranges = count(decoder, DART_SECTION_RANGES);
	struct dart_control_range raw;

	for (i = 0; i < ranges; i++) {
		element(decoder, DART_SECTION_RANGES, i, &raw);
		if (raw.reserved)
			return refuse(decoder->error, "a reserved member of range %u is not 0", i);
		decoder->decoded->ranges[i] = (struct dart_range){
			.address = le64toh(raw.address),
			.stride = le64toh(raw.stride),
			.memory_region = le32toh(raw.memory_region),
			.first_copy = le32toh(raw.first_copy),
			.copies = le32toh(raw.copies),
			.offset = le32toh(raw.offset),
			.length = le32toh(raw.length),
		};
	}
	return 0;
}

static int decode_entry(struct decoder *decoder, uint32_t index,
			const struct dart_control_entry *raw, struct dart_range *ranges)
{
	struct dart_table *table = &decoder->decoded->table;
	struct dart_entry *entry = &table->entries[table->entry_count++];
	uint32_t schema = le32toh(raw->schema);

	entry->name = string_at(decoder, raw->name);
	entry->kind = le32toh(raw->kind);
	entry->lifetime = le32toh(raw->lifetime);
	entry->copies_are = le32toh(raw->copies_are);
	entry->copies = le32toh(raw->copies);
	entry->ranges = ranges;
	entry->range_count = le32toh(raw->ranges);
	entry->since = le64toh(raw->since);
	entry->place = index;
	if (!entry->name)
		return refuse(decoder->error, "entry %u refers to no string", index);
	if (schema >= count(decoder, DART_SECTION_SCHEMAS))
		return refuse(decoder->error, "entry %u refers to no schema", index);
	/* Without a generation the table is refused, see dart_check__header(). */
	if (!entry->since || (table->generation && entry->since > table->generation))
		return refuse(decoder->error, "entry %u is older or newer than the table", index);
	entry->schema = &decoder->decoded->schemas[schema];
	return 0;
}

static int decode_entries(struct decoder *decoder)
{
	uint32_t i, entries = count(decoder, DART_SECTION_ENTRIES);
	uint32_t ranges = count(decoder, DART_SECTION_RANGES);
	struct dart_control_entry raw;
	uint32_t next = 0;
	int ret;

	for (i = 0; i < entries; i++) {
		element(decoder, DART_SECTION_ENTRIES, i, &raw);
		if (le32toh(raw.first_range) != next || le32toh(raw.ranges) > ranges - next)
			return refuse(
				decoder->error,
				"the ranges of entry %u do not follow those of the previous entry",
				i);
		if (le32toh(raw.kind) != DART_CONTROL_ENTRY_GONE) {
			ret = decode_entry(decoder, i, &raw, decoder->decoded->ranges + next);
			if (ret)
				return ret;
		}
		next += le32toh(raw.ranges);
	}
	if (next != ranges)
		return refuse(decoder->error, "range %u belongs to no entry", next);
	return 0;
}

/* All schemas have passed the check: sequences have one width, and the first begins the row. */
static void note_sequences(struct decoder *decoder)
{
	struct dart_schema *schema = decoder->decoded->schemas;
	const struct dart_schema *end = schema + count(decoder, DART_SECTION_SCHEMAS);

	for (; schema < end; schema++) {
		if (dart_schema__has_sequence(schema))
			schema->sequence_width = schema->fields[0].width;
		schema->has_passed = true;
	}
}

static int decode(struct decoder *decoder, size_t length, size_t *needed)
{
	int ret;

	ret = dart_table_outline__decode(&decoder->outline, decoder->bytes,
					 length, needed, decoder->error) ?:
	      allocate(decoder);
	if (ret)
		return ret;

	decode_header_members(decoder);
	return decode_strings(decoder)		      ?:
		       decode_cpu_sets(decoder)	      ?:
		       decode_memory_regions(decoder) ?:
		       decode_fields(decoder)	      ?:
		       decode_schemas(decoder)	      ?:
		       decode_ranges(decoder)	      ?:
		       decode_entries(decoder)	      ?:
		       dart_table__check(&decoder->decoded->table, decoder->decoded->schemas,
					 count(decoder, DART_SECTION_SCHEMAS), decoder->error);
}

int dart_table__decode(const void *bytes, size_t length, struct dart_table **table, size_t *needed,
		       struct dart_error *error)
{
	struct decoder decoder = { .bytes = bytes, .error = error };
	int ret;

	error->text[0] = '\0';
	ret = decode(&decoder, length, needed);
	if (ret) {
		if (decoder.decoded)
			dart_table__free(&decoder.decoded->table);
		return ret;
	}
	note_sequences(&decoder);
	*table = &decoder.decoded->table;
	return 0;
}

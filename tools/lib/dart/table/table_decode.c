// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decodes hostile bytes to a table, or to a table of the added entries alone.  This file knows the
 * places of elements; table_check.c checks their meaning.  A count is used only after it is known
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

static int decode_memory_region(struct decoder *decoder, uint32_t index,
				struct dart_memory_region *region)
{
	struct dart_control_memory_region raw;

	element(decoder, DART_SECTION_MEMORY_REGIONS, index, &raw);
	if (raw.reserved)
		return refuse(decoder->error, "a reserved member of memory region %u is not 0",
			      index);
	*region = (struct dart_memory_region){
		.address = le64toh(raw.address),
		.length = le64toh(raw.length),
		.rkey = le32toh(raw.rkey),
	};
	return 0;
}

static int decode_memory_regions(struct decoder *decoder)
{
	struct dart_table *table = &decoder->decoded->table;
	uint32_t i;
	int ret = 0;

	table->memory_region_count = count(decoder, DART_SECTION_MEMORY_REGIONS);
	for (i = 0; !ret && i < table->memory_region_count; i++)
		ret = decode_memory_region(decoder, i, &table->memory_regions[i]);
	return ret;
}

static int decode_field(struct decoder *decoder, uint32_t index, struct dart_field *field)
{
	struct dart_control_field raw;

	element(decoder, DART_SECTION_FIELDS, index, &raw);
	field->name = short_string_at(decoder, raw.name);
	field->unit = short_string_at(decoder, raw.unit);
	field->offset = le32toh(raw.offset);
	field->width = le32toh(raw.width);
	field->count = le32toh(raw.count);
	field->kind = le16toh(raw.kind);
	field->is_signed = le16toh(raw.flags) & DART_CONTROL_FIELD_SIGNED;
	field->lags = le16toh(raw.flags) & DART_CONTROL_FIELD_LAGS;
	if (!field->name || !field->unit)
		return refuse(decoder->error, "field %u refers to no string", index);
	if (le16toh(raw.flags) & ~(DART_CONTROL_FIELD_SIGNED | DART_CONTROL_FIELD_LAGS))
		return refuse(decoder->error, "field %u has an unknown flag", index);
	return 0;
}

static int decode_fields(struct decoder *decoder)
{
	uint32_t i, fields = count(decoder, DART_SECTION_FIELDS);
	int ret = 0;

	for (i = 0; !ret && i < fields; i++)
		ret = decode_field(decoder, i, &decoder->decoded->fields[i]);
	return ret;
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

static int decode_range(struct decoder *decoder, uint32_t index, struct dart_range *range)
{
	struct dart_control_range raw;

	element(decoder, DART_SECTION_RANGES, index, &raw);
	if (raw.reserved)
		return refuse(decoder->error, "a reserved member of range %u is not 0", index);
	*range = (struct dart_range){
		.address = le64toh(raw.address),
		.stride = le64toh(raw.stride),
		.memory_region = le32toh(raw.memory_region),
		.first_copy = le32toh(raw.first_copy),
		.copies = le32toh(raw.copies),
		.offset = le32toh(raw.offset),
		.length = le32toh(raw.length),
	};
	return 0;
}

static int decode_ranges(struct decoder *decoder)
{
	uint32_t i, ranges = count(decoder, DART_SECTION_RANGES);
	int ret = 0;

	for (i = 0; !ret && i < ranges; i++)
		ret = decode_range(decoder, i, &decoder->decoded->ranges[i]);
	return ret;
}

static int decode_entry(struct decoder *decoder, uint32_t index,
			const struct dart_control_entry *raw, const struct dart_schema *schema,
			struct dart_range *ranges)
{
	struct dart_table *table = &decoder->decoded->table;
	struct dart_entry *entry = &table->entries[table->entry_count++];

	entry->name = string_at(decoder, raw->name);
	entry->schema = schema;
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
	/* Without a generation the table is refused, see dart_check__header(). */
	if (!entry->since || (table->generation && entry->since > table->generation))
		return refuse(decoder->error, "entry %u is older or newer than the table", index);
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
			if (le32toh(raw.schema) >= count(decoder, DART_SECTION_SCHEMAS))
				return refuse(decoder->error, "entry %u refers to no schema", i);
			ret = decode_entry(decoder, i, &raw,
					   &decoder->decoded->schemas[le32toh(raw.schema)],
					   decoder->decoded->ranges + next);
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
	const struct dart_schema *end = schema + decoder->decoded->schema_count;

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

/* ---- the added entries alone */

/* What the entries that are newer than a generation refer to. */
struct added {
	uint32_t entries, ranges;
	uint32_t schemas, fields; /* at most */
};

static bool is_added(const struct dart_control_entry *raw, uint64_t generation)
{
	return le32toh(raw->kind) != DART_CONTROL_ENTRY_GONE && le64toh(raw->since) > generation;
}

/* Counts the elements, and checks the references of the entries to them. */
static int count_added(struct decoder *decoder, uint64_t generation, struct added *added)
{
	struct dart_control_schema schema;
	struct dart_control_entry raw;
	uint32_t i;

	*added = (struct added){};
	for (i = 0; i < count(decoder, DART_SECTION_ENTRIES); i++) {
		element(decoder, DART_SECTION_ENTRIES, i, &raw);
		if (!is_added(&raw, generation))
			continue;
		if (++added->entries > DART_TABLE_ADDED_MAX)
			return dart_error__set(decoder->error, EFBIG,
					       "more than %d entries were added",
					       DART_TABLE_ADDED_MAX);
		if (le32toh(raw.first_range) > count(decoder, DART_SECTION_RANGES) ||
		    le32toh(raw.ranges) >
			    count(decoder, DART_SECTION_RANGES) - le32toh(raw.first_range))
			return refuse(decoder->error, "entry %u refers to no range", i);
		if (le32toh(raw.schema) >= count(decoder, DART_SECTION_SCHEMAS))
			return refuse(decoder->error, "entry %u refers to no schema", i);
		element(decoder, DART_SECTION_SCHEMAS, le32toh(raw.schema), &schema);
		if (le32toh(schema.first_field) > count(decoder, DART_SECTION_FIELDS) ||
		    le32toh(schema.fields) >
			    count(decoder, DART_SECTION_FIELDS) - le32toh(schema.first_field))
			return refuse(decoder->error, "schema %u refers to no field",
				      le32toh(raw.schema));
		added->ranges += le32toh(raw.ranges);
		added->fields += le32toh(schema.fields);
		if (added->ranges > DART_TABLE_ADDED_PARTS || added->fields > DART_TABLE_ADDED_PARTS)
			return dart_error__set(decoder->error, EFBIG,
					       "the added entries have more than %d ranges or fields",
					       DART_TABLE_ADDED_PARTS);
	}
	return 0;
}

static int allocate_added(struct decoder *decoder, const struct added *added)
{
	struct decoded_table *decoded = calloc(1, sizeof(*decoded));
	struct dart_table *table;

	if (!decoded)
		return dart_error__no_memory(decoder->error);
	decoder->decoded = decoded;
	table = &decoded->table;
	table->memory_regions = calloc(added->ranges + 1, sizeof(*table->memory_regions));
	table->entries = calloc(added->entries + 1, sizeof(*table->entries));
	table->by_name = calloc(added->entries + 1, sizeof(*table->by_name));
	decoded->ranges = calloc(added->ranges + 1, sizeof(*decoded->ranges));
	decoded->schemas = calloc(added->entries + 1, sizeof(*decoded->schemas));
	decoded->fields = calloc(added->fields + 1, sizeof(*decoded->fields));
	decoded->strings = malloc((size_t)count(decoder, DART_SECTION_STRINGS) + 1);
	decoded->cpu_sets = array(decoder, DART_SECTION_CPU_SETS, sizeof(*decoded->cpu_sets));
	if (!decoded->cpu_sets || !table->memory_regions || !table->entries || !table->by_name ||
	    !decoded->ranges || !decoded->schemas || !decoded->fields || !decoded->strings)
		return dart_error__no_memory(decoder->error);
	return 0;
}

/* Only strings that are referred to are checked, each by check_text(). */
static int copy_strings(struct decoder *decoder)
{
	const uint32_t size = count(decoder, DART_SECTION_STRINGS);
	char *strings = decoder->decoded->strings;

	memcpy(strings, decoder->bytes + decoder->outline.sections[DART_SECTION_STRINGS].offset,
	       size);
	if (!size || strings[0] || strings[size - 1])
		return refuse(decoder->error, "the strings do not begin or end as they must");
	return 0;
}

static int check_text(struct decoder *decoder, const char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			return refuse(decoder->error,
				      "a string has a byte that is not printable ASCII");
	return 0;
}

/* The fields of schema @index to @schema, whose fields are the first that are free. */
static int add_schema(struct decoder *decoder, uint32_t index, struct dart_schema *schema,
		      struct dart_field *fields)
{
	struct dart_control_schema raw;
	uint32_t i;
	int ret;

	element(decoder, DART_SECTION_SCHEMAS, index, &raw);
	*schema = (struct dart_schema){
		.name = short_string_at(decoder, raw.name),
		.length = le32toh(raw.length),
		.fields = fields,
		.field_count = le32toh(raw.fields),
	};
	if (!schema->name)
		return refuse(decoder->error, "schema %u refers to no string", index);
	ret = check_text(decoder, schema->name);
	for (i = 0; !ret && i < schema->field_count; i++)
		ret = decode_field(decoder, le32toh(raw.first_field) + i, &fields[i]) ?:
			      check_text(decoder, fields[i].name)		      ?:
			      check_text(decoder, fields[i].unit);
	return ret;
}

/* The range @index, which refers to a memory region that is added as well. */
static int add_range(struct decoder *decoder, uint32_t index, struct dart_range *range,
		     uint32_t *last_region)
{
	struct dart_table *table = &decoder->decoded->table;
	int ret = decode_range(decoder, index, range);

	if (ret)
		return ret;
	if (range->memory_region >= count(decoder, DART_SECTION_MEMORY_REGIONS))
		return refuse(decoder->error, "range %u refers to no memory region", index);
	/* Ranges side by side are mostly of one memory region. */
	if (!table->memory_region_count || range->memory_region != *last_region) {
		*last_region = range->memory_region;
		ret = decode_memory_region(decoder, range->memory_region,
					   &table->memory_regions[table->memory_region_count++]);
	}
	range->memory_region = table->memory_region_count - 1;
	return ret;
}

static int decode_added_entries(struct decoder *decoder, uint64_t generation)
{
	uint32_t numbers[DART_TABLE_ADDED_MAX]; /* of the schemas in the table */
	struct decoded_table *decoded = decoder->decoded;
	struct dart_range *ranges = decoded->ranges;
	struct dart_field *fields = decoded->fields;
	struct dart_control_entry raw;
	uint32_t i, k, last_region = 0;
	int ret = 0;

	for (i = 0; !ret && i < count(decoder, DART_SECTION_ENTRIES); i++) {
		element(decoder, DART_SECTION_ENTRIES, i, &raw);
		if (!is_added(&raw, generation))
			continue;
		for (k = 0; k < decoded->schema_count; k++)
			if (numbers[k] == le32toh(raw.schema))
				break;
		if (k == decoded->schema_count) {
			numbers[decoded->schema_count++] = le32toh(raw.schema);
			ret = add_schema(decoder, le32toh(raw.schema), &decoded->schemas[k],
					 fields);
			fields += decoded->schemas[k].field_count;
		}
		ret = ret ?: decode_entry(decoder, i, &raw, &decoded->schemas[k], ranges) ?:
				     check_text(decoder, string_at(decoder, raw.name));
		for (k = 0; !ret && k < le32toh(raw.ranges); k++)
			ret = add_range(decoder, le32toh(raw.first_range) + k, ranges++,
					&last_region);
	}
	return ret;
}

static int decode_added(struct decoder *decoder, size_t length, uint64_t generation)
{
	struct added added;
	int ret;

	ret = dart_table_outline__decode(&decoder->outline, decoder->bytes, length, NULL,
					 decoder->error) ?:
		      count_added(decoder, generation, &added) ?:
		      allocate_added(decoder, &added);
	if (ret)
		return ret;
	decode_header_members(decoder);
	return copy_strings(decoder)				   ?:
		       decode_cpu_sets(decoder)			   ?:
		       decode_added_entries(decoder, generation) ?:
		       dart_table__check(&decoder->decoded->table, decoder->decoded->schemas,
					 decoder->decoded->schema_count, decoder->error);
}

/* ---- */

static int finish(struct decoder *decoder, int ret, struct dart_table **table)
{
	if (ret) {
		if (decoder->decoded)
			dart_table__free(&decoder->decoded->table);
		return ret;
	}
	note_sequences(decoder);
	*table = &decoder->decoded->table;
	return 0;
}

int dart_table__decode_added(const void *bytes, size_t length, uint64_t generation,
			     struct dart_table **table, struct dart_error *error)
{
	struct decoder decoder = { .bytes = bytes, .error = error };

	error->text[0] = '\0';
	return finish(&decoder, decode_added(&decoder, length, generation), table);
}

int dart_table__decode(const void *bytes, size_t length, struct dart_table **table, size_t *needed,
		       struct dart_error *error)
{
	struct decoder decoder = { .bytes = bytes, .error = error };

	error->text[0] = '\0';
	return finish(&decoder, decode(&decoder, length, needed), table);
}

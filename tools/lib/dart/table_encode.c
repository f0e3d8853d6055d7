// SPDX-License-Identifier: LGPL-2.1-or-later
/* From a table to the bytes of a control region: measure, then write. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table_format.h"

struct encoder {
	const struct dart_table *table;
	/* Each schema once, in the order of the entries that need it first. */
	const struct dart_schema **schemas;
	uint32_t *schema_of_entry;
	uint64_t counts[DART_SECTIONS];
	uint32_t offsets[DART_SECTIONS];
	uint32_t written[DART_SECTIONS];	/* elements */
	uint32_t length;
	uint8_t *bytes;
};

static void count_string(struct encoder *encoder, const char *text)
{
	if (text[0])
		encoder->counts[DART_SECTION_STRINGS] += strlen(text) + 1;
}

static void count_schema(struct encoder *encoder,
			 const struct dart_schema *schema)
{
	uint32_t i;

	encoder->counts[DART_SECTION_FIELDS] += schema->field_count;
	count_string(encoder, schema->name);
	for (i = 0; i < schema->field_count; i++) {
		count_string(encoder, schema->fields[i].name);
		count_string(encoder, schema->fields[i].unit);
	}
}

static void count_entries(struct encoder *encoder)
{
	const struct dart_table *table = encoder->table;
	uint32_t i, schema, known = 0;

	for (i = 0; i < table->entry_count; i++) {
		const struct dart_entry *entry = &table->entries[i];

		count_string(encoder, entry->name);
		encoder->counts[DART_SECTION_RANGES] += entry->range_count;
		for (schema = 0; schema < known; schema++) {
			if (encoder->schemas[schema] == entry->schema)
				break;
		}
		encoder->schema_of_entry[i] = schema;
		if (schema == known) {
			encoder->schemas[known++] = entry->schema;
			count_schema(encoder, entry->schema);
		}
	}
	encoder->counts[DART_SECTION_SCHEMAS] = known;
}

static int measure(struct encoder *encoder)
{
	uint64_t end = sizeof(struct dart_control_header);
	int i;

	encoder->counts[DART_SECTION_MEMORY_REGIONS] =
		encoder->table->memory_region_count;
	encoder->counts[DART_SECTION_ENTRIES] = encoder->table->entry_count;
	encoder->counts[DART_SECTION_STRINGS] = 1;
	count_entries(encoder);

	for (i = 0; i < DART_SECTIONS; i++) {
		end = (end + DART_SECTION_ALIGNMENT - 1) &
		      ~(uint64_t)(DART_SECTION_ALIGNMENT - 1);
		/* Counts are bytes in memory at least: no overflow. */
		if (encoder->counts[i] > DART_CONTROL_LENGTH_MAX)
			return -EINVAL;
		encoder->offsets[i] = end;
		end += encoder->counts[i] * dart_section_element[i];
		if (end > DART_CONTROL_LENGTH_MAX)
			return -EINVAL;
	}
	encoder->length = end;
	return 0;
}

/* Writes the next element of @section. */
static void put(struct encoder *encoder, enum dart_section section,
		const void *raw)
{
	size_t size = dart_section_element[section];

	memcpy(encoder->bytes + encoder->offsets[section] +
	       encoder->written[section]++ * size, raw, size);
}

static __le32 put_string(struct encoder *encoder, const char *text)
{
	uint32_t *written = &encoder->written[DART_SECTION_STRINGS];
	uint32_t offset = *written;
	size_t size = strlen(text) + 1;

	if (size == 1)
		return htole32(0);
	memcpy(encoder->bytes + encoder->offsets[DART_SECTION_STRINGS] + offset,
	       text, size);
	*written += size;
	return htole32(offset);
}

static void put_schema(struct encoder *encoder,
		       const struct dart_schema *schema)
{
	struct dart_control_schema raw = {
		.name = put_string(encoder, schema->name),
		.length = htole32(schema->length),
		.first_field = htole32(encoder->written[DART_SECTION_FIELDS]),
		.fields = htole32(schema->field_count),
	};
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];
		struct dart_control_field raw_field = {
			.name = put_string(encoder, field->name),
			.unit = put_string(encoder, field->unit),
			.offset = htole32(field->offset),
			.width = htole32(field->width),
			.count = htole32(field->count),
			.kind = htole16(field->kind),
			.flags = htole16(field->is_signed ?
					 DART_CONTROL_FIELD_SIGNED : 0),
		};

		put(encoder, DART_SECTION_FIELDS, &raw_field);
	}
	put(encoder, DART_SECTION_SCHEMAS, &raw);
}

static void put_ranges(struct encoder *encoder, const struct dart_entry *entry)
{
	uint32_t i;

	for (i = 0; i < entry->range_count; i++) {
		const struct dart_range *range = &entry->ranges[i];
		struct dart_control_range raw = {
			.address = htole64(range->address),
			.stride = htole64(range->stride),
			.memory_region = htole32(range->memory_region),
			.first_copy = htole32(range->first_copy),
			.copies = htole32(range->copies),
			.offset = htole32(range->offset),
			.length = htole32(range->length),
		};

		put(encoder, DART_SECTION_RANGES, &raw);
	}
}

static void put_entries(struct encoder *encoder)
{
	const struct dart_table *table = encoder->table;
	uint32_t i;

	for (i = 0; i < table->entry_count; i++) {
		const struct dart_entry *entry = &table->entries[i];
		struct dart_control_entry raw = {
			.name = put_string(encoder, entry->name),
			.schema = htole32(encoder->schema_of_entry[i]),
			.kind = htole32(entry->kind),
			.lifetime = htole32(entry->lifetime),
			.copies_are = htole32(entry->copies_are),
			.copies = htole32(entry->copies),
			.first_range =
				htole32(encoder->written[DART_SECTION_RANGES]),
			.ranges = htole32(entry->range_count),
		};

		put_ranges(encoder, entry);
		put(encoder, DART_SECTION_ENTRIES, &raw);
	}
}

static void put_memory_regions(struct encoder *encoder)
{
	const struct dart_table *table = encoder->table;
	uint32_t i;

	for (i = 0; i < table->memory_region_count; i++) {
		const struct dart_memory_region *region =
			&table->memory_regions[i];
		struct dart_control_memory_region raw = {
			.address = htole64(region->address),
			.length = htole64(region->length),
			.rkey = htole32(region->rkey),
		};

		put(encoder, DART_SECTION_MEMORY_REGIONS, &raw);
	}
}

static struct dart_control_section section(const struct encoder *encoder,
					   enum dart_section index)
{
	return (struct dart_control_section) {
		.offset = htole32(encoder->offsets[index]),
		.count = htole32(encoder->counts[index]),
	};
}

/* Last of all: the checksum is over the finished bytes. */
static void put_header(struct encoder *encoder)
{
	const struct dart_table *table = encoder->table;
	struct dart_control_header header = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.header_size = htole32(sizeof(header)),
		.generation_begin = htole64(table->generation),
		.table_length = htole32(encoder->length),
		.exposure = htole32(table->exposure),
		.instance = htole64(table->instance),
		.clock_offset_ns = htole64((uint64_t)table->clock_offset_ns),
		.cpus = htole32(table->cpus),
		.page_size = htole32(table->page_size),
		.lease_ms = htole32(table->lease_ms),
		.memory_regions = section(encoder, DART_SECTION_MEMORY_REGIONS),
		.entries = section(encoder, DART_SECTION_ENTRIES),
		.ranges = section(encoder, DART_SECTION_RANGES),
		.schemas = section(encoder, DART_SECTION_SCHEMAS),
		.fields = section(encoder, DART_SECTION_FIELDS),
		.strings = section(encoder, DART_SECTION_STRINGS),
		.generation_end = htole64(table->generation),
	};

	memcpy(header.host_id, table->host_id, sizeof(header.host_id));
	memcpy(header.boot_id, table->boot_id, sizeof(header.boot_id));
	memcpy(encoder->bytes, &header, sizeof(header));
	header.checksum = htole64(dart_table__checksum(encoder->bytes,
						       encoder->length));
	memcpy(encoder->bytes, &header, sizeof(header));
}

static void put_all(struct encoder *encoder)
{
	uint32_t i;

	/* The strings begin with the empty one, which calloc() has written. */
	encoder->written[DART_SECTION_STRINGS] = 1;
	put_memory_regions(encoder);
	put_entries(encoder);
	for (i = 0; i < encoder->counts[DART_SECTION_SCHEMAS]; i++)
		put_schema(encoder, encoder->schemas[i]);
	put_header(encoder);
}

int dart_table__encode(const struct dart_table *table, void **bytes,
		       uint32_t *length)
{
	struct encoder encoder = { .table = table };
	int err = -ENOMEM;

	encoder.schemas = calloc((size_t)table->entry_count + 1,
				 sizeof(*encoder.schemas));
	encoder.schema_of_entry = calloc((size_t)table->entry_count + 1,
					 sizeof(*encoder.schema_of_entry));
	if (!encoder.schemas || !encoder.schema_of_entry)
		goto free_schemas;

	err = measure(&encoder);
	if (err)
		goto free_schemas;

	err = -ENOMEM;
	encoder.bytes = calloc(1, encoder.length);
	if (!encoder.bytes)
		goto free_schemas;

	put_all(&encoder);
	*bytes = encoder.bytes;
	*length = encoder.length;
	err = 0;

free_schemas:
	free(encoder.schema_of_entry);
	free(encoder.schemas);
	return err;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory Mapped Values of Performance Co-Pilot, see mmv(5): version 1; version 2, whose names are
 * strings elsewhere in the file; version 3, which adds labels.
 *
 * A header is followed by a table of contents, which tells where the sections lie: instance domains,
 * instances, metrics, values, strings and labels.  References are offsets in the file.  A writer
 * sets both generation numbers of the header to the same value when the file is complete.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "described_internal.h"

static const char magic[4] = "MMV";

/* Offsets in the header. */
#define VERSION_AT 4
#define GENERATION_1_AT 8
#define GENERATION_2_AT 16
#define CONTENTS_COUNT_AT 24
#define HEADER_LENGTH 40
#define CONTENT_LENGTH 16 /* type, count, offset */
#define CONTENTS_MAX 16

enum section_type { INDOMS = 1, INSTANCES, METRICS, VALUES, STRINGS, LABELS, SECTION_TYPES };

#define NAME_LENGTH 64 /* of version 1 */
#define STRING_LENGTH 256
#define INDOM_NONE UINT32_MAX

#define METRICS_MAX 4096 /* more than programs have, so that nobody makes a reader work for long */
#define VALUES_MAX 65536
#define INDOMS_MAX 15

enum metric_type {
	TYPE_I32,
	TYPE_U32,
	TYPE_I64,
	TYPE_U64,
	TYPE_STRING = 6,
	TYPE_ELAPSED =
		9, /* microseconds in completed intervals; a running one counts when it ends */
};

#define SEMANTICS_COUNTER 1

/* Offsets in a value. */
#define VALUE_EXTRA_AT 8 /* of a string: its offset in the file */
#define VALUE_METRIC_AT 16
#define VALUE_INSTANCE_AT 24

struct section {
	uint64_t offset;
	uint32_t count;
	uint32_t size; /* bytes of an element */
};

struct file {
	const struct dart_mapped *mapped;
	struct section sections[SECTION_TYPES];
	uint32_t version;
};

/* A metric, whose name ends inside the mapping. */
struct metric {
	const char *name;
	uint32_t type, semantics, dimension, indom;
};

bool dart_mmv__begins(const uint8_t *bytes, size_t length)
{
	return length >= HEADER_LENGTH && !memcmp(bytes, magic, sizeof(magic));
}

/* ---- sections */

static uint32_t size_of(uint32_t type, uint32_t version)
{
	const uint32_t sizes[SECTION_TYPES] = {
		[INDOMS] = 32,
		[INSTANCES] = version == 1 ? 80 : 24,
		[VALUES] = 32,
		[METRICS] = version == 1 ? 104 : 48,
		[STRINGS] = STRING_LENGTH,
		[LABELS] = 256,
	};

	return sizes[type];
}

static int check_header(struct file *file, struct dart_error *error)
{
	const struct dart_mapped *mapped = file->mapped;
	uint64_t generation;

	if (!dart_mmv__begins(mapped->bytes, mapped->length))
		return dart_error__set(error, ENOEXEC,
				       "the memory does not begin as an mmv file does");
	file->version = dart_mapped__u32(mapped, VERSION_AT);
	if (!file->version || file->version > 3)
		return dart_error__set(error, ENOEXEC,
				       "version %u of mmv is unknown (only 1, 2 and 3 are known)",
				       file->version);
	generation = dart_mapped__u64(mapped, GENERATION_1_AT);
	if (!generation || generation != dart_mapped__u64(mapped, GENERATION_2_AT))
		return dart_error__set(error, EAGAIN,
				       "the program has not finished writing its mmv file");
	return 0;
}

static int take_section(struct file *file, uint64_t at, struct dart_error *error)
{
	const struct dart_mapped *mapped = file->mapped;
	const uint32_t type = dart_mapped__u32(mapped, at);
	struct section *section;

	if (!type || type >= SECTION_TYPES)
		return dart_error__set(error, ENOEXEC,
				       "the mmv file has a section of unknown type %u", type);
	section = &file->sections[type];
	if (section->size)
		return dart_error__set(error, ENOEXEC, "the mmv file has two sections of type %u",
				       type);
	section->count = dart_mapped__u32(mapped, at + 4);
	section->offset = dart_mapped__u64(mapped, at + 8);
	section->size = size_of(type, file->version);
	if (!dart_mapped__holds(mapped, section->offset, section->count, section->size))
		return dart_error__set(
			error, ENOEXEC,
			"%u elements of section type %u at offset %llu do not fit into the %zu bytes of the mmv file",
			section->count, type, (unsigned long long)section->offset, mapped->length);
	return 0;
}

static int take_sections(struct file *file, struct dart_error *error)
{
	const uint32_t count = dart_mapped__u32(file->mapped, CONTENTS_COUNT_AT);
	uint32_t i;
	int ret = 0;

	if (count > CONTENTS_MAX ||
	    !dart_mapped__holds(file->mapped, HEADER_LENGTH, count, CONTENT_LENGTH))
		return dart_error__set(error, ENOEXEC,
				       "the mmv file has a table of contents of %u sections",
				       count);
	for (i = 0; !ret && i < count; i++)
		ret = take_section(file, HEADER_LENGTH + i * CONTENT_LENGTH, error);
	if (!ret && (!file->sections[METRICS].count || !file->sections[VALUES].count))
		ret = dart_error__set(error, ENOEXEC, "the mmv file has no %s",
				      file->sections[METRICS].count ? "values" : "metrics");
	return ret;
}

static uint64_t section__at(const struct section *section, uint32_t index)
{
	return section->offset + (uint64_t)index * section->size;
}

/* The index of the element that begins at @offset; UINT32_MAX if none does. */
static uint32_t section__index(const struct section *section, uint64_t offset)
{
	if (!section->size || offset < section->offset ||
	    (offset - section->offset) % section->size ||
	    (offset - section->offset) / section->size >= section->count)
		return UINT32_MAX;
	return (offset - section->offset) / section->size;
}

/* ---- metrics */

static int take_metric(const struct file *file, uint32_t index, struct metric *metric,
		       struct dart_error *error)
{
	const uint64_t at = section__at(&file->sections[METRICS], index);
	const uint64_t after_name = at + (file->version == 1 ? NAME_LENGTH : sizeof(uint64_t));

	metric->name = file->version == 1 ?
			       dart_mapped__text(file->mapped, at, NAME_LENGTH) :
			       dart_mapped__text(file->mapped, dart_mapped__u64(file->mapped, at),
						 STRING_LENGTH);
	if (!metric->name)
		return dart_error__set(error, ENOEXEC,
				       "the name of metric %u of the mmv file has no end", index);
	metric->type = dart_mapped__u32(file->mapped, after_name + 4);
	metric->semantics = dart_mapped__u32(file->mapped, after_name + 8);
	metric->dimension = dart_mapped__u32(file->mapped, after_name + 12);
	metric->indom = dart_mapped__u32(file->mapped, after_name + 16);
	metric->indom = metric->indom ?: INDOM_NONE; /* both mean: without instances */
	return 0;
}

/* The four bits of @dimension from @first on, which are two's complement. */
static int part(uint32_t dimension, int first)
{
	const int bits = dimension >> first & 0xf;

	return bits < 8 ? bits : bits - 16;
}

/* PCP has powers of space, time and count, each with a scale; here one of the first two names it. */
static const char *unit_of(const struct metric *metric)
{
	static const char *const spaces[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	static const char *const times[] = { "ns", "us", "ms", "s", "min", "h" };
	const uint32_t bits = metric->dimension;
	const int space = part(bits, 28), time = part(bits, 24), count = part(bits, 20);
	const uint32_t space_scale = bits >> 16 & 0xf, time_scale = bits >> 12 & 0xf;

	if (metric->type == TYPE_ELAPSED)
		return "us";
	if (space == 1 && !time && !count && space_scale < sizeof(spaces) / sizeof(*spaces))
		return spaces[space_scale];
	if (!space && time == 1 && !count && time_scale < sizeof(times) / sizeof(*times))
		return times[time_scale];
	return "";
}

/* The field of @metric and the offset of its value, at @at.  False if a table has no place for it. */
static bool take_field(const struct file *file, const struct metric *metric, uint64_t at,
		       struct dart_field *field, uint64_t *offset)
{
	*field = (struct dart_field){
		.name = (char *)metric->name,
		.unit = (char *)unit_of(metric),
		.kind = metric->semantics == SEMANTICS_COUNTER ? DART_CONTROL_FIELD_COUNTER :
								 DART_CONTROL_FIELD_GAUGE,
		.width = 8,
	};
	*offset = at;
	switch (metric->type) {
	case TYPE_I32:
	case TYPE_I64:
		field->is_signed = field->kind != DART_CONTROL_FIELD_COUNTER;
		break;
	case TYPE_STRING:
		field->kind = DART_CONTROL_FIELD_TEXT;
		field->unit = "";
		field->width = STRING_LENGTH;
		*offset = dart_mapped__u64(file->mapped, at + VALUE_EXTRA_AT);
		return dart_mapped__holds(file->mapped, *offset, 1, STRING_LENGTH);
	case TYPE_U32:
	case TYPE_U64:
	case TYPE_ELAPSED:
		break;
	default:
		return false;
	}
	if (metric->type == TYPE_I32 || metric->type == TYPE_U32)
		field->width = 4;
	return true;
}

/* ---- values without instances */

static int describe_singular(struct dart_application_layout *layout, const struct file *file,
			     struct dart_error *error)
{
	const struct section *values = &file->sections[VALUES];
	struct dart_entry_draft draft = {};
	struct dart_field field;
	struct metric metric;
	uint64_t at, offset;
	uint32_t i, index;
	int ret = 0;

	for (i = 0; !ret && i < values->count; i++) {
		at = section__at(values, i);
		index = section__index(&file->sections[METRICS],
				       dart_mapped__u64(file->mapped, at + VALUE_METRIC_AT));
		if (index == UINT32_MAX) {
			ret = dart_error__set(error, ENOEXEC,
					      "value %u of the mmv file belongs to no metric", i);
			break;
		}
		ret = take_metric(file, index, &metric, error);
		if (ret || metric.indom != INDOM_NONE)
			continue;
		if (take_field(file, &metric, at, &field, &offset))
			ret = dart_described__add(layout, &draft, file->mapped, offset, &field,
						  error);
		else
			layout->left_out++;
	}
	if (!ret)
		ret = dart_described__finish(layout, &draft, "mmv", NULL, NULL, error);
	dart_entry_draft__clear(&draft);
	return ret;
}

/* ---- values of instances */

struct indom {
	uint32_t serial;
	uint32_t first, count; /* of its instances in their section */
};

static int take_indom(const struct file *file, uint32_t index, struct indom *indom,
		      struct dart_error *error)
{
	const uint64_t at = section__at(&file->sections[INDOMS], index);
	const struct section *instances = &file->sections[INSTANCES];

	indom->serial = dart_mapped__u32(file->mapped, at);
	indom->count = dart_mapped__u32(file->mapped, at + 4);
	if (!indom->count)
		return 0;
	indom->first = section__index(instances, dart_mapped__u64(file->mapped, at + 8));
	if (indom->first == UINT32_MAX || indom->count > instances->count - indom->first)
		return dart_error__set(
			error, ENOEXEC,
			"instance domain %u of the mmv file has %u instances, which do not lie in it",
			indom->serial, indom->count);
	if (indom->count > DART_APPLICATION_ROWS_MAX)
		return dart_error__set(
			error, E2BIG,
			"instance domain %u of the mmv file has %u instances (at most %d)",
			indom->serial, indom->count, DART_APPLICATION_ROWS_MAX);
	return 0;
}

/* Offset and bytes of the name of an instance; false if it lies outside the mapping. */
static bool find_instance_name(const struct file *file, uint32_t index, uint64_t *offset,
			       uint32_t *width)
{
	const uint64_t at = section__at(&file->sections[INSTANCES], index);

	*width = file->version == 1 ? NAME_LENGTH : STRING_LENGTH;
	*offset = file->version == 1 ? at + 16 : dart_mapped__u64(file->mapped, at + 16);
	return dart_mapped__holds(file->mapped, *offset, 1, *width);
}

/* The values of the metrics of an instance domain, while their entry is made. */
struct grid {
	const struct file *file;
	const struct indom *indom;
	uint32_t *columns; /* by index of a metric: its column + 1; 0: of another domain */
	uint64_t *offsets; /* of each value, a row for each instance; 0: none */
	uint32_t *fields; /* metrics of the fields of the entry after the first one, the name */
	uint32_t column_count, field_count;
};

static int grid__find_columns(struct grid *grid, struct dart_error *error)
{
	const uint32_t count = grid->file->sections[METRICS].count;
	struct metric metric;
	uint32_t i;
	int ret;

	grid->columns = calloc(count, sizeof(*grid->columns));
	grid->fields = calloc(count, sizeof(*grid->fields));
	if (!grid->columns || !grid->fields)
		return dart_error__no_memory(error);
	for (i = 0; i < count; i++) {
		ret = take_metric(grid->file, i, &metric, error);
		if (ret)
			return ret;
		if (metric.indom == grid->indom->serial)
			grid->columns[i] = ++grid->column_count;
	}
	if ((uint64_t)grid->column_count * grid->indom->count > VALUES_MAX)
		return dart_error__set(error, E2BIG,
				       "instance domain %u of the mmv file has more than %d values",
				       grid->indom->serial, VALUES_MAX);
	return 0;
}

static int grid__find_values(struct grid *grid, struct dart_error *error)
{
	const struct dart_mapped *mapped = grid->file->mapped;
	const struct section *sections = grid->file->sections;
	uint32_t i, metric, instance;
	uint64_t at;

	grid->offsets =
		calloc((size_t)grid->column_count * grid->indom->count, sizeof(*grid->offsets));
	if (!grid->offsets)
		return dart_error__no_memory(error);
	for (i = 0; i < sections[VALUES].count; i++) {
		at = section__at(&sections[VALUES], i);
		metric = section__index(&sections[METRICS],
					dart_mapped__u64(mapped, at + VALUE_METRIC_AT));
		instance = section__index(&sections[INSTANCES],
					  dart_mapped__u64(mapped, at + VALUE_INSTANCE_AT));
		if (metric == UINT32_MAX || !grid->columns[metric] || instance == UINT32_MAX ||
		    instance < grid->indom->first ||
		    instance - grid->indom->first >= grid->indom->count)
			continue;
		instance -= grid->indom->first;
		grid->offsets[instance * grid->column_count + grid->columns[metric] - 1] = at;
	}
	return 0;
}

static uint64_t grid__at(const struct grid *grid, uint32_t row, uint32_t metric)
{
	return grid->offsets[row * grid->column_count + grid->columns[metric] - 1];
}

/* Has each instance a value of the metric that a table can carry? */
static bool grid__is_full(const struct grid *grid, const struct metric *metric, uint32_t index)
{
	struct dart_field field;
	uint64_t offset;
	uint32_t row;

	for (row = 0; row < grid->indom->count; row++)
		if (!grid__at(grid, row, index) ||
		    !take_field(grid->file, metric, grid__at(grid, row, index), &field, &offset))
			return false;
	return true;
}

static int grid__add_fields(struct grid *grid, struct dart_application_layout *layout,
			    struct dart_entry_draft *draft, struct dart_error *error)
{
	struct dart_field field;
	struct metric metric;
	uint64_t offset;
	uint32_t i, before;
	int ret = 0;

	for (i = 0; !ret && i < grid->file->sections[METRICS].count; i++) {
		if (!grid->columns[i])
			continue;
		/* The name was checked when the column was found. */
		take_metric(grid->file, i, &metric, error);
		if (!grid__is_full(grid, &metric, i)) {
			layout->left_out++;
			continue;
		}
		take_field(grid->file, &metric, grid__at(grid, 0, i), &field, &offset);
		before = draft->field_count;
		ret = dart_described__add(layout, draft, grid->file->mapped, offset, &field, error);
		if (draft->field_count > before)
			grid->fields[grid->field_count++] = i;
	}
	return ret;
}

/* Gives @entry, which has the locations of row 0, those of all rows. */
static int grid__add_rows(const struct grid *grid, struct dart_application_entry *entry,
			  struct dart_error *error)
{
	const uint32_t fields = entry->schema->field_count;
	struct dart_application_location *locations =
		calloc((size_t)grid->indom->count * fields, sizeof(*locations));
	struct dart_field field;
	struct metric metric;
	uint64_t offset = 0;
	uint32_t row, i, width;

	if (!locations)
		return dart_error__no_memory(error);
	for (row = 0; row < grid->indom->count; row++) {
		/* Names and metrics were checked when the fields were added. */
		find_instance_name(grid->file, grid->indom->first + row, &offset, &width);
		locations[row * fields].address = grid->file->mapped->address + offset;
		for (i = 0; i < grid->field_count; i++) {
			take_metric(grid->file, grid->fields[i], &metric, error);
			take_field(grid->file, &metric, grid__at(grid, row, grid->fields[i]),
				   &field, &offset);
			locations[row * fields + 1 + i].address =
				grid->file->mapped->address + offset;
		}
	}
	free(entry->locations);
	entry->locations = locations;
	entry->rows = grid->indom->count;
	return 0;
}

static int add_instance_name(struct dart_application_layout *layout, struct dart_entry_draft *draft,
			     const struct file *file, const struct indom *indom,
			     struct dart_error *error)
{
	struct dart_field name = { .name = "instance",
				   .unit = "",
				   .kind = DART_CONTROL_FIELD_TEXT };
	uint64_t offset, first = 0;
	uint32_t i;

	for (i = 0; i < indom->count; i++) {
		if (!find_instance_name(file, indom->first + i, &offset, &name.width))
			return dart_error__set(
				error, ENOEXEC,
				"the name of an instance of domain %u lies outside of the mmv file",
				indom->serial);
		first = i ? first : offset;
	}
	/* A longer name is cut off. */
	if (name.width > DART_DESCRIBED_TEXT_MAX)
		name.width = DART_DESCRIBED_TEXT_MAX;
	return dart_described__add(layout, draft, file->mapped, first, &name, error);
}

static int describe_indom(struct dart_application_layout *layout, const struct file *file,
			  const struct indom *indom, struct dart_error *error)
{
	struct grid grid = { .file = file, .indom = indom };
	struct dart_application_entry *entry;
	struct dart_entry_draft draft = {};
	char name[32];
	int ret = grid__find_columns(&grid, error);

	if (!ret && grid.column_count)
		ret = grid__find_values(&grid, error)				    ?:
			      add_instance_name(layout, &draft, file, indom, error) ?:
			      grid__add_fields(&grid, layout, &draft, error);
	snprintf(name, sizeof(name), "mmv:%u", indom->serial);
	if (!ret && grid.field_count)
		ret = dart_described__finish(layout, &draft, name, NULL, &entry, error) ?:
			      grid__add_rows(&grid, entry, error);
	dart_entry_draft__clear(&draft);
	free(grid.columns);
	free(grid.offsets);
	free(grid.fields);
	return ret;
}

static int describe_indoms(struct dart_application_layout *layout, const struct file *file,
			   struct dart_error *error)
{
	const uint32_t count = file->sections[INDOMS].count;
	struct indom indoms[INDOMS_MAX];
	uint32_t i, j;
	int ret = 0;

	if (count > INDOMS_MAX)
		return dart_error__set(error, E2BIG,
				       "the mmv file has %u instance domains (at most %d)", count,
				       INDOMS_MAX);
	for (i = 0; !ret && i < count; i++) {
		ret = take_indom(file, i, &indoms[i], error);
		for (j = 0; !ret && j < i; j++)
			if (indoms[j].serial == indoms[i].serial)
				ret = dart_error__set(
					error, ENOEXEC,
					"two instance domains of the mmv file have the number %u",
					indoms[i].serial);
		if (!ret && indoms[i].count)
			ret = describe_indom(layout, file, &indoms[i], error);
	}
	return ret;
}

/* ---- the file */

static int describe(struct dart_application_layout *layout, const struct file *file,
		    struct dart_error *error)
{
	int ret = describe_singular(layout, file, error);

	if (!ret)
		ret = describe_indoms(layout, file, error);
	if (!ret && !layout->entry_count)
		ret = dart_error__set(
			error, ENOEXEC,
			"the mmv file has no value that a table can carry (%u others, such as floating-point numbers)",
			layout->left_out);
	/* A writer changes the generation with the contents. */
	if (!ret)
		ret = dart_described__check(layout, file->mapped, 0, 8, error);
	if (!ret)
		ret = dart_described__check(layout, file->mapped, GENERATION_1_AT, 8, error);
	if (!ret)
		ret = dart_described__check(layout, file->mapped, GENERATION_2_AT, 8, error);
	return ret;
}

int dart_mmv__describe(const struct dart_mapped *mapped, struct dart_application_layout **result,
		       struct dart_error *error)
{
	struct dart_application_layout *layout;
	struct file file = { .mapped = mapped };
	int ret = check_header(&file, error);

	if (!ret)
		ret = take_sections(&file, error);
	if (!ret && (file.sections[VALUES].count > VALUES_MAX ||
		     file.sections[METRICS].count > METRICS_MAX))
		ret = dart_error__set(
			error, E2BIG,
			"the mmv file has %u metrics and %u values (at most %d and %d)",
			file.sections[METRICS].count, file.sections[VALUES].count, METRICS_MAX,
			VALUES_MAX);
	if (ret)
		return ret;
	layout = dart_described__new("PCP mmv");
	if (!layout)
		return dart_error__no_memory(error);
	ret = describe(layout, &file, error);
	if (ret)
		dart_application_layout__free(layout);
	else
		*result = layout;
	return ret;
}

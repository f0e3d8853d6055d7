// SPDX-License-Identifier: LGPL-2.1-or-later
/* Values of fields, sums over copies, the state of rows, names of kinds. */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "value.h"

size_t dart_entry__size(const struct dart_entry *entry)
{
	return (size_t)entry->copies * entry->schema->length;
}

/* The low @width bytes of @value as a number of the field's kind. */
static uint64_t narrow(const struct dart_field *field, uint64_t value)
{
	unsigned int unused = 64 - 8 * field->width;

	value <<= unused;
	if (field->is_signed)
		return (uint64_t)((int64_t)value >> unused);
	return value >> unused;
}

static inline uint64_t load64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

static inline uint32_t load32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

/* Each width by itself: a copy of so many bytes would be a call. */
static inline uint64_t get(const struct dart_field *field, const void *copy, uint32_t index)
{
	const uint8_t *bytes = (const uint8_t *)copy + field->offset + (size_t)index * field->width;

	switch (field->width) {
	case 8:
		return load64(bytes);
	case 4:
		return narrow(field, load32(bytes));
	case 2:
		return narrow(field, bytes[0] | bytes[1] << 8);
	default:
		return narrow(field, bytes[0]);
	}
}

uint64_t dart_field__get(const struct dart_field *field, const void *copy, uint32_t index)
{
	return get(field, copy, index);
}

uint64_t dart_entry__sum(const struct dart_entry *entry, const struct dart_field *field,
			 const void *copies, uint32_t index)
{
	const uint32_t length = entry->schema->length;
	const uint8_t *copy = copies;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < entry->copies; i++, copy += length)
		sum += get(field, copy, index);
	return narrow(field, sum);
}

void dart_field__address(const struct dart_field *field, const void *copy,
			 char text[INET6_ADDRSTRLEN])
{
	const uint8_t *bytes = (const uint8_t *)copy + field->offset;
	struct in6_addr address;

	memcpy(&address, bytes, sizeof(address));
	if (IN6_IS_ADDR_V4MAPPED(&address))
		inet_ntop(AF_INET, bytes + 12, text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, &address, text, INET6_ADDRSTRLEN);
}

bool dart_schema__lags(const struct dart_schema *schema)
{
	uint32_t i;

	for (i = 0; i < schema->field_count; i++)
		if (schema->fields[i].lags)
			return true;
	return false;
}

/* The rule of <dart/control.h> for sequences at both ends of each line. */
static enum dart_row_state state_of_lines(const struct dart_schema *schema, const uint8_t *row)
{
	const bool is_wide = schema->sequence_width == sizeof(uint64_t);
	const size_t end = DART_CONTROL_LINE - schema->sequence_width;
	const uint64_t first = is_wide ? load64(row) : load32(row);
	const uint8_t *line = row;
	uint64_t differs = first % 2;

	for (; line < row + schema->length; line += DART_CONTROL_LINE) {
		if (is_wide)
			differs |= (first ^ load64(line)) | (first ^ load64(line + end));
		else
			differs |= (first ^ load32(line)) | (first ^ load32(line + end));
	}
	if (differs)
		return DART_ROW_TORN;
	return first ? DART_ROW_WHOLE : DART_ROW_EMPTY;
}

enum dart_row_state dart_row__state(const struct dart_schema *schema, const void *row)
{
	uint64_t sequence = 0, first = 0;
	bool has_first = false;
	uint32_t i;

	if (schema->has_passed)
		return schema->sequence_width ? state_of_lines(schema, row) : DART_ROW_WHOLE;
	for (i = 0; i < schema->field_count; i++) {
		if (schema->fields[i].kind != DART_CONTROL_FIELD_SEQUENCE)
			continue;
		sequence = dart_field__get(&schema->fields[i], row, 0);
		if (!has_first)
			first = sequence;
		has_first = true;
		if (sequence != first || sequence % 2)
			return DART_ROW_TORN;
	}
	return has_first && !first ? DART_ROW_EMPTY : DART_ROW_WHOLE;
}

uint64_t dart_row__time(const struct dart_schema *schema, const void *row)
{
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		if (schema->fields[i].kind == DART_CONTROL_FIELD_TIME)
			return dart_field__get(&schema->fields[i], row, 0);
	}
	return 0;
}

#define NAME_OF(names, kind)                                                 \
	((kind) < sizeof(names) / sizeof(*(names)) && (names)[kind] ?        \
		 (names)[kind] : "unknown")

const char *dart_field_kind__name(enum dart_control_field_kind kind)
{
	static const char *const names[] = {
		[DART_CONTROL_FIELD_COUNTER] = "counter",
		[DART_CONTROL_FIELD_GAUGE] = "gauge",
		[DART_CONTROL_FIELD_HISTOGRAM] = "histogram",
		[DART_CONTROL_FIELD_TEXT] = "text",
		[DART_CONTROL_FIELD_SEQUENCE] = "sequence",
		[DART_CONTROL_FIELD_ADDRESS] = "address",
		[DART_CONTROL_FIELD_TIME] = "time",
	};

	return NAME_OF(names, kind);
}

const char *dart_copies__name(enum dart_control_copies copies)
{
	static const char *const names[] = {
		[DART_CONTROL_COPIES_CPU] = "cpu",
		[DART_CONTROL_COPIES_ROW] = "row",
		[DART_CONTROL_COPIES_SUM] = "sum",
	};

	return NAME_OF(names, copies);
}

const char *dart_entry_kind__name(enum dart_control_entry_kind kind)
{
	static const char *const names[] = {
		[DART_CONTROL_ENTRY_SOURCE] = "source",
		[DART_CONTROL_ENTRY_MAP] = "map",
		[DART_CONTROL_ENTRY_COUNTERS] = "counters",
		[DART_CONTROL_ENTRY_SLICE] = "slice",
	};

	return NAME_OF(names, kind);
}

const char *dart_exposure__name(enum dart_control_exposure exposure)
{
	static const char *const names[] = {
		[DART_CONTROL_EXPOSURE_EXACT] = "exact",
		[DART_CONTROL_EXPOSURE_PAGE] = "page",
	};

	return NAME_OF(names, exposure);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Copies the bytes of entries by their places in the published table. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <libdart/clock.h>

#include "live.h"
#include "values.h"

/* So often a row is copied again that is written meanwhile. */
#define TRIES 4

static const struct dart_control_header *header_of(const struct control_region *control_region)
{
	return control_region->memory;
}

static const void *element(const struct control_region *control_region,
			   const struct dart_control_section *section, uint32_t index, size_t size)
{
	return (const uint8_t *)control_region->memory + le32toh(section->offset) + index * size;
}

static const struct dart_control_entry *
entry_at(const struct control_region *control_region, uint32_t place)
{
	return element(control_region, &header_of(control_region)->entries,
		       place, sizeof(struct dart_control_entry));
}

static int stale(struct dart_error *error)
{
	return dart_error__set(
		error, ESTALE,
		"the places of this generation of the table cannot be used any longer");
}

/* True if the table of @generation, which can be used, lists this entry. */
static bool had(const struct dart_control_entry *entry, uint64_t generation)
{
	if (le32toh(entry->kind) == DART_CONTROL_ENTRY_GONE)
		return le64toh(entry->since) > generation;
	return le64toh(entry->since) <= generation;
}

static int check_run(const struct values *values, const struct dart_rpc_entries *run,
		     struct dart_error *error)
{
	const struct control_region *control_region = values->control_region;
	uint32_t all = le32toh(header_of(control_region)->entries.count), i;

	for (i = 0; i < run->count && run->first + i < all; i++)
		if (!had(entry_at(control_region, run->first + i), values->generation))
			break;
	if (i == run->count)
		return 0;
	return dart_error__set(error, EBADMSG, "generation %llu has no entry at place %u",
			       (unsigned long long)values->generation, run->first + i);
}

int values__begin(struct values *values, const struct control_region *control_region,
		  const struct dart_rpc_message *request, struct dart_error *error)
{
	uint32_t i;
	int ret = 0;

	values->control_region = control_region;
	values->generation = request->values.generation;
	values->run_count = request->values.runs;
	values->run = 0;
	values->entry = 0;
	values->range = 0;
	values->copy = 0;
	values->offset = 0;
	if (request->values.instance != control_region->instance ||
	    !generations__can_use(&control_region->generations, values->generation,
				  dart_clock__ns(CLOCK_BOOTTIME)))
		return stale(error);
	for (i = 0; !ret && i < values->run_count; i++) {
		values->runs[i] = dart_rpc_message__run(request, i);
		ret = check_run(values, &values->runs[i], error);
	}
	return ret;
}

/*
 * Bytes of a sequence, with which lines of the entry's rows begin and end; 0 if there is none.  A
 * removed entry keeps its schema, and its rows may be written until the lease on them ends.
 */
static uint32_t sequence_width(const struct control_region *control_region,
			       const struct dart_control_entry *entry)
{
	const struct dart_control_header *header = header_of(control_region);
	const struct dart_control_schema *schema;
	const struct dart_control_field *field;

	schema = element(control_region, &header->schemas, le32toh(entry->schema), sizeof(*schema));
	if (!schema->fields)
		return 0;
	field = element(control_region, &header->fields, le32toh(schema->first_field),
			sizeof(*field));
	return le16toh(field->kind) == DART_CONTROL_FIELD_SEQUENCE ? le32toh(field->width) : 0;
}

/* Do not all lines begin and end with the same even sequence? */
static bool is_torn(const uint8_t *lines, size_t length, uint32_t width)
{
	const uint8_t *line = lines, *end;

	for (; length >= DART_CONTROL_LINE; length -= DART_CONTROL_LINE) {
		end = line + DART_CONTROL_LINE;
		if (memcmp(line, lines, width) || memcmp(end - width, lines, width))
			return true;
		line = end;
	}
	return *lines & 1;
}

/*
 * Copies whole lines of a row.  They are loaded from the first byte to the last, so their
 * sequences show a reader whether they are torn, see <dart/control.h>.  Here another copy
 * costs less than the row in the reader's next scrape.
 */
static void copy_lines(uint8_t *to, uintptr_t from, size_t length, uint32_t width)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		live__load(to, from, length);
		if (!is_torn(to, length, width))
			return;
	}
}

/*
 * The next bytes side by side: at most @room, at least DART_RPC_ANSWER_MIN of a message,
 * and cut between aligned integers, or between lines of a row with sequences.
 */
static size_t copy_some(const struct values *values, const struct dart_control_entry *entry,
			const struct dart_control_range *range, uint8_t *to, size_t room)
{
	const struct control_region *control_region = values->control_region;
	const uint32_t width = sequence_width(control_region, entry);
	const size_t unit = width ? DART_CONTROL_LINE : sizeof(uint64_t);
	size_t length = le32toh(range->length) - values->offset;
	uintptr_t from;

	from = (uintptr_t)exposure__memory(control_region->exposure, le64toh(range->address)) +
	       values->copy * le64toh(range->stride) + values->offset;
	if (length > room)
		length = room - (from + room) % unit;
	if (width)
		copy_lines(to, from, length, width);
	else
		live__load(to, from, length);
	return length;
}

/* So many bytes were copied. */
static void step(struct values *values, const struct dart_control_entry *entry,
		 const struct dart_control_range *range, size_t length)
{
	values->offset += length;
	if (values->offset < le32toh(range->length))
		return;
	values->offset = 0;
	if (++values->copy < le32toh(range->copies))
		return;
	values->copy = 0;
	if (++values->range < le32toh(entry->ranges))
		return;
	values->range = 0;
	if (++values->entry < values->runs[values->run].count)
		return;
	values->entry = 0;
	values->run++;
}

ssize_t values__copy(struct values *values, uint8_t *to, size_t size, struct dart_error *error)
{
	const struct control_region *control_region = values->control_region;
	const struct dart_control_entry *entry;
	const struct dart_control_range *range;
	size_t copied = 0, length;

	if (!generations__can_use(&control_region->generations, values->generation,
				  dart_clock__ns(CLOCK_BOOTTIME)))
		return stale(error);
	while (copied < size && values->run < values->run_count) {
		entry = entry_at(control_region, values->runs[values->run].first + values->entry);
		range = element(control_region, &header_of(control_region)->ranges,
				le32toh(entry->first_range) + values->range, sizeof(*range));
		length = le32toh(range->length) - values->offset;
		if (copied && length > size - copied)
			break;
		length = copy_some(values, entry, range, to + copied, size - copied);
		step(values, entry, range, length);
		copied += length;
	}
	return copied;
}

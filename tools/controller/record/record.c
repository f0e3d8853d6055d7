// SPDX-License-Identifier: GPL-2.0-only
/* Parses records, whose lengths may be hostile. */
#include <string.h>

#include "record.h"

void record__xor(uint8_t *bytes, const uint8_t *other, size_t length)
{
	uint64_t one, two;
	size_t i;

	for (i = 0; i + sizeof(one) <= length; i += sizeof(one)) {
		memcpy(&one, bytes + i, sizeof(one));
		memcpy(&two, other + i, sizeof(two));
		one ^= two;
		memcpy(bytes + i, &one, sizeof(one));
	}
	for (; i < length; i++)
		bytes[i] ^= other[i];
}

/* Takes @length bytes from the rest of a record; NULL if the rest is shorter. */
static const void *take(const uint8_t **at, size_t *left, uint64_t length)
{
	const uint8_t *bytes = *at;

	if (length > *left)
		return NULL;
	*at += length;
	*left -= length;
	return bytes;
}

static struct record_text text_of(const void *bytes, size_t length)
{
	return (struct record_text){ .bytes = bytes, .length = length };
}

static bool parse_target(const uint8_t *at, size_t left, struct record *record)
{
	const struct record_target *target = take(&at, &left, sizeof(*target));
	const void *name, *labels;
	size_t name_length, labels_length;

	if (!target)
		return false;
	name_length = le16toh(target->name_length);
	labels_length = le16toh(target->labels_length);
	name = take(&at, &left, name_length);
	labels = take(&at, &left, labels_length);
	if (!name || !labels || !name_length || name_length > RECORD_NAME_MAX)
		return false;
	record->target = (struct recorded_target){
		.number = le32toh(target->target),
		.interval_ns = le64toh(target->interval_ns),
		.name = text_of(name, name_length),
		.labels = text_of(labels, labels_length),
	};
	return true;
}

static bool parse_table(const uint8_t *at, size_t left, struct record *record)
{
	const struct record_table *table = take(&at, &left, sizeof(*table));
	const void *reads, *bytes, *names;
	uint32_t read_count, length, names_length;

	if (!table)
		return false;
	read_count = le32toh(table->read_count);
	length = le32toh(table->table_length);
	names_length = le32toh(table->names_length);
	reads = take(&at, &left, (uint64_t)read_count * sizeof(struct record_read));
	bytes = reads ? take(&at, &left, record__align(length)) : NULL;
	names = bytes ? take(&at, &left, names_length) : NULL;
	if (!names || !read_count || (names_length && ((const char *)names)[names_length - 1]))
		return false;
	record->table = (struct recorded_table){
		.target = le32toh(table->target),
		.number = le64toh(table->number),
		.reads = reads,
		.read_count = read_count,
		.bytes = bytes,
		.length = length,
		.landing_length = le32toh(table->landing_length),
		.names = text_of(names, names_length),
	};
	return true;
}

/*
 * Returns the bytes of the scrape @distance before the scrape at @at; NULL if there is no such
 * scrape.
 */
static const uint8_t *find_previous(const uint8_t *records, const uint8_t *at,
				    const struct record_scrape *scrape)
{
	const uint32_t distance = le32toh(scrape->previous);
	const struct record_scrape *previous;

	if (distance % RECORD_ALIGNMENT || distance > (size_t)(at - records) ||
	    distance < sizeof(*previous) + le32toh(scrape->landing_length))
		return NULL;
	previous = (const struct record_scrape *)(at - distance);
	if (le32toh(previous->head.type) != RECORD_SCRAPE || previous->table != scrape->table ||
	    previous->landing_length != scrape->landing_length)
		return NULL;
	return (const uint8_t *)(previous + 1);
}

/* Returns the time of a scrape by the recorder's clock. */
static int64_t time_of(const struct record_scrape *scrape)
{
	const uint64_t time_ns = le64toh(scrape->time_ns);

	if (le32toh(scrape->flags) & RECORD_SCRAPE_OWN_TIME)
		return time_ns;
	/* Unsigned, so that hostile numbers do not overflow. */
	return time_ns - le64toh(scrape->clock_offset_ns);
}

static bool parse_scrape(uint8_t *records, const uint8_t *begin, size_t left, struct record *record)
{
	const uint8_t *at = begin, *previous;
	const struct record_scrape *scrape = take(&at, &left, sizeof(*scrape));
	uint32_t length;
	uint8_t *bytes;

	if (!scrape)
		return false;
	length = le32toh(scrape->landing_length);
	if (!take(&at, &left, length))
		return false;
	bytes = records + (begin - records) + sizeof(*scrape);
	if (scrape->previous) {
		previous = find_previous(records, begin, scrape);
		if (!previous)
			return false;
		record__xor(bytes, previous, length);
	}
	record->time_ns = time_of(scrape);
	record->scrape = (struct recorded_scrape){
		.table = le64toh(scrape->table),
		.head = {
			.sequence = le64toh(scrape->sequence),
			.start_ns = le64toh(scrape->start_ns),
			.landed_ns = le64toh(scrape->landed_ns),
			.time_ns = record->time_ns,
			.clock_offset_ns = le64toh(scrape->clock_offset_ns),
			.clock_uncertainty_ns =
				le64toh(scrape->clock_uncertainty_ns),
			.reads = le32toh(scrape->reads),
			.bytes = le64toh(scrape->bytes),
			.failed = le64toh(scrape->failed),
			.missed = le64toh(scrape->missed),
		},
		.end_ns = le64toh(scrape->end_ns),
		.landing = bytes,
		.landing_length = length,
	};
	return true;
}

static bool parse_lost(const uint8_t *at, size_t left, struct record *record)
{
	const struct record_lost *lost = take(&at, &left, sizeof(*lost));
	const void *reason;
	uint32_t length;

	if (!lost)
		return false;
	length = le32toh(lost->reason_length);
	reason = take(&at, &left, length);
	if (!reason || length > RECORD_REASON_MAX)
		return false;
	record->time_ns = le64toh(lost->time_ns);
	record->loss = (struct recorded_loss){
		.target = le32toh(lost->target),
		.monotonic_ns = le64toh(lost->monotonic_ns),
		.reason = text_of(reason, length),
	};
	return true;
}

static bool parse_removed(const uint8_t *at, size_t left, struct record *record)
{
	const struct record_removed *removed = take(&at, &left, sizeof(*removed));

	if (!removed)
		return false;
	record->time_ns = le64toh(removed->time_ns);
	record->loss = (struct recorded_loss){
		.target = le32toh(removed->target),
		.monotonic_ns = le64toh(removed->monotonic_ns),
	};
	return true;
}

static bool parse(uint8_t *records, const uint8_t *at, size_t size, struct record *record)
{
	switch (record->type) {
	case RECORD_TARGET:
		return parse_target(at, size, record);
	case RECORD_TABLE:
		return parse_table(at, size, record);
	case RECORD_SCRAPE:
		return parse_scrape(records, at, size, record);
	case RECORD_LOST:
		return parse_lost(at, size, record);
	case RECORD_REMOVED:
		return parse_removed(at, size, record);
	default:
		return true;
	}
}

size_t record__parse(uint8_t *records, size_t length, size_t place, struct record *record)
{
	const struct record_head *head;
	size_t size;

	if (place > length || length - place < sizeof(*head))
		return 0;
	head = (const struct record_head *)(records + place);
	size = le32toh(head->length);
	if (size < sizeof(*head) || size % RECORD_ALIGNMENT || size > length - place)
		return 0;
	*record = (struct record){ .type = le32toh(head->type) };
	return parse(records, records + place, size, record) ? size : 0;
}

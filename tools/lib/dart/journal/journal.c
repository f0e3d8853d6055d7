// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fills and reads batches of a journal: see <dart/journal.h>. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include <linux/types.h>

#include "journal.h"

#define START_FRACTION_BITS 16
#define START_MAX (UINT64_MAX >> START_FRACTION_BITS)
#define NS_PER_S 1000000000

/* Bytes of a batch that are no entries. */
#define OVERHEAD (DART_JOURNAL_ENTRIES + DART_JOURNAL_CRC)

int dart_journal_geometry__check(const struct dart_journal_geometry *geometry)
{
	if (!geometry->parts || geometry->parts > DART_JOURNAL_PARTS_MAX ||
	    geometry->lists_log2 > DART_JOURNAL_LISTS_LOG2_MAX ||
	    geometry->batches_log2 < DART_JOURNAL_BATCHES_LOG2_MIN ||
	    geometry->batches_log2 > DART_JOURNAL_BATCHES_LOG2_MAX ||
	    geometry->batch_log2 < DART_JOURNAL_BATCH_LOG2_MIN ||
	    geometry->batch_log2 > DART_JOURNAL_BATCH_LOG2_MAX || !geometry->entry_length ||
	    geometry->entry_length > DART_JOURNAL_ENTRY_MAX ||
	    !dart_journal_geometry__capacity(geometry))
		return -EINVAL;
	return 0;
}

uint32_t dart_journal_geometry__capacity(const struct dart_journal_geometry *geometry)
{
	const uint32_t room = (1u << geometry->batch_log2) - OVERHEAD;
	const uint32_t count = room / geometry->entry_length;

	return count < DART_JOURNAL_COUNT_MAX ? count : DART_JOURNAL_COUNT_MAX;
}

uint64_t dart_journal_geometry__part(const struct dart_journal_geometry *geometry)
{
	return UINT64_C(1)
	       << (geometry->lists_log2 + geometry->batches_log2 + geometry->batch_log2);
}

uint64_t dart_journal_geometry__length(const struct dart_journal_geometry *geometry)
{
	return geometry->parts * dart_journal_geometry__part(geometry);
}

uint64_t dart_journal_geometry__offset(const struct dart_journal_geometry *geometry, uint32_t list,
				       uint32_t place)
{
	return (((uint64_t)list << geometry->batches_log2) + place) << geometry->batch_log2;
}

uint64_t dart_journal__start(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ((uint64_t)now.tv_sec << START_FRACTION_BITS |
		((uint64_t)now.tv_nsec << START_FRACTION_BITS) / NS_PER_S) &
	       START_MAX;
}

/* ---- batches */

static uint32_t read_word(const uint8_t *bytes)
{
	__be32 word;

	memcpy(&word, bytes, sizeof(word));
	return be32toh(word);
}

static void write_word(uint8_t *bytes, uint32_t value)
{
	const __be32 word = htobe32(value);

	memcpy(bytes, &word, sizeof(word));
}

/* The start lies at the end of 8 bytes whose first two belong to the sequence. */
static uint64_t read_start(const uint8_t *bytes)
{
	__be64 word;

	memcpy(&word, bytes + DART_JOURNAL_START - sizeof(uint16_t), sizeof(word));
	return be64toh(word) & START_MAX;
}

static void write_start(uint8_t *bytes, uint64_t start)
{
	const __be64 word = htobe64(start << START_FRACTION_BITS);

	memcpy(bytes + DART_JOURNAL_START, &word, DART_JOURNAL_COUNT - DART_JOURNAL_START);
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
	return !*bytes && !memcmp(bytes, bytes + 1, length - 1);
}

enum dart_journal_state dart_journal_batch__read(const struct dart_journal_geometry *geometry,
						 const uint8_t *bytes, uint32_t place,
						 struct dart_journal_batch *batch)
{
	const uint32_t end = (1u << geometry->batch_log2) - DART_JOURNAL_CRC;
	const uint32_t sequence = read_word(bytes + DART_JOURNAL_SEQUENCE);
	const uint32_t count = bytes[DART_JOURNAL_COUNT];

	if (is_zero(bytes, end + DART_JOURNAL_CRC))
		return DART_JOURNAL_EMPTY;
	if (!sequence || ((sequence - 1) & ((1u << geometry->batches_log2) - 1)) != place ||
	    !count || count > dart_journal_geometry__capacity(geometry) ||
	    bytes[DART_JOURNAL_ENTRY_LENGTH] != geometry->entry_length ||
	    crc32(0, bytes, end) != read_word(bytes + end))
		return DART_JOURNAL_TORN;
	*batch = (struct dart_journal_batch){
		.start = read_start(bytes),
		.sequence = sequence,
		.count = count,
		.entries = bytes + DART_JOURNAL_ENTRIES,
	};
	return DART_JOURNAL_WHOLE;
}

/* ---- the appender's side */

/* The batch of a list that is being filled. */
struct open_list {
	uint64_t start;
	uint32_t sequence;
	uint32_t count; /* entries in the batch */
	uint32_t written; /* of these, in the last WRITE */
};

struct dart_journal_appender {
	struct dart_journal_geometry geometry;
	uint32_t capacity;
	uint8_t *batches; /* one for each list */
	struct open_list lists[];
};

int dart_journal_appender__new(const struct dart_journal_geometry *geometry, uint64_t start,
			       struct dart_journal_appender **result)
{
	struct dart_journal_appender *appender;
	uint32_t lists, i;

	if (dart_journal_geometry__check(geometry) || start > START_MAX)
		return -EINVAL;
	lists = 1u << geometry->lists_log2;
	appender = calloc(1, sizeof(*appender) + lists * sizeof(*appender->lists));
	if (!appender)
		return -ENOMEM;
	appender->batches = calloc(lists, 1u << geometry->batch_log2);
	if (!appender->batches) {
		free(appender);
		return -ENOMEM;
	}
	appender->geometry = *geometry;
	appender->capacity = dart_journal_geometry__capacity(geometry);
	for (i = 0; i < lists; i++)
		appender->lists[i] = (struct open_list){ .start = start, .sequence = 1 };
	*result = appender;
	return 0;
}

void dart_journal_appender__free(struct dart_journal_appender *appender)
{
	if (!appender)
		return;
	free(appender->batches);
	free(appender);
}

static uint8_t *batch_of(const struct dart_journal_appender *appender, uint32_t list)
{
	return appender->batches + ((size_t)list << appender->geometry.batch_log2);
}

/* Finishes the bytes of the batch as it is now. */
static void make_write(const struct dart_journal_appender *appender, uint32_t list,
		       struct dart_journal_write *write)
{
	const struct dart_journal_geometry *geometry = &appender->geometry;
	const struct open_list *open = &appender->lists[list];
	const uint32_t place = (open->sequence - 1) & ((1u << geometry->batches_log2) - 1);
	const uint32_t length = 1u << geometry->batch_log2;
	uint8_t *batch = batch_of(appender, list);

	write_word(batch + DART_JOURNAL_SEQUENCE, open->sequence);
	write_start(batch, open->start);
	batch[DART_JOURNAL_COUNT] = open->count;
	batch[DART_JOURNAL_ENTRY_LENGTH] = geometry->entry_length;
	write_word(batch + length - DART_JOURNAL_CRC, crc32(0, batch, length - DART_JOURNAL_CRC));
	*write = (struct dart_journal_write){
		.offset = dart_journal_geometry__offset(geometry, list, place),
		.length = length,
		.bytes = batch,
	};
}

bool dart_journal_appender__append(struct dart_journal_appender *appender, uint32_t list,
				   const void *entry, struct dart_journal_write *write)
{
	const uint32_t length = appender->geometry.entry_length;
	struct open_list *open = &appender->lists[list];
	uint8_t *batch = batch_of(appender, list);

	/* The bytes of the batch before were the caller's until now. */
	if (!open->count)
		memset(batch, 0, (size_t)1 << appender->geometry.batch_log2);
	memcpy(batch + DART_JOURNAL_ENTRIES + open->count++ * length, entry, length);
	if (open->count < appender->capacity)
		return false;
	make_write(appender, list, write);
	open->count = 0;
	open->written = 0;
	if (!++open->sequence) {
		open->sequence = 1;
		open->start++;
	}
	return true;
}

bool dart_journal_appender__flush(struct dart_journal_appender *appender, uint32_t list,
				  struct dart_journal_write *write)
{
	struct open_list *open = &appender->lists[list];

	if (open->count == open->written)
		return false;
	make_write(appender, list, write);
	open->written = open->count;
	return true;
}

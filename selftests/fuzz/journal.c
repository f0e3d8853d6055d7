// SPDX-License-Identifier: GPL-2.0-only
/* Memory of a journal that changes between the looks of a reader. */
#include <endian.h>
#include <zlib.h>

#include <libdart/journal/journal_reader.h>

#include "fuzz.h"

static const struct dart_journal_geometry geometry = { 1, 0, 3, 6, 7 };
#define MEMORY	 512 /* bytes: 8 batches */
#define BATCH	 64
#define CAPACITY 6

/* What the reader must keep to. */
struct expectation {
	uint64_t start, sequence;
	uint32_t count;
};

static void on_event(void *context, const struct dart_journal_event *event)
{
	struct expectation *expected = context;
	uint8_t *copy;

	if (event->outcome == DART_JOURNAL_RESTARTED) {
		require(event->start > expected->start);
		*expected = (struct expectation){ event->start, 1, 0 };
		return;
	}
	if (event->outcome == DART_JOURNAL_SET_BACK) {
		require(event->start < expected->start);
		return;
	}
	/* Of a new reader the first event says where it is. */
	if (!expected->start)
		*expected = (struct expectation){ event->start, event->sequence, event->first };
	require(event->start == expected->start && event->sequence == expected->sequence);
	if (event->outcome != DART_JOURNAL_ENTRIES_FOUND) {
		require(event->batches);
		expected->sequence += event->batches;
		expected->count = 0;
		return;
	}
	require(event->first == expected->count && event->count);
	require(event->first + event->count <= CAPACITY);
	copy = exact_copy(event->entries, event->count * geometry.entry_length);
	free(copy);
	expected->count += event->count;
	if (expected->count == CAPACITY) {
		expected->sequence++;
		expected->count = 0;
	}
}

/* Few inputs have a right CRC by chance: a last byte of 0xff asks for one. */
static void correct(uint8_t *memory)
{
	uint8_t *batch;

	for (batch = memory; batch < memory + MEMORY; batch += BATCH) {
		const uint32_t crc = htobe32(crc32(0, batch, BATCH - DART_JOURNAL_CRC));

		if (batch[BATCH - 1] == 0xff)
			memcpy(batch + BATCH - DART_JOURNAL_CRC, &crc, sizeof(crc));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expectation expected = {};
	struct dart_journal_reader *reader;
	struct dart_error error = {};
	uint8_t *memory = calloc(1, MEMORY);
	size_t part;

	require(memory);
	require(!dart_journal_reader__map(&geometry, memory, &reader));
	require(!dart_journal_reader__begin(reader, 0, size % 2, &error));
	for (; size; data += part, size -= part) {
		part = size < MEMORY ? size : MEMORY;
		memcpy(memory, data, part);
		correct(memory);
		require(dart_journal_reader__poll(reader, on_event, &expected, &error) >= 0);
	}
	/* A new reader ends with what is there. */
	expected = (struct expectation){};
	require(!dart_journal_reader__begin(reader, 0, false, &error));
	require(!dart_journal_reader__drain(reader, on_event, &expected, &error));
	dart_journal_reader__close(reader);
	free(memory);
	return 0;
}

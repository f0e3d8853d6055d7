// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of recordings.  Checksums would keep all but the file format from being reached, so
 * an input that begins with an odd byte is the records of a chunk, and this harness packs it.
 */
#include <xxhash.h>

#include "fuzz.h"
#include "tools/controller/decode/budget.h"
#include "tools/controller/record/chunk.h"
#include "tools/controller/record/played.h"
#include "tools/controller/record/reader.h"

/* The scrapes of one table are decoded; larger ones would only take time. */
#define RING_BYTES_MAX (16 << 20)

static void take_target(const struct recorded_target *recorded)
{
	struct target_settings settings;
	struct dart_error error;

	if (played__make_settings(recorded, &settings, &error)) {
		require_sentence(&error);
		return;
	}
	require(*settings.name && !strpbrk(settings.name, " \n\x1b"));
	require(!settings.labels || *settings.labels->text == '{');
	played__clear_settings(&settings);
}

static void take_table(const struct recorded_table *recorded, struct ring **ring)
{
	const struct scraper_use use = {
		.value_bytes = BUDGET_TEXT_BYTES,
		.is_compared = true,
	};
	struct dart_error error;

	ring__release(*ring);
	*ring = NULL;
	if (played__ring_size(recorded) <= RING_BYTES_MAX &&
	    played__make_ring(recorded, &use, ring, &error))
		require_sentence(&error);
}

static void take_scrape(const struct recorded_scrape *recorded, struct ring *ring)
{
	struct sample *sample;

	if (!ring || recorded->landing_length != scraper__landing_size(ring->scraper))
		return;
	memcpy((void *)ring__current(ring)->landing, recorded->landing, recorded->landing_length);
	sample = scraper__decode(ring->scraper, ring__current(ring)->landing);
	require(sample->entry_count <= ring->scraper->table.entry_count);
}

static void take(const struct record *record, struct ring **ring)
{
	if (record->type == RECORD_TARGET)
		take_target(&record->target);
	else if (record->type == RECORD_TABLE)
		take_table(&record->table, ring);
	else if (record->type == RECORD_SCRAPE)
		take_scrape(&record->scrape, *ring);
}

static void read_file(const char *path)
{
	struct ring *ring = NULL;
	struct reader *reader;
	struct record record;
	struct dart_error error;

	if (reader__open(path, &reader, &error)) {
		require_sentence(&error);
		return;
	}
	while (reader__next(reader, &record, &error) > 0)
		take(&record, &ring);
	if (reader__is_damaged(reader, &error))
		require_sentence(&error);
	ring__release(ring);
	reader__close(reader);
}

/* A file of these records. */
static void read_records(const uint8_t *data, size_t size)
{
	const struct chunk_content content = { .records = 1 };
	struct record_file_header header = {
		.magic = RECORD_FILE_MAGIC,
		.version = htole32(RECORD_VERSION),
		.length = htole32(sizeof(header)),
	};
	struct chunk_packer packer = { };
	size_t chunk_size;
	uint8_t *chunk, *file;

	require(!chunk_packer__pack(&packer, data, size, &content, &chunk, &chunk_size));
	chunk__number(chunk, 0);
	header.checksum = htole64(XXH64(&header, offsetof(struct record_file_header, checksum), 0));
	file = malloc(sizeof(header) + chunk_size);
	require(file);
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), chunk, chunk_size);
	read_file(file_of(file, sizeof(header) + chunk_size));
	free(file);
	chunk_packer__close(&packer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 && *data & 1)
		read_records(data + 1, size - 1);
	else
		read_file(file_of(data, size));
	return 0;
}

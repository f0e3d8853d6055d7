// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of the recorder: collects events in a block, and writes the block as a chunk after all
 * definitions that the file lacks.
 *
 * The thread keeps each definition as a packed chunk. A new file gets those definitions that its
 * blocks need, so no file depends on an earlier one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "recorder_private.h"
#include "tools/controller/base/schedule.h"

static void recorded__free(struct recorded *recorded)
{
	if (!recorded)
		return;
	free(recorded->record);
	free(recorded->definition);
	free(recorded);
}

void recorder__free_targets(struct recorder *recorder)
{
	size_t i;

	for (i = 0; i < SETTINGS_TARGETS_MAX; i++)
		recorded__free(recorder->recorded[i]);
}

/* Ends the recording. */
static void recorder__end(struct recorder *recorder, int error, const char *sentence)
{
	output__print(recorder->log, "dart-controller: %s; recording ends", sentence);
	output_error_holder__set(&recorder->last_error, error ? "not_writable" : "full", sentence);
	atomic_fetch_add(&recorder->dropped, recorder->pending);
	recorder->pending = 0;
	atomic_store(&recorder->error, error);
	atomic_store(&recorder->has_ended, true);
	eventfd_write(recorder->event, 1);
}

/* Does the block contain events of @recorded, while the file lacks the definition? */
static bool recorder__is_needed(const struct recorder *recorder, const struct recorded *recorded)
{
	return recorded && recorded->block == recorder->block.number &&
	       recorded->file != recorder->file.number + 1;
}

/* Packs the definition of @recorded: its target, and @table unless it is NULL. */
static int recorder__define(struct recorder *recorder, struct recorded *recorded,
			    const struct recorder_item *table)
{
	const struct chunk_content content = {
		.flags = RECORD_CHUNK_DEFINITIONS,
		.records = 1 + !!table,
	};
	const size_t length = recorded->record_length + (table ? table->length : 0);
	uint8_t *records = malloc(length), *chunk, *copy;
	size_t size;
	int err;

	if (!records)
		return -ENOMEM;
	memcpy(records, recorded->record, recorded->record_length);
	if (table)
		memcpy(records + recorded->record_length, table->record, table->length);
	err = chunk_packer__pack(&recorder->packer, records, length, &content, &chunk, &size);
	free(records);
	if (err)
		return err;
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, chunk, size);
	free(recorded->definition);
	recorded->definition = copy;
	recorded->definition_size = size;
	recorded->file = 0;
	return 0;
}

/* Returns the bytes of the definitions that the block needs and the present file lacks. */
static uint64_t recorder__needed_size(const struct recorder *recorder)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		if (recorder__is_needed(recorder, recorder->recorded[i]))
			size += recorder->recorded[i]->definition_size;
	}
	return size;
}

/* Returns the bytes of all definitions that the block needs, for a new file. */
static uint64_t recorder__known_size(const struct recorder *recorder)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		if (recorder->recorded[i] && recorder->recorded[i]->block == recorder->block.number)
			size += recorder->recorded[i]->definition_size;
	}
	return size;
}

static int recorder__write_definitions(struct recorder *recorder, struct dart_error *error)
{
	struct recorded *recorded;
	size_t i;
	int err;

	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		recorded = recorder->recorded[i];
		if (!recorder__is_needed(recorder, recorded))
			continue;
		err = record_file__append(&recorder->file, recorded->definition,
					  recorded->definition_size, error);
		if (err)
			return err;
		recorded->file = recorder->file.number + 1;
	}
	return 0;
}

/*
 * Drops a block that cannot be written. The thread tries the next block in the next file, or in the
 * same file if there is only one.
 */
static void recorder__fail(struct recorder *recorder, int error, const char *sentence)
{
	uint64_t since;

	output_error_holder__set(&recorder->last_error, "not_writable", sentence);
	atomic_fetch_add(&recorder->dropped, recorder->pending);
	recorder->failed += recorder->pending;
	recorder->pending = 0;
	atomic_store(&recorder->error, error);
	atomic_store(&recorder->is_failing, true);
	if (hourly__take(&recorder->failures, monotonic_ns(), recorder->failed, &since))
		output__print(
			recorder->log,
			"dart-controller: %s; scrapes are not recorded until that works again (%llu so far, %llu of them since this was said)",
			sentence, (unsigned long long)recorder->failed, (unsigned long long)since);
	block__next(&recorder->block);
}

static void recorder__succeed(struct recorder *recorder)
{
	struct block *block = &recorder->block;

	if (atomic_exchange(&recorder->is_failing, false)) {
		atomic_store(&recorder->error, 0);
		output__print(
			recorder->log,
			"dart-controller: '%s' is written again (%llu scrapes were not recorded)",
			recorder->settings.path, (unsigned long long)recorder->failed);
	}
	recorder->file.has_events = true;
	count__add(&recorder->scrapes, recorder->pending);
	count__set(&recorder->bytes, recorder->file.total);
	recorder->pending = 0;
	block__next(block);
}

/* True if others can make room. After other errors the file stays unwritable. */
static bool is_no_room(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG;
}

/*
 * Returns 0; -ENOSPC if the only file is full; or another -errno. Both come with a sentence in
 * @error.
 */
static int recorder__make_room(struct recorder *recorder, size_t size, struct dart_error *error)
{
	const uint64_t needed = size + recorder__needed_size(recorder);

	/* Each file gets at least one block, of any size. */
	if (!recorder->file.has_events)
		return 0;
	/* The end of the present file may be damaged. */
	if (atomic_load(&recorder->is_failing) && recorder->settings.files > 1)
		return record_file__rotate(&recorder->file, size + recorder__known_size(recorder),
					   error);
	if (record_file__has_room(&recorder->file, needed))
		return 0;
	if (recorder->settings.files > 1)
		return record_file__rotate(&recorder->file, 0, error);
	return dart_error__set(error, ENOSPC, "'%s' has as many bytes as --record-size allows",
			       recorder->settings.path);
}

static void recorder__flush(struct recorder *recorder)
{
	struct block *block = &recorder->block;
	struct dart_error error;
	uint8_t *chunk;
	size_t size;
	int err;

	if (!block->length || atomic_load(&recorder->has_ended))
		return;
	err = block__pack(block, &recorder->packer, &chunk, &size);
	if (err) {
		dart_error__no_memory(&error);
	} else {
		err = recorder__make_room(recorder, size, &error);
		if (err == -ENOSPC && recorder->settings.files == 1 && recorder->file.has_events) {
			recorder__end(recorder, 0, error.text);
			return;
		}
	}
	err = err						    ?:
		      recorder__write_definitions(recorder, &error) ?:
		      record_file__append(&recorder->file, chunk, size, &error);
	if (!err)
		recorder__succeed(recorder);
	else if (recorder->settings.files > 1 || is_no_room(err))
		recorder__fail(recorder, err, error.text);
	else
		recorder__end(recorder, err, error.text);
}

/* Appends an event of @recorded to the block. */
static int recorder__add(struct recorder *recorder, struct recorded *recorded,
			 const struct recorder_item *item, size_t *place)
{
	struct block *block = &recorder->block;
	int err;

	if (block__is_full(block, item->length))
		recorder__flush(recorder);
	if (!block->length)
		recorder->due_ns = monotonic_ns() + RECORDER_CHUNK_MS * 1000000ULL;
	err = block__append(block, item->record, item->length, item->time_ns, place);
	if (err)
		return err;
	if (recorded->block != block->number)
		recorded->landing_length = 0;
	recorded->block = block->number;
	return 0;
}

/*
 * Was this target removed, and is there again?  Then its number and its table are those of before:
 * both are defined again.
 */
static bool recorder__take_back(struct recorded *recorded, struct recorder_item *item)
{
	struct record_target *record = (struct record_target *)item->record;

	if (!recorded || !recorded->is_removed || recorded->record_length != item->length)
		return false;
	record->target = htole32(recorded->number);
	if (memcmp(recorded->record, record, item->length))
		return false;
	recorded->is_removed = false;
	recorded->landing_length = 0;
	recorded->file = 0;
	return true;
}

static void recorder__take_target(struct recorder *recorder, struct recorder_item *item)
{
	struct record_target *record = (struct record_target *)item->record;
	struct recorded *recorded;

	if (recorder__take_back(recorder->recorded[item->index], item))
		return;
	recorded = calloc(1, sizeof(*recorded));
	if (!recorded)
		return;
	recorded->number = recorder->targets++;
	recorded->record = malloc(item->length);
	recorded->record_length = item->length;
	record->target = htole32(recorded->number);
	if (recorded->record)
		memcpy(recorded->record, record, item->length);
	if (!recorded->record || recorder__define(recorder, recorded, NULL)) {
		recorded__free(recorded);
		return;
	}
	recorded__free(recorder->recorded[item->index]);
	recorder->recorded[item->index] = recorded;
}

static void recorder__take_table_of(struct recorder *recorder, struct recorded *recorded,
				    struct recorder_item *item)
{
	struct record_table *record = (struct record_table *)item->record;

	/* Earlier events refer to the previous definition: write them first. */
	if (recorded->block == recorder->block.number)
		recorder__flush(recorder);
	record->target = htole32(recorded->number);
	recorded->landing_length = 0;
	recorded->table = recorder__define(recorder, recorded, item) ? 0 : item->table;
}

static void recorder__take_scrape(struct recorder *recorder, struct recorded *recorded,
				  const struct recorder_item *item)
{
	const struct record_scrape *record = (const struct record_scrape *)item->record;
	const uint32_t length = le32toh(record->landing_length);
	size_t place;

	/* There was no memory for its table, or for the scrape itself. */
	if (recorded->table != item->table || recorder__add(recorder, recorded, item, &place)) {
		atomic_fetch_add(&recorder->dropped, 1);
		return;
	}
	recorder->pending++;
	if (recorded->landing_length == length)
		block__differ(&recorder->block, place, recorded->place);
	recorded->place = place;
	recorded->landing_length = length;
}

/* The number of the target follows the head in both types of records. */
static void recorder__take_event(struct recorder *recorder, struct recorded *recorded,
				 struct recorder_item *item)
{
	struct record_removed *record = (struct record_removed *)item->record;
	size_t place;

	record->target = htole32(recorded->number);
	recorder__add(recorder, recorded, item, &place);
	if (item->type != RECORD_REMOVED)
		return;
	/* Write the events before the target is defined again, or its definition freed. */
	recorder__flush(recorder);
	recorded->is_removed = true;
}

static void recorder__take(struct recorder *recorder, struct recorder_item *item)
{
	struct recorded *recorded = recorder->recorded[item->index];

	if (recorded && recorded->is_removed)
		recorded = NULL;
	if (item->type == RECORD_TARGET)
		recorder__take_target(recorder, item);
	else if (!recorded && item->type == RECORD_SCRAPE)
		atomic_fetch_add(&recorder->dropped, 1);
	else if (!recorded)
		return;
	else if (item->type == RECORD_TABLE)
		recorder__take_table_of(recorder, recorded, item);
	else if (item->type == RECORD_SCRAPE)
		recorder__take_scrape(recorder, recorded, item);
	else
		recorder__take_event(recorder, recorded, item);
}

/* Returns how long the thread may sleep; -1 (for ever) if no event waits. */
static int recorder__timeout_ms(const struct recorder *recorder)
{
	uint64_t now_ns;

	if (!recorder->block.length || atomic_load(&recorder->has_ended))
		return -1;
	now_ns = monotonic_ns();
	return recorder->due_ns <= now_ns ? 0 : (recorder->due_ns - now_ns) / 1000000 + 1;
}

void *recorder__run(void *data)
{
	struct recorder *recorder = data;
	struct queue_item *item;
	int timeout_ms;
	size_t cost;

	for (;;) {
		timeout_ms = recorder__timeout_ms(recorder);
		if (!timeout_ms)
			recorder__flush(recorder);
		item = queue__wait_for(&recorder->queue, timeout_ms);
		if (!item)
			continue;
		if (item == &recorder->end)
			break;
		cost = item->cost;
		if (!atomic_load(&recorder->has_ended))
			recorder__take(recorder, (struct recorder_item *)item);
		free(item);
		queue__release(&recorder->queue, cost);
	}
	recorder__flush(recorder);
	return NULL;
}

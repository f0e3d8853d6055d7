// SPDX-License-Identifier: GPL-2.0-only
/* The tap: makes records of the events of targets, and passes them to the thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "record.h"
#include "recorder_private.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/base/thread.h"
#include "tools/controller/decode/ring.h"

static struct recorder *recorder_of(struct tap *tap)
{
	return (struct recorder *)tap;
}

static void recorder__drop(struct recorder *recorder)
{
	const uint64_t dropped = atomic_fetch_add(&recorder->dropped, 1) + 1;
	uint64_t since;

	if (!hourly__take(&recorder->drops, monotonic_ns(), dropped, &since))
		return;
	output__print(
		recorder->log,
		"dart-controller: '%s' is written too slowly: scrapes that do not fit are not recorded (%llu so far, %llu of them since this was said)",
		recorder->settings.path, (unsigned long long)dropped, (unsigned long long)since);
}

/* Allocates a record of @length bytes, with zeros up to the next multiple of 8. */
static struct recorder_item *item__new(enum record_type type, const struct target_settings *target,
				       size_t length)
{
	const size_t aligned = record__align(length);
	struct recorder_item *item = malloc(sizeof(*item) + aligned);
	struct record_head *head;

	if (!item)
		return NULL;
	*item = (struct recorder_item){
		.type = type,
		.index = target->index,
		.length = aligned,
	};
	memset(item->record + length, 0, aligned - length);
	head = (struct record_head *)item->record;
	head->type = htole32(type);
	head->length = htole32(aligned);
	return item;
}

static bool recorder__put(struct recorder *recorder, struct recorder_item *item)
{
	return queue__put(&recorder->queue, &item->item, sizeof(*item) + item->length);
}

/* For rare records that must not be dropped. */
static void recorder__put_always(struct recorder *recorder, struct recorder_item *item)
{
	queue__put_always(&recorder->queue, &item->item, sizeof(*item) + item->length);
}

static void on_added(struct tap *tap, const struct target_settings *target)
{
	const char *labels = target->labels ? target->labels->text : "";
	const size_t name_length = strnlen(target->name, RECORD_NAME_MAX);
	const size_t labels_length = strnlen(labels, UINT16_MAX);
	struct record_target *record;
	struct recorder_item *item;

	item = item__new(RECORD_TARGET, target, sizeof(*record) + name_length + labels_length);
	/* Without memory for this record nothing of the target is recorded. */
	if (!item)
		return;
	record = (struct record_target *)item->record;
	*record = (struct record_target){
		.head = record->head,
		.name_length = htole16(name_length),
		.labels_length = htole16(labels_length),
		.interval_ns = htole64(target->interval_ns),
	};
	memcpy(record + 1, target->name, name_length);
	memcpy((char *)(record + 1) + name_length, labels, labels_length);
	recorder__put_always(recorder_of(tap), item);
}

static void on_removed(struct tap *tap, const struct target_settings *target)
{
	struct record_removed *record;
	struct recorder_item *item;

	item = item__new(RECORD_REMOVED, target, sizeof(*record));
	if (!item)
		return;
	item->time_ns = dart_clock__ns(CLOCK_REALTIME);
	record = (struct record_removed *)item->record;
	*record = (struct record_removed){
		.head = record->head,
		.time_ns = htole64(item->time_ns),
		.monotonic_ns = htole64(monotonic_ns()),
	};
	recorder__put_always(recorder_of(tap), item);
}

static void on_lost(struct tap *tap, const struct target_settings *target, const char *reason)
{
	const size_t length = strnlen(reason, RECORD_REASON_MAX);
	struct record_lost *record;
	struct recorder_item *item;

	item = item__new(RECORD_LOST, target, sizeof(*record) + length);
	if (!item)
		return;
	item->time_ns = dart_clock__ns(CLOCK_REALTIME);
	record = (struct record_lost *)item->record;
	*record = (struct record_lost){
		.head = record->head,
		.reason_length = htole32(length),
		.time_ns = htole64(item->time_ns),
		.monotonic_ns = htole64(monotonic_ns()),
	};
	memcpy(record + 1, reason, length);
	recorder__put_always(recorder_of(tap), item);
}

static size_t names_length(const struct entry_names *names)
{
	size_t i, length = 0;

	for (i = 0; names && i < names->count; i++)
		length += strlen(names->names[i]) + 1;
	return length;
}

/* Copies the READs with landing offsets as in a ring of one slot. */
static void copy_reads(struct record_read *to, const struct scraper *scraper)
{
	const struct dart_read *read = scraper->reads;
	const size_t before = scraper__header_read(scraper)->landing +
			      scraper__header_read(scraper)->length -
			      scraper__landing_size(scraper);
	uint32_t i;

	for (i = 0; i < scraper->read_count; i++, read++)
		to[i] = (struct record_read){
			.address = htole64(read->address),
			.landing = htole64(read->landing - before),
			.length = htole32(read->length),
			.rkey = htole32(read->rkey),
		};
}

static struct recorder_item *
make_table(struct recorder *recorder, const struct target_settings *target, const struct ring *ring)
{
	const struct scraper *scraper = ring->scraper;
	const struct entry_names *names = target->entries;
	const size_t reads = scraper->read_count * sizeof(struct record_read);
	const size_t table = record__align(ring->table.length);
	struct record_table *record;
	struct recorder_item *item;
	char *at;
	size_t i;

	item = item__new(RECORD_TABLE, target,
			 sizeof(*record) + reads + table + names_length(names));
	if (!item)
		return NULL;
	item->table = atomic_fetch_add(&recorder->tables, 1) + 1;
	record = (struct record_table *)item->record;
	*record = (struct record_table){
		.head = record->head,
		.read_count = htole32(scraper->read_count),
		.number = htole64(item->table),
		.table_length = htole32(ring->table.length),
		.landing_length = htole32(scraper__landing_size(scraper)),
		.names_length = htole32(names_length(names)),
	};
	copy_reads((struct record_read *)(record + 1), scraper);
	at = (char *)(record + 1) + reads;
	memset(at + ring->table.length, 0, table - ring->table.length);
	memcpy(at, ring->table.bytes, ring->table.length);
	at += table;
	for (i = 0; names && i < names->count; i++)
		at = stpcpy(at, names->names[i]) + 1;
	return item;
}

/*
 * Passes the table of @ring to the thread, once.  If that fails, it returns false, and the next
 * scrape tries again.
 */
static bool recorder__take_table(struct recorder *recorder, const struct target_settings *target,
				 struct ring *ring)
{
	struct recorder_item *item;

	if (!ring->table.bytes)
		return ring->table.number;
	item = make_table(recorder, target, ring);
	if (!item)
		return false;
	ring->table.number = item->table;
	if (!recorder__put(recorder, item)) {
		free(item);
		return false;
	}
	free(ring->table.bytes);
	ring->table.bytes = NULL;
	return true;
}

static struct recorder_item *make_scrape(const struct target_settings *target,
					 const struct ring *ring, const void *landing,
					 const struct sample *sample)
{
	const struct sample_head *head = &sample->head;
	const size_t length = scraper__landing_size(ring->scraper);
	struct record_scrape *record;
	struct recorder_item *item;

	item = item__new(RECORD_SCRAPE, target, sizeof(*record) + length);
	if (!item)
		return NULL;
	item->time_ns = head->time_ns;
	item->table = ring->table.number;
	record = (struct record_scrape *)item->record;
	*record = (struct record_scrape){
		.head = record->head,
		.table = htole64(item->table),
		.sequence = htole64(head->sequence),
		.time_ns = htole64(head->time_ns),
		.start_ns = htole64(head->start_ns),
		.landed_ns = htole64(head->landed_ns),
		.end_ns = htole64(sample->end_ns),
		.clock_offset_ns = htole64(head->clock_offset_ns),
		.clock_uncertainty_ns = htole64(head->clock_uncertainty_ns),
		.bytes = htole64(head->bytes),
		.failed = htole64(head->failed),
		.missed = htole64(head->missed),
		.reads = htole32(head->reads),
		.landing_length = htole32(length),
		.flags = htole32(RECORD_SCRAPE_OWN_TIME),
	};
	memcpy(record + 1, landing, length);
	return item;
}

static void on_landed(struct tap *tap, const struct target_settings *target, struct ring *ring,
		      const void *landing, const struct sample *sample)
{
	struct recorder *recorder = recorder_of(tap);
	struct recorder_item *item = NULL;

	if (atomic_load(&recorder->has_ended))
		return;
	if (recorder__take_table(recorder, target, ring))
		item = make_scrape(target, ring, landing, sample);
	if (item && recorder__put(recorder, item))
		return;
	free(item);
	recorder__drop(recorder);
}

static const struct tap_operations operations = {
	.added = on_added,
	.removed = on_removed,
	.landed = on_landed,
	.lost = on_lost,
};

int recorder__open(const struct settings_record *settings, struct output *log,
		   struct recorder **recorderp, struct dart_error *error)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err;

	if (!recorder)
		return dart_error__no_memory(error);
	recorder->tap.operations = &operations;
	recorder->settings = settings_record__complete(settings);
	recorder->log = log;
	output_error_holder__open(&recorder->last_error);
	block__open(&recorder->block, recorder->settings.size);
	err = record_file__open(&recorder->file, &recorder->settings, error);
	if (err)
		goto err_close_file;
	err = queue__open(&recorder->queue, RECORDER_BYTES);
	recorder->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!err && recorder->event < 0)
		err = -errno;
	if (!err)
		err = thread__start(&recorder->thread, "recorder", recorder__run, recorder);
	if (err) {
		dart_error__system(error, -err, "cannot begin to record");
		goto err_close_queue;
	}
	*recorderp = recorder;
	return 0;

err_close_queue:
	queue__close(&recorder->queue);
	if (recorder->event >= 0)
		close(recorder->event);
err_close_file:
	record_file__close(&recorder->file);
	output_error_holder__close(&recorder->last_error);
	free(recorder);
	return err;
}

struct tap *recorder__tap(struct recorder *recorder)
{
	return &recorder->tap;
}

int recorder__event_fd(const struct recorder *recorder)
{
	return recorder->event;
}

void recorder__figures(void *data, struct output_figures *figures)
{
	struct recorder *recorder = data;

	output_figures__name(figures, "record", recorder->settings.path);
	output_figures__set(figures, OUTPUT_QUEUE_BYTES, queue__used(&recorder->queue));
	output_figures__set(figures, OUTPUT_QUEUE_LIMIT_BYTES, queue__bound(&recorder->queue));
	output_figures__set(figures, OUTPUT_RECORDED_SCRAPES, count__of(&recorder->scrapes));
	output_figures__set(figures, OUTPUT_DROPPED_SCRAPES, atomic_load(&recorder->dropped));
	output_figures__set(figures, OUTPUT_SENT_BYTES, count__of(&recorder->bytes));
	output_figures__set(figures, OUTPUT_FAILING,
			    atomic_load(&recorder->has_ended) ||
				    atomic_load(&recorder->is_failing));
	output_error_holder__copy(&recorder->last_error, &figures->error);
}

int recorder__close(struct recorder *recorder)
{
	int err;

	if (!recorder)
		return 0;
	queue__put_always(&recorder->queue, &recorder->end, 0);
	pthread_join(recorder->thread, NULL);
	err = atomic_load(&recorder->error);
	output__print(recorder->log,
		      "dart-controller: '%s': %llu scrapes recorded, %llu dropped, %llu bytes",
		      recorder->settings.path, (unsigned long long)count__of(&recorder->scrapes),
		      (unsigned long long)atomic_load(&recorder->dropped),
		      (unsigned long long)recorder->file.total);
	recorder__free_targets(recorder);
	block__close(&recorder->block);
	chunk_packer__close(&recorder->packer);
	record_file__close(&recorder->file);
	queue__close(&recorder->queue);
	close(recorder->event);
	output_error_holder__close(&recorder->last_error);
	free(recorder);
	return err;
}

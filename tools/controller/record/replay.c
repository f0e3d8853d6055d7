// SPDX-License-Identifier: GPL-2.0-only
/* Reads records, waits until they are due, and hands them over to the workers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <libdart/escape.h>

#include "pace.h"
#include "replay.h"
#include "replay_files.h"
#include "replay_targets.h"
#include "tools/controller/base/schedule.h"

/* Records that are replayed before the loop handles other events, such as a signal. */
#define TURN 64

/* Work item after all other items of a worker. */
struct mark {
	struct work work; /* first */
	struct replay *replay;
};

struct replay {
	struct replay_context context;
	struct decoder decoder;
	struct pace pace;
	struct timer timer; /* expires when the record is due */
	struct replay_files files;
	struct record record;
	bool has_record; /* @record is not replayed yet */
	struct replay_targets targets;
	struct work_batch batch;

	/* State while waiting for the workers. */
	struct mark *marks; /* one for each worker */
	atomic_uint marks_left;
	int passed_fd; /* eventfd that the last mark writes */
	sd_event_source *passed;
	bool is_idle; /* the workers finished all their items */

	struct dart_error refused; /* error of the first refused definition */
	unsigned int refusals;
	uint64_t left_out; /* scrapes without a table */
	struct dart_error failure; /* error while reading; empty if there is none */
};

static void on_marked(struct work *work)
{
	struct replay *replay = ((struct mark *)work)->replay;

	if (atomic_fetch_sub(&replay->marks_left, 1) == 1)
		eventfd_write(replay->passed_fd, 1);
}

/* Hands a mark to each worker. on_passed() continues once the workers reached all marks. */
static void replay__wait(struct replay *replay)
{
	const unsigned int count = replay->context.worker_count;
	unsigned int i;

	atomic_store(&replay->marks_left, count);
	for (i = 0; i < count; i++) {
		replay->marks[i].work.run = on_marked;
		replay->marks[i].replay = replay;
		workers__hand_over_always(replay->context.workers, i, &replay->marks[i].work);
	}
}

static void replay__refuse(struct replay *replay, const struct dart_error *error)
{
	if (!replay->refusals++)
		replay->refused = *error;
}

static void replay__take_target(struct replay *replay)
{
	const struct recorded_target *recorded = &replay->record.target;
	struct sink *sink = replay->context.sink;
	struct replay_target *target;
	struct dart_error error;

	/* Each file repeats the targets that it needs. */
	if (replay_targets__find(&replay->targets, recorded->number))
		return;
	if (replay_targets__add(&replay->targets, recorded, &replay->decoder, &target, &error))
		replay__refuse(replay, &error);
	else if (sink->operations->added)
		sink->operations->added(sink, &target->settings);
}

static void replay__take_table(struct replay *replay)
{
	const struct recorded_table *recorded = &replay->record.table;
	const struct scraper_use use = {
		.catalogs = replay->context.catalogs,
		.value_bytes = replay->context.value_bytes,
		.is_compared = replay->context.sink->compares,
	};
	struct replay_target *target;
	struct dart_error error;

	target = replay_targets__find(&replay->targets, recorded->target);
	if (!target || (target->ring && target->table == recorded->number))
		return;
	if (replay_targets__set_table(&replay->targets, target, recorded, &use, &error))
		replay__refuse(replay, &error);
}

/* Returns false if the workers hold all slots of the ring. */
static bool replay__take_scrape(struct replay *replay)
{
	const struct recorded_scrape *recorded = &replay->record.scrape;
	struct replay_target *target;
	struct scrape *scrape;

	target = replay_targets__find_table(&replay->targets, recorded->table);
	if (!target || recorded->landing_length != scraper__landing_size(target->ring->scraper)) {
		replay->left_out++;
		return true;
	}
	scrape = ring__current(target->ring);
	memcpy((void *)scrape->landing, recorded->landing, recorded->landing_length);
	/* 0 would mean now. */
	scrape->end_ns = recorded->end_ns ?: 1;
	if (!decoder__hand_over(&target->decoder, target->ring, &recorded->head, &replay->batch))
		return false;
	count__add(&target->summary.scrapes, 1);
	replay->is_idle = false;
	return true;
}

static void replay__take_loss(struct replay *replay)
{
	const struct recorded_loss *recorded = &replay->record.loss;
	char reason[RECORD_REASON_MAX + 1];
	struct replay_target *target;

	target = replay_targets__find(&replay->targets, recorded->target);
	if (!target)
		return;
	dart_escape__text(recorded->reason.bytes, recorded->reason.length, DART_ESCAPE_SENTENCE,
			  reason, sizeof(reason));
	replay->is_idle = false;
	/* If the recording contains further scrapes of the target, the next one follows at once. */
	if (decoder__lose(&target->decoder, reason) ||
	    decoder__report_down(&target->decoder, replay->record.time_ns, reason))
		sd_event_exit(replay->context.event, -ENOMEM);
}

static void replay__remove(struct replay *replay, struct replay_target *target)
{
	struct sink *sink = replay->context.sink;

	if (sink->operations->removed)
		sink->operations->removed(sink, &target->settings);
	replay_targets__remove(&replay->targets, target);
}

/* Returns false if the workers may hold scrapes of the target. */
static bool replay__take_removal(struct replay *replay)
{
	struct replay_target *target;

	target = replay_targets__find(&replay->targets, replay->record.loss.target);
	if (!target)
		return true;
	if (!replay->is_idle)
		return false;
	replay__remove(replay, target);
	return true;
}

/* Returns false if the record must be tried again after the workers finished. */
static bool replay__take(struct replay *replay)
{
	switch (replay->record.type) {
	case RECORD_TARGET:
		replay__take_target(replay);
		return true;
	case RECORD_TABLE:
		replay__take_table(replay);
		return true;
	case RECORD_SCRAPE:
		return replay__take_scrape(replay);
	case RECORD_LOST:
		replay__take_loss(replay);
		return true;
	case RECORD_REMOVED:
		return replay__take_removal(replay);
	}
	return true;
}

/*
 * Turns to the next file. If it belongs to another recording, the numbers of targets and tables
 * begin again.
 */
static bool replay__next_file(struct replay *replay)
{
	size_t i;

	if (replay_files__ends_recording(&replay->files)) {
		if (!replay->is_idle)
			return false;
		for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
			if (replay->targets.targets[i])
				replay__remove(replay, replay->targets.targets[i]);
		}
		pace__restart(&replay->pace);
	}
	replay_files__turn(&replay->files);
	return true;
}

/* Returns true with a record. Otherwise the replay waits for the workers, or the loop ends. */
static bool replay__fetch(struct replay *replay)
{
	int ret;

	while (!replay->has_record) {
		if (replay_files__at_end(&replay->files)) {
			if (replay->is_idle)
				replay->context.ended(replay->context.data);
			else
				replay__wait(replay);
			return false;
		}
		ret = replay_files__next(&replay->files, &replay->record, &replay->failure);
		if (ret < 0) {
			/* Replay the records that were read so far. */
			replay_files__skip_all(&replay->files);
			continue;
		}
		replay->failure.text[0] = '\0';
		if (ret > 0) {
			replay->has_record = true;
		} else if (!replay__next_file(replay)) {
			replay__wait(replay);
			return false;
		}
	}
	return true;
}

static uint64_t replay__due_ns(struct replay *replay, uint64_t now_ns)
{
	const struct record *record = &replay->record;

	switch (record->type) {
	case RECORD_SCRAPE:
		return pace__due_ns(&replay->pace, record->scrape.head.landed_ns, now_ns);
	case RECORD_LOST:
	case RECORD_REMOVED:
		return pace__due_ns(&replay->pace, record->loss.monotonic_ns, now_ns);
	default:
		return now_ns;
	}
}

static void replay__run(struct replay *replay)
{
	uint64_t now_ns, due_ns;
	unsigned int turn;

	for (turn = 0; turn < TURN; turn++) {
		if (!replay__fetch(replay))
			return;
		now_ns = monotonic_ns();
		due_ns = replay__due_ns(replay, now_ns);
		if (due_ns > now_ns) {
			timer__set_at(&replay->timer, due_ns);
			return;
		}
		if (!replay__take(replay)) {
			replay__wait(replay);
			return;
		}
		replay->has_record = false;
	}
	timer__set(&replay->timer, 0);
}

static void on_due(void *data)
{
	struct replay *replay = data;

	replay__run(replay);
	work_batch__end(&replay->batch);
}

static int on_passed(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct replay *replay = data;
	eventfd_t count;

	eventfd_read(fd, &count);
	/* From here on this thread sees everything that the workers did before their marks. */
	if (atomic_load(&replay->marks_left))
		return 0;
	replay->is_idle = true;
	on_due(replay);
	return 0;
}

int replay__new(const struct replay_context *context, struct replay **replayp,
		struct dart_error *error)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int err;

	if (!replay)
		return dart_error__no_memory(error);
	replay->context = *context;
	replay->decoder = (struct decoder){
		.workers = context->workers,
		.sink = context->sink,
	};
	replay->pace.speed = context->options->speed;
	replay->targets.ring_sizes_max =
		(uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;
	replay->is_idle = true;
	timer__init(&replay->timer, context->timers, on_due, replay);
	replay->marks = calloc(context->worker_count, sizeof(*replay->marks));
	replay->passed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!replay->marks)
		err = -ENOMEM;
	else if (replay->passed_fd < 0)
		err = -errno;
	else
		err = sd_event_add_io(context->event, &replay->passed, replay->passed_fd, EPOLLIN,
				      on_passed, replay);
	err = err < 0 ? dart_error__system(error, -err, "cannot replay") :
			replay_files__open(&replay->files, context->options, error);
	if (err) {
		replay__free(replay);
		return err;
	}
	timer__set(&replay->timer, 0);
	*replayp = replay;
	return 0;
}

bool replay__report(const struct replay *replay, struct output *log)
{
	const bool is_whole = replay_files__report(&replay->files, log) && !*replay->failure.text &&
			      !replay->refusals;

	if (replay->refusals)
		output__print(
			log,
			"dart-controller: %u agents or tables cannot be replayed, the first as %s",
			replay->refusals, replay->refused.text);
	/* If something was damaged or refused, that explains the missing tables. */
	if (replay->left_out && is_whole)
		output__print(
			log,
			"dart-controller: %llu scrapes have no table in these files, and were left out",
			(unsigned long long)replay->left_out);
	if (*replay->failure.text)
		output__print(log, "dart-controller: %s", replay->failure.text);
	return is_whole && !replay->left_out;
}

void replay__free(struct replay *replay)
{
	size_t i;

	if (!replay)
		return;
	timer__stop(&replay->timer);
	sd_event_source_disable_unref(replay->passed);
	if (replay->passed_fd >= 0)
		close(replay->passed_fd);
	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		if (replay->targets.targets[i])
			replay_targets__remove(&replay->targets, replay->targets.targets[i]);
	}
	replay_files__close(&replay->files);
	free(replay->marks);
	free(replay);
}

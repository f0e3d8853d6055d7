// SPDX-License-Identifier: GPL-2.0-only
/* Outputs that push: what workers and the control loop call.  See push.h. */
#include "push.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "push_private.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/base/thread.h"
#include "tools/controller/push/formats/remote_write.h"

static struct push *push_of(const struct metric_output *output)
{
	return (struct push *)output;
}

/* In any thread: its memory was counted when it was made. */
static void take_block(void *data, struct block *block)
{
	struct push *push = data;

	queue__put_always(&push->queue, &block->item, 0);
}

/* NULL if there is no memory. */
static struct series *series_of(struct series **all,
				const struct target_settings *target)
{
	struct series **series = all + target->index;

	if (!*series)
		*series = series__new();
	return *series;
}

static void add_scrape(struct push *push, struct series **all,
		       const struct target_settings *target,
		       const struct metric_scrape *scrape)
{
	struct series *series = series_of(all, target);

	if (series)
		series__add(series, &push->rules, target, push->settings.labels,
			    scrape, monotonic_ns());
	else
		atomic_fetch_add(&push->rules.dropped,
				 scrape->plan->series_count);
}

static void on_scrape(struct metric_output *output,
		      const struct target_settings *target,
		      const struct metric_scrape *scrape)
{
	struct push *push = push_of(output);

	add_scrape(push, push->series, target, scrape);
}

static void on_up(struct metric_output *output,
		  const struct target_settings *target,
		  const struct metric_scrape *scrape)
{
	struct push *push = push_of(output);

	add_scrape(push, push->ups, target, scrape);
}

static void on_lost(struct metric_output *output,
		    const struct target_settings *target,
		    const struct metric_plan *plan, int64_t time_ns,
		    const char *reason)
{
	struct push *push = push_of(output);
	struct series *series = push->series[target->index];

	if (series)
		series__end(series, &push->rules, time_ns);
}

static void remove_series(struct push *push, struct series **all,
			  const struct target_settings *target)
{
	struct series *series = all[target->index];
	struct timespec now;

	if (!series)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	series__end(series, &push->rules,
		    now.tv_sec * 1000000000LL + now.tv_nsec);
	series__free(series, &push->rules);
	all[target->index] = NULL;
}

static void on_removed(struct metric_output *output,
		       const struct target_settings *target)
{
	struct push *push = push_of(output);

	remove_series(push, push->series, target);
	remove_series(push, push->ups, target);
}

/* All but the thread. */
static void destroy(struct push *push)
{
	struct queue_item *item;
	size_t i;

	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		series__free(push->series[i], &push->rules);
		series__free(push->ups[i], &push->rules);
	}
	while ((item = queue__take(&push->queue))) {
		if (item != &push->end && item != &push->hurry)
			block__free(caa_container_of(item, struct block, item));
	}
	queue__close(&push->queue);
	if (push->ended_fd >= 0)
		close(push->ended_fd);
	ended__close(&push->rules.ended);
	pthread_cond_destroy(&push->rules.room_is_made);
	pthread_mutex_destroy(&push->rules.lock);
	output_error_holder__close(&push->error);
	refusals__close(&push->refusals);
	poster__free(push->poster);
	backlog__clear(&push->backlog);
	encoder__free(&push->encoder);
	receiver_settings__clear(&push->settings);
	free(push->name);
	free(push);
}

void push__set_waits(struct metric_output *output, bool waits)
{
	struct push *push = push_of(output);
	const bool waited = atomic_load(&push->rules.waits);

	series_rules__set_waits(&push->rules, waits);
	if (waited && !waits)
		queue__put_always(&push->queue, &push->hurry, 0);
}

void push__end(struct metric_output *output)
{
	struct push *push = push_of(output);
	size_t i;

	if (push->was_ended)
		return;
	push->was_ended = true;
	/* What has not waited long enough for further scrapes.  Nothing has ended. */
	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		series__free(push->series[i], &push->rules);
		series__free(push->ups[i], &push->rules);
		push->series[i] = NULL;
		push->ups[i] = NULL;
	}
	queue__put_always(&push->queue, &push->end, 0);
}

int push__event_fd(const struct metric_output *output)
{
	return push_of(output)->ended_fd;
}

static void free_push(struct metric_output *output)
{
	struct push *push = push_of(output);

	push__set_waits(output, false);
	push__end(output);
	pthread_join(push->thread, NULL);
	destroy(push);
}

static const struct metric_output_operations push_operations = {
	.scrape = on_scrape,
	.lost = on_lost,
	.up = on_up,
	.removed = on_removed,
	.free = free_push,
};

static void set_rules(struct push *push)
{
	const struct receiver_settings *settings = &push->settings;
	const bool is_influx = settings->kind == RECEIVER_INFLUX;

	push->rules.precision_ns = is_influx ? 1 : REMOTE_WRITE_NS;
	push->rules.has_markers = !is_influx;
	push->rules.delay_ns = settings->delay_ns == RECEIVER_DELAY_NONE ?
				       0 :
				       settings->delay_ns;
	push->rules.batch = settings->batch;
	push->rules.bound = settings->queue_bytes;
	push->rules.take = take_block;
	push->rules.data = push;
	push->encoder.batch = settings->batch;
	push->encoder.format = is_influx	      ? MESSAGE_INFLUX :
			       settings->version == 1 ? MESSAGE_REMOTE_WRITE_1 :
							MESSAGE_REMOTE_WRITE_2;
	push->encoder.lanes = 1;
	senders__open(&push->senders, settings->senders);
	push->encoder.refusals = &push->refusals;
	push->may_be_older = !is_influx && !settings->version;
	push->backlog.bound = settings->queue_bytes;
	/* For the jitter: different in each process and for each output. */
	push->random = dart_random__of(monotonic_ns() ^ (uintptr_t)push);
}

static int open_spool(struct push *push, struct dart_error *error)
{
	const struct receiver_settings *settings = &push->settings;
	struct spool *spool;
	const int ret = spool__open(
		settings->spool, settings->spool_bytes,
		settings->spool_sync_ns == RECEIVER_SYNC_ALWAYS, &spool, error);

	if (!ret)
		backlog__set_spool(&push->backlog, spool);
	return ret;
}

int push__new(const struct receiver_settings *settings, struct output *log,
	      struct metric_output **output, struct dart_error *error)
{
	struct push *push = calloc(1, sizeof(*push));
	int ret;

	if (!push)
		return dart_error__no_memory(error);
	push->output.operations = &push_operations;
	push->log = log;
	pthread_mutex_init(&push->rules.lock, NULL);
	pthread_cond_init(&push->rules.room_is_made, NULL);
	refusals__open(&push->refusals);
	output_error_holder__open(&push->error);
	ended__open(&push->rules.ended);
	push->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (push->ended_fd < 0) {
		ret = dart_error__system(error, errno, "cannot make an eventfd");
		destroy(push);
		return ret;
	}
	if (queue__open(&push->queue, SIZE_MAX) ||
	    receiver_settings__copy(&push->settings, settings)) {
		destroy(push);
		return dart_error__no_memory(error);
	}
	ret = receiver_settings__complete(&push->settings, error);
	if (!ret) {
		push->name = receiver_settings__name(&push->settings);
		ret = push->name ? 0 : dart_error__no_memory(error);
	}
	if (!ret)
		ret = poster__new(&push->settings, push->settings.senders,
				  &push->poster, error);
	if (!ret && push->settings.spool)
		ret = open_spool(push, error);
	if (!ret) {
		set_rules(push);
		ret = thread__start(&push->thread, "push", push__run, push);
		if (ret)
			dart_error__system(error, -ret,
					   "cannot start a thread");
	}
	if (ret)
		destroy(push);
	else
		*output = &push->output;
	return ret;
}

void push__counts(struct metric_output *output, struct push_counts *counts)
{
	struct push *push = push_of(output);

	*counts = (struct push_counts){
		.sent = count__of(&push->sent),
		.refused = count__of(&push->refused),
		.dropped = count__of(&push->dropped) +
			   atomic_load(&push->rules.dropped),
		.unsent = count__of(&push->unsent),
		.repeated = atomic_load(&push->rules.repeated),
		.older = atomic_load(&push->rules.older),
		.requests = count__of(&push->requests),
		.retries = count__of(&push->retries),
		.bytes = count__of(&push->bytes),
		.waiting = count__of(&push->waiting),
		.queue_bytes = count__of(&push->backlog_bytes) +
			       atomic_load(&push->rules.bytes),
		.spool_bytes = count__of(&push->spool_bytes),
		.damaged_bytes = count__of(&push->damaged_bytes),
		.spool_failures = count__of(&push->spool_failures),
		.is_failing = atomic_load(&push->is_failing),
	};
}

static void add_refusal(void *data, const char *host, const char *reason, uint64_t samples)
{
	struct output_figures *figures = data;

	output_figures__lose(figures, &figures->refused, reason, *host ? host : NULL, samples,
			     false);
}

static void set_losses(struct push *push, struct output_figures *figures)
{
	const bool has_spool = push->settings.spool;
	const uint64_t failed = count__of(&push->failed);
	const uint64_t damaged = count__of(&push->damaged);
	const uint64_t full = count__of(&push->dropped) - failed - damaged;
	const uint64_t early = atomic_load(&push->rules.dropped);
	struct output_losses *dropped = &figures->dropped;

	output_figures__lose(figures, dropped, "queue_full", NULL,
			     early + (has_spool ? 0 : full), true);
	if (has_spool) {
		output_figures__lose(figures, dropped, "spool_full", NULL, full, true);
		output_figures__lose(figures, dropped, "spool_not_writable", NULL, failed, true);
		output_figures__lose(figures, dropped, "spool_damaged", NULL, damaged, true);
	}
	output_figures__lose(figures, dropped, "not_expressible", NULL, count__of(&push->unsent),
			     true);
	output_figures__lose(figures, dropped, "too_old", NULL,
			     atomic_load(&push->rules.older), true);
	/* Where no refusal has been, a rate has to begin at 0. */
	output_figures__lose(figures, &figures->refused, "other", NULL, 0, true);
	refusals__each(&push->refusals, add_refusal, figures);
}

void push__figures(void *data, struct output_figures *figures)
{
	struct push *push = push_of(data);
	const struct receiver_settings *settings = &push->settings;
	const uint64_t oldest_ns = count__of(&push->oldest_ns);
	struct push_counts counts;

	push__counts(data, &counts);
	output_figures__name(figures,
			     settings->kind == RECEIVER_INFLUX ? "influx" : "remote_write",
			     push->name);
	output_figures__set(figures, OUTPUT_WAITING_SAMPLES, counts.waiting);
	output_figures__set(figures, OUTPUT_OLDEST_WAITING_NS,
			    oldest_ns ? monotonic_ns() - oldest_ns : 0);
	output_figures__set(figures, OUTPUT_QUEUE_BYTES, counts.queue_bytes);
	/* Blocks and messages are bounded each by themselves. */
	output_figures__set(figures, OUTPUT_QUEUE_LIMIT_BYTES,
			    (settings->spool ? 1 : 2) * settings->queue_bytes);
	if (settings->spool) {
		output_figures__set(figures, OUTPUT_SPOOL_BYTES, counts.spool_bytes);
		output_figures__set(figures, OUTPUT_SPOOL_LIMIT_BYTES, settings->spool_bytes);
	}
	output_figures__set(figures, OUTPUT_FAILING, counts.is_failing);
	output_figures__set(figures, OUTPUT_SENT_SAMPLES, counts.sent);
	output_figures__set(figures, OUTPUT_SENT_BYTES, counts.bytes);
	output_figures__set(figures, OUTPUT_REQUESTS, counts.requests);
	output_figures__set(figures, OUTPUT_RETRIES, counts.retries);
	output_figures__set(figures, OUTPUT_REPEATED_SAMPLES, counts.repeated);
	set_losses(push, figures);
	output_error_holder__copy(&push->error, &figures->error);
}

const char *push__name(const struct metric_output *output)
{
	return push_of(output)->name;
}

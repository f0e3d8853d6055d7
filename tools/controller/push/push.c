// SPDX-License-Identifier: GPL-2.0-only
/* Outputs that push: the functions that workers and the control loop call.  See push.h. */
#include "push.h"

#include <stdlib.h>
#include <time.h>

#include <libdart/clock.h>

#include "credentials.h"
#include "delivery.h"
#include "tools/controller/base/schedule.h"

struct push {
	struct metric_output output;
	struct delivery delivery;
	/* By index of the target; an element belongs to the worker that handles its target. */
	struct series *series[SETTINGS_TARGETS_MAX];
	/* The series up and dart_up, which go on after the others ended. */
	struct series *ups[SETTINGS_TARGETS_MAX];
	bool was_ended; /* by push__end() */
};

static struct push *push_of(const struct metric_output *output)
{
	return (struct push *)output;
}

/* NULL if there is no memory. */
static struct series *series_of(struct series **all, const struct target_settings *target)
{
	struct series **series = all + target->index;

	if (!*series)
		*series = series__new();
	return *series;
}

static void add_scrape(struct push *push, struct series **all, const struct target_settings *target,
		       const struct metric_scrape *scrape)
{
	struct series *series = series_of(all, target);

	if (series)
		series__add(series, &push->delivery.rules, target, push->delivery.settings.labels,
			    scrape, monotonic_ns());
	else
		atomic_fetch_add(&push->delivery.rules.dropped, scrape->plan->series_count);
}

static void on_scrape(struct metric_output *output, const struct target_settings *target,
		      const struct metric_scrape *scrape)
{
	struct push *push = push_of(output);
	struct series *series = series_of(push->series, target);

	if (series)
		series__limit(series, &push->delivery.rules);
	add_scrape(push, push->series, target, scrape);
}

static void on_up(struct metric_output *output, const struct target_settings *target,
		  const struct metric_scrape *scrape)
{
	struct push *push = push_of(output);
	struct series *series = series_of(push->ups, target);

	if (series)
		series__keep_changes(series);
	add_scrape(push, push->ups, target, scrape);
}

static void on_lost(struct metric_output *output, const struct target_settings *target,
		    const struct metric_plan *plan, int64_t time_ns, const char *reason)
{
	struct push *push = push_of(output);
	struct series *series = push->series[target->index];

	if (series)
		series__end(series, &push->delivery.rules, time_ns);
}

static void remove_series(struct push *push, struct series **all,
			  const struct target_settings *target)
{
	struct series *series = all[target->index];

	if (!series)
		return;
	/*
	 * Marked just after the last sample: another controller may scrape the target by now, and
	 * push samples of the same series that are older than this moment.
	 */
	series__end(series, &push->delivery.rules, 0);
	series__free(series, &push->delivery.rules);
	all[target->index] = NULL;
}

static void on_removed(struct metric_output *output, const struct target_settings *target)
{
	struct push *push = push_of(output);

	remove_series(push, push->series, target);
	remove_series(push, push->ups, target);
}

void push__set_validity(struct metric_output *output, const struct validity *validity)
{
	atomic_store(&push_of(output)->delivery.validity, validity);
}

void push__set_rewriter(struct metric_output *output, struct metric_rewriter *rewriter)
{
	series_rules__set_rewriter(&push_of(output)->delivery.rules, rewriter);
}

void push__set_waits(struct metric_output *output, bool waits)
{
	delivery__set_waits(&push_of(output)->delivery, waits);
}

void push__end(struct metric_output *output)
{
	struct push *push = push_of(output);
	size_t i;

	if (push->was_ended)
		return;
	push->was_ended = true;
	/* Hands over blocks that still wait for scrapes.  No series ends. */
	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		series__free(push->series[i], &push->delivery.rules);
		series__free(push->ups[i], &push->delivery.rules);
		push->series[i] = NULL;
		push->ups[i] = NULL;
	}
	delivery__end(&push->delivery);
}

int push__event_fd(const struct metric_output *output)
{
	return push_of(output)->delivery.ended_fd;
}

static void free_push(struct metric_output *output)
{
	struct push *push = push_of(output);

	push__set_waits(output, false);
	push__end(output);
	delivery__close(&push->delivery);
	free(push);
}

static const struct metric_output_operations push_operations = {
	.scrape = on_scrape,
	.lost = on_lost,
	.up = on_up,
	.removed = on_removed,
	.free = free_push,
};

int push__check(const struct receiver_settings *settings, struct dart_error *error)
{
	return credentials__check_files(settings, error);
}

int push__new(const struct receiver_settings *settings, struct output *log,
	      struct metric_output **output, struct dart_error *error)
{
	struct push *push = calloc(1, sizeof(*push));
	int ret;

	if (!push)
		return dart_error__no_memory(error);
	push->output.operations = &push_operations;
	ret = delivery__open(&push->delivery, settings, log, error);
	if (ret) {
		delivery__close(&push->delivery);
		free(push);
		return ret;
	}
	*output = &push->output;
	return 0;
}

void push__counts(struct metric_output *output, struct push_counts *counts)
{
	struct delivery *delivery = &push_of(output)->delivery;

	*counts = (struct push_counts){
		.sent = count__of(&delivery->sent),
		.refused = count__of(&delivery->refused),
		.dropped = count__of(&delivery->dropped) + atomic_load(&delivery->rules.dropped) +
			   atomic_load(&delivery->rules.limit.dropped),
		.unsent = count__of(&delivery->unsent),
		.repeated = atomic_load(&delivery->rules.repeated),
		.older = atomic_load(&delivery->rules.older),
		.requests = count__of(&delivery->requests),
		.retries = count__of(&delivery->retries),
		.bytes = count__of(&delivery->bytes),
		.waiting = count__of(&delivery->waiting),
		.queue_bytes =
			count__of(&delivery->backlog_bytes) + atomic_load(&delivery->rules.bytes),
		.spool_bytes = count__of(&delivery->spool_bytes),
		.damaged_bytes = count__of(&delivery->damaged_bytes),
		.spool_failures = count__of(&delivery->spool_failures),
		.is_failing = atomic_load(&delivery->is_failing),
	};
}

static void add_refusal(void *data, const char *host, const char *reason, uint64_t samples)
{
	struct output_figures *figures = data;

	output_figures__lose(figures, &figures->refused, reason, *host ? host : NULL, samples,
			     false);
}

static void set_losses(struct delivery *delivery, struct output_figures *figures)
{
	const bool has_spool = delivery->settings.spool;
	const uint64_t failed = count__of(&delivery->failed);
	const uint64_t damaged = count__of(&delivery->damaged);
	const uint64_t full = count__of(&delivery->dropped) - failed - damaged;
	const uint64_t early = atomic_load(&delivery->rules.dropped);
	struct output_losses *dropped = &figures->dropped;

	output_figures__lose(figures, dropped, "queue_full", NULL, early + (has_spool ? 0 : full),
			     true);
	if (has_spool) {
		output_figures__lose(figures, dropped, "spool_full", NULL, full, true);
		output_figures__lose(figures, dropped, "spool_not_writable", NULL, failed, true);
		output_figures__lose(figures, dropped, "spool_damaged", NULL, damaged, true);
	}
	output_figures__lose(figures, dropped, "not_expressible", NULL,
			     count__of(&delivery->unsent), true);
	output_figures__lose(figures, dropped, "too_old", NULL, atomic_load(&delivery->rules.older),
			     true);
	if (delivery->rules.limit.samples || delivery->rules.limit.agent_samples)
		output_figures__lose(figures, dropped, "rate_limit", NULL,
				     atomic_load(&delivery->rules.limit.dropped), true);
	output_figures__lose(figures, dropped, "relabelled", NULL,
			     atomic_load(&delivery->rules.equal), false);
	/* Without a refusal so far, a rate must begin at 0. */
	output_figures__lose(figures, &figures->refused, "other", NULL, 0, true);
	refusals__each(&delivery->refusals, add_refusal, figures);
}

void push__figures(void *data, struct output_figures *figures)
{
	struct delivery *delivery = &push_of(data)->delivery;
	const struct receiver_settings *settings = &delivery->settings;
	const uint64_t oldest_ns = count__of(&delivery->oldest_ns);
	struct push_counts counts;

	push__counts(data, &counts);
	output_figures__name(figures, settings->format, delivery->name);
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
	if (settings->samples_per_second || settings->agent_samples_per_second)
		output_figures__set(figures, OUTPUT_OVER_LIMIT,
				    atomic_load(&delivery->rules.limit.over));
	set_losses(delivery, figures);
	output_error_holder__copy(&delivery->notices.error, &figures->error);
}

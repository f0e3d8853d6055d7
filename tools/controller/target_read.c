// SPDX-License-Identifier: GPL-2.0-only
/* READs the table and the values of a connected target. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <libdart/error.h>

#include "decode/budget.h"
#include "target_private.h"

static void target__post(struct target *target, enum target_state state,
			 const struct dart_read *reads, uint32_t count)
{
	int err;

	target->state = state;
	err = flow__read(&target->flow, reads, count);
	if (err)
		target__lose(target, "cannot post a READ: %s", strerror(-err));
}

static bool target__has_room(struct target *target, size_t size, int err)
{
	if (!err)
		return true;
	target__lose(target, "cannot reserve %zu bytes: %s%s", size,
		     strerror(-err),
		     err == -ENOMEM ? " (check ulimit -l)" : "");
	return false;
}

/* For the table. */
static bool target__reserve(struct target *target, size_t size)
{
	int err;

	err = dart_endpoint__reserve(target->endpoint, size, &target->landing);
	return target__has_room(target, size, err);
}

/* For values. */
static bool target__land_in_ring(struct target *target)
{
	struct ring *ring = target->ring;
	int err = 0;

	if (!target->ring_landing)
		err = dart_endpoint__register(target->endpoint, ring->memory,
					      ring__size(ring),
					      &target->ring_landing);
	err = err ?: dart_endpoint__land_at(target->endpoint,
					    target->ring_landing);
	return target__has_room(target, ring__size(ring), err);
}

void target__fetch_table(struct target *target)
{
	timer__stop(&target->retry_timer);
	target->age.fetched_ns = monotonic_ns();
	if (target__reserve(target, target->fetch.read.length))
		target__post(target, TARGET_FETCHING, &target->fetch.read, 1);
}

/* At once, or as soon as the table may be fetched again. */
static void target__renew_table(struct target *target)
{
	uint64_t due_ns = table_age__due(&target->age);
	uint64_t now_ns = monotonic_ns();

	/* The last READ found the table in the middle of a change. */
	if (target->fetch.tries)
		due_ns = target->age.fetched_ns +
			 fetch__delay_us(&target->fetch) * 1000;
	if (due_ns <= now_ns)
		target__fetch_table(target);
	else
		timer__set_at(&target->retry_timer, due_ns);
}

static void target__scrape_values(struct target *target)
{
	if (!target__land_in_ring(target))
		return;
	target__post(target, TARGET_SCRAPING, target->scraper->reads,
		     target->scraper->read_count);
}

/*
 * If the table was last known to be current too long ago, its header is checked
 * first, or if it has changed, the table fetched.
 */
void target__start_scraping(struct target *target)
{
	target->scrape_pending = true;
	if (table_age__permits(&target->age, monotonic_ns())) {
		target__scrape_values(target);
	} else if (target->age.changed) {
		target->state = TARGET_FETCHING;
		target__renew_table(target);
	} else if (target__land_in_ring(target)) {
		target__post(target, TARGET_CHECKING,
			     scraper__header_read(target->scraper), 1);
	}
}

/* READs what is due: values rather than a table. */
static void target__proceed(struct target *target)
{
	target->state = TARGET_IDLE;
	if (target->scrape_pending)
		target__start_scraping(target);
	else if (target->age.changed)
		target__renew_table(target);
}

static void target__enter_idle(struct target *target)
{
	if (!target->context->options->once)
		timer__stop(&target->connect_timeout);
	if (target__start_schedule(target))
		target->scrape_pending = true;
	target__proceed(target);
}

/* Entries scraped so far that @table no longer has: the first, and how many. */
static void target__log_removed(const struct target *target,
				const struct dart_table *table)
{
	const struct settings *settings = &target->context->options->settings;
	const char *first = NULL;
	uint32_t gone;

	/* Entries chosen by name are reported as absent instead. */
	if (settings->entry_count)
		return;
	gone = dart_table__count_removed(target->scraper->table, table, &first);
	if (gone == 1)
		target__log(target, "entry '%s' no longer exists", first);
	else if (gone)
		target__log(target, "entry '%s' and %u others no longer exist",
			    first, gone - 1);
}

static void target__take_table(struct target *target, struct dart_table *table)
{
	const struct options *options = target->context->options;
	bool first = !target->scraper;
	struct dart_error error;
	const char *absent;

	target->age.lease_ns = table->lease_ms * 1000000ULL;
	table_age__renew(&target->age, target->posted_ns);
	if (!first)
		target__log_removed(target, table);
	target__drop_table(target);
	if (scraper__new(table, &options->settings,
			 options->once && !options->json ? BUDGET_CELL_BYTES :
							   BUDGET_TEXT_BYTES,
			 dart_endpoint__accept(target->endpoint),
			 &target->scraper, &error)) {
		target__lose(target, "%s", error.text);
		return;
	}
	target->ring = ring__new(target->scraper);
	if (!target->ring) {
		target->scraper = NULL;
		target__lose(target, "out of memory");
		return;
	}
	if (!target__land_in_ring(target))
		return;
	target__count(target, target->scraper->bytes);
	absent = target->scraper->absent;
	if (absent && options->once) {
		target__lose(target,
			     "no entry '%s' (see dartctl list on the host)",
			     absent);
		return;
	}

	target->last_error.text[0] = '\0';
	if (!options->once)
		target__log(target, "%s, generation %llu, entries %u",
			    first ? "connected" : "table changed",
			    (unsigned long long)table->generation,
			    table->entry_count);
	if (absent)
		target__log(target, "no entry '%s' yet", absent);
	target__enter_idle(target);
}

/* Values that are due meanwhile are READ by the table before. */
static void target__fetch_later(struct target *target,
				const struct dart_error *error)
{
	int err = 0;

	if (!target->scraper) {
		timer__set(&target->retry_timer,
			   fetch__delay_us(&target->fetch));
		return;
	}
	if (target->fetch.tries == FETCH_TRIES_MAX) {
		target__log(target, "no values until the table settles: %s",
			    error->text);
		err = decoder__lose(&target->decoder, error->text);
	}
	if (err)
		target__finish(target, err);
	else
		target__proceed(target);
}

static void on_fetched(struct target *target)
{
	struct dart_error error;
	struct dart_table *table;

	switch (fetch__take(&target->fetch, target->landing, &table, &error)) {
	case FETCH_DONE:
		target__take_table(target, table);
		break;
	case FETCH_AGAIN:
		target__fetch_table(target);
		break;
	case FETCH_LATER:
		target__fetch_later(target, &error);
		break;
	case FETCH_REFUSED:
		target__lose(target, "%s", error.text);
		break;
	}
}

/* Compares the header that has landed: 0, 1 after a change, or lost (-1). */
static int target__check_header(struct target *target)
{
	const void *landing = ring__current(target->ring)->landing;

	switch (scraper__check(target->scraper, landing)) {
	case 0:
		table_age__renew(&target->age, target->posted_ns);
		return 0;
	case -ESTALE:
		target->age.changed = true;
		return 1;
	default:
		target__lose(target, "the agent has restarted");
		return -1;
	}
}

static void on_checked(struct target *target)
{
	int ret = target__check_header(target);

	if (!ret)
		target__scrape_values(target);
	else if (ret > 0)
		target__proceed(target);
}

/* Notes the time of the host when the READs were posted. */
static void target__date(const struct target *target, struct sample_head *head)
{
	const struct dart_endpoint_accept *accept =
		dart_endpoint__accept(target->endpoint);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	head->clock_offset_ns = accept->clock_offset_ns;
	head->clock_uncertainty_ns = accept->clock_uncertainty_ns;
	head->time_ns = now.tv_sec * 1000000000LL + now.tv_nsec -
			(int64_t)(monotonic_ns() - head->start_ns) +
			head->clock_offset_ns;
}

/* Counts a scrape with values, and leaves the rest to the worker of the target. */
static void target__hand_over(struct target *target, uint64_t landed_ns)
{
	struct summary *summary = &target->summary;
	struct sample_head head = {
		.sequence = ++summary->scrapes,
		.start_ns = target->posted_ns,
		.landed_ns = landed_ns,
		.reads = dart_endpoint__operations(target->endpoint,
						   target->scraper->reads,
						   target->scraper->read_count),
		.failed = summary->failed,
		.missed = summary->missed,
	};

	target__date(target, &head);
	summary->reads += head.reads;
	summary->bytes += target->scraper->bytes;
	latency__add(&summary->landed, landed_ns - head.start_ns);
	if (!decoder__hand_over(&target->decoder, target->ring, &head))
		summary->dropped++;
}

static void on_scraped(struct target *target)
{
	uint64_t landed_ns = monotonic_ns();
	int ret;

	ret = target__check_header(target);
	if (ret < 0)
		return;
	if (ret && !table_age__covers(&target->age, landed_ns)) {
		target->summary.discarded++;
		target__proceed(target);
		return;
	}
	target__hand_over(target, landed_ns);
	target->state = TARGET_IDLE;
	target->scrape_pending = false;
	target->backoff_us = TARGET_BACKOFF_MIN_US;
	if (!target__finish_if_done(target))
		target__proceed(target);
}

static int on_completion(sd_event_source *source, int fd, uint32_t events,
			 void *data)
{
	struct target *target = data;
	struct dart_error error;
	int ret;

	ret = flow__on_completion(&target->flow, &error);
	if (ret < 0) {
		target__lose(target, "%s", error.text);
		return 0;
	}
	if (!ret)
		return 0;

	target->posted_ns = target->flow.posted_ns;
	if (target->state == TARGET_FETCHING)
		on_fetched(target);
	else if (target->state == TARGET_SCRAPING)
		on_scraped(target);
	else if (target->state == TARGET_CHECKING)
		on_checked(target);
	return 0;
}

static void on_failed(struct flow *flow, int error)
{
	struct target *target =
		(struct target *)((char *)flow - offsetof(struct target, flow));

	target__lose(target, "cannot post a READ: %s", strerror(-error));
}

void target__on_connected(struct target *target)
{
	int err;

	err = sd_event_add_io(target->context->event, &target->completion,
			      dart_endpoint__completion_fd(target->endpoint),
			      EPOLLIN, on_completion, target);
	if (err < 0) {
		target__finish(target, err);
		return;
	}
	/* Before what can wait: drawing, scrapes of other targets. */
	sd_event_source_set_priority(target->completion,
				     SD_EVENT_PRIORITY_IMPORTANT);
	flow__open(&target->flow, target->context->flow_control,
		   target->settings->class, target->endpoint, on_failed);
	fetch__begin(&target->fetch, dart_endpoint__accept(target->endpoint));
	target->age = (struct table_age){ };
	target__fetch_table(target);
}

// SPDX-License-Identifier: GPL-2.0-only
/* READs the table and the values of a connected target. */
#include <errno.h>
#include <string.h>

#include <libdart/error.h>

#include "budget.h"
#include "target_private.h"

static void target__post(struct target *target, enum target_state state,
			 const struct dart_read *reads, uint32_t count)
{
	int err;

	target->state = state;
	target->posted_ns = monotonic_ns();
	err = dart_endpoint__read(target->endpoint, reads, count);
	if (err)
		target__lose(target, "cannot post a READ: %s", strerror(-err));
}

static bool target__reserve(struct target *target, size_t size)
{
	int err;

	err = dart_endpoint__reserve(target->endpoint, size, &target->landing);
	if (!err)
		return true;
	target__lose(target, "cannot reserve %zu bytes: %s%s", size,
		     strerror(-err),
		     err == -ENOMEM ? " (check ulimit -l)" : "");
	return false;
}

void target__fetch_table(struct target *target)
{
	if (target__reserve(target, target->fetch.read.length))
		target__post(target, TARGET_FETCHING, &target->fetch.read, 1);
}

static void target__scrape_values(struct target *target)
{
	target__post(target, TARGET_SCRAPING, target->scraper->reads,
		     target->scraper->read_count);
}

/*
 * A range stays valid for the table's lease after it left the table.  If the
 * last check was more than half a lease ago, the header is checked first.
 */
void target__start_scraping(struct target *target)
{
	uint64_t safe_ns =
		target->scraper->table->lease_ms * 1000000ULL / 2;

	target->scrape_pending = true;
	if (monotonic_ns() - target->checked_ns < safe_ns)
		target__scrape_values(target);
	else
		target__post(target, TARGET_CHECKING,
			     scraper__header_read(target->scraper), 1);
}

static void target__enter_idle(struct target *target)
{
	target->state = TARGET_IDLE;
	if (!target->context->options->once)
		target__set_timer(target->connect_timeout, 0);
	if (target__start_schedule(target) || target->scrape_pending)
		target__start_scraping(target);
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

	target->checked_ns = target->posted_ns;
	if (!first)
		target__log_removed(target, table);
	scraper__free(target->scraper);
	target->scraper = NULL;
	if (scraper__new(table, &options->settings,
			 options->once && !options->json ? BUDGET_CELL_BYTES :
							   BUDGET_TEXT_BYTES,
			 dart_endpoint__accept(target->endpoint),
			 &target->scraper, &error)) {
		target__lose(target, "%s", error.text);
		return;
	}
	if (!target__reserve(target, scraper__landing_size(target->scraper)))
		return;
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
		target__set_timer(target->retry_timer,
				  fetch__delay_us(&target->fetch));
		break;
	case FETCH_REFUSED:
		target__lose(target, "%s", error.text);
		break;
	}
}

/* True if the table has not changed; otherwise fetches it, or reconnects. */
static bool target__check_header(struct target *target)
{
	switch (scraper__check(target->scraper, target->landing)) {
	case 0:
		target->checked_ns = target->posted_ns;
		return true;
	case -ESTALE:
		target__fetch_table(target);
		return false;
	default:
		target__lose(target, "the agent has restarted");
		return false;
	}
}

static void on_scraped(struct target *target)
{
	struct sink *sink = target->context->sink;
	struct summary *summary = &target->summary;
	uint64_t landed_ns = monotonic_ns();
	struct sample *sample;
	int err;

	if (!target__check_header(target))
		return;
	target->fetch.tries = 0;
	sample = scraper__decode(target->scraper, target->landing);
	sample->sequence = ++summary->scrapes;
	sample->start_ns = target->posted_ns;
	sample->landed_ns = landed_ns;
	sample->end_ns = monotonic_ns();

	summary->reads += sample->reads;
	summary->bytes += sample->bytes;
	latency__add(&summary->landed, landed_ns - sample->start_ns);
	latency__add(&summary->decoded, sample->end_ns - sample->start_ns);
	target->state = TARGET_IDLE;
	target->scrape_pending = false;
	target->backoff_us = TARGET_BACKOFF_MIN_US;

	err = sink->operations->sample(sink, target->settings, sample, summary);
	if (err)
		target__finish(target, err);
	else
		target__finish_if_done(target);
}

static int on_completion(sd_event_source *source, int fd, uint32_t events,
			 void *data)
{
	struct target *target = data;
	struct dart_error error;
	int ret;

	ret = dart_endpoint__on_completion(target->endpoint, &error);
	if (ret < 0) {
		target__lose(target, "%s", error.text);
		return 0;
	}
	if (!ret)
		return 0;

	if (target->state == TARGET_FETCHING)
		on_fetched(target);
	else if (target->state == TARGET_SCRAPING)
		on_scraped(target);
	else if (target->state == TARGET_CHECKING &&
		 target__check_header(target))
		target__scrape_values(target);
	return 0;
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
	fetch__begin(&target->fetch, dart_endpoint__accept(target->endpoint));
	target__fetch_table(target);
}

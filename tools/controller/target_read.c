// SPDX-License-Identifier: GPL-2.0-only
/* An agent that is connected: its table and its values. */
#include <errno.h>
#include <string.h>

#include <libdart/error.h>

#include "target_private.h"

static void post(struct agent *agent, enum agent_state state,
		 const struct dart_read *reads, uint32_t count)
{
	struct dart_error error;
	int err;

	agent->state = state;
	agent->posted_ns = monotonic_ns();
	err = dart_endpoint__read(agent->endpoint, reads, count);
	if (err) {
		dart_error__set(&error, 0, "cannot post a READ: %s",
				strerror(-err));
		agent__lose(agent, error.text);
	}
}

static bool make_room(struct agent *agent, size_t size)
{
	struct dart_error error;
	int err;

	err = dart_endpoint__reserve(agent->endpoint, size, &agent->landing);
	if (!err)
		return true;
	dart_error__set(&error, 0, "no room for %zu bytes: %s%s", size,
			strerror(-err),
			err == -ENOMEM ? " (check ulimit -l)" : "");
	agent__lose(agent, error.text);
	return false;
}

void agent__fetch_table(struct agent *agent)
{
	if (make_room(agent, agent->fetch.read.length))
		post(agent, AGENT_FETCHING, &agent->fetch.read, 1);
}

static void scrape_values(struct agent *agent)
{
	const struct dart_read *reads;
	uint32_t count;

	reads = scrape__reads(agent->scrape, &count);
	post(agent, AGENT_SCRAPING, reads, count);
}

/*
 * Ranges outlive the table they are in by its lease.  Whoever last saw the
 * table a good part of that ago looks at it before using a range.
 */
void agent__start_scraping(struct agent *agent)
{
	const struct dart_table *table = scrape__table(agent->scrape);
	uint64_t safe_ns = table->lease_ms * 1000000ULL / 2;

	agent->due = true;
	if (monotonic_ns() - agent->looked_ns < safe_ns)
		scrape_values(agent);
	else
		post(agent, AGENT_LOOKING, scrape__header_read(agent->scrape),
		     1);
}

static void be_ready(struct agent *agent)
{
	agent->state = AGENT_IDLE;
	if (!agent->context->options->once)
		agent__set_timer(agent->patience, 0);
	if (agent__start_schedule(agent) || agent->due)
		agent__start_scraping(agent);
}

/* What was read so far and @table does not have: the first, and how many. */
static void say_gone(const struct agent *agent, const struct dart_table *table)
{
	const struct settings *settings = &agent->context->options->settings;
	const struct dart_table *old = scrape__table(agent->scrape);
	const char *first = NULL;
	uint32_t i, gone = 0;

	/* Those that are named are said to be absent. */
	if (settings->entry_count)
		return;
	for (i = 0; i < old->entry_count; i++) {
		if (dart_table__find(table, old->entries[i].name))
			continue;
		first = first ?: old->entries[i].name;
		gone++;
	}
	if (gone == 1)
		agent__say(agent, "entry '%s' is gone", first);
	else if (gone)
		agent__say(agent, "entry '%s' is gone, and %u others", first,
			   gone - 1);
}

static void take_table(struct agent *agent, struct dart_table *table)
{
	struct dart_error error;
	bool first = !agent->scrape;
	const char *absent;

	agent->looked_ns = agent->posted_ns;
	if (!first)
		say_gone(agent, table);
	scrape__free(agent->scrape);
	agent->scrape = NULL;
	if (scrape__new(table, &agent->context->options->settings,
			dart_endpoint__accept(agent->endpoint), &agent->scrape,
			&error)) {
		agent__lose(agent, error.text);
		return;
	}
	if (!make_room(agent, scrape__landing_size(agent->scrape)))
		return;
	absent = scrape__absent(agent->scrape);
	if (absent && agent->context->options->once) {
		dart_error__set(&error, 0,
				"no entry '%s' (see dartctl list there)",
				absent);
		agent__lose(agent, error.text);
		return;
	}

	agent->said[0] = '\0';
	if (!agent->context->options->once)
		agent__say(agent, "%s, generation %llu, entries %u",
			   first ? "connected" : "table changed",
			   (unsigned long long)table->generation,
			   table->entry_count);
	if (absent)
		agent__say(agent, "no entry '%s' there yet", absent);
	be_ready(agent);
}

static void on_fetched(struct agent *agent)
{
	struct dart_error error;
	struct dart_table *table;

	switch (fetch__take(&agent->fetch, agent->landing, &table, &error)) {
	case FETCH_DONE:
		take_table(agent, table);
		break;
	case FETCH_AGAIN:
		agent__fetch_table(agent);
		break;
	case FETCH_LATER:
		agent__set_timer(agent->again, fetch__delay_us(&agent->fetch));
		break;
	case FETCH_REFUSED:
		agent__lose(agent, error.text);
		break;
	}
}

/* True if the table is the known one; otherwise what is to be done is done. */
static bool check_header(struct agent *agent)
{
	switch (scrape__check(agent->scrape, agent->landing)) {
	case 0:
		agent->looked_ns = agent->posted_ns;
		return true;
	case -ESTALE:
		agent__fetch_table(agent);
		return false;
	default:
		agent__lose(agent, "the agent has started anew");
		return false;
	}
}

static void on_scraped(struct agent *agent)
{
	struct sink *sink = agent->context->sink;
	struct summary *summary = &agent->summary;
	uint64_t landed_ns = monotonic_ns();
	struct sample *sample;
	int err;

	if (!check_header(agent))
		return;
	fetch__succeeded(&agent->fetch);
	sample = scrape__decode(agent->scrape, agent->landing);
	sample->sequence = ++summary->scrapes;
	sample->start_ns = agent->posted_ns;
	sample->landed_ns = landed_ns;
	sample->end_ns = monotonic_ns();

	summary->reads += sample->reads;
	summary->bytes += sample->bytes;
	latency__add(&summary->landed, landed_ns - sample->start_ns);
	latency__add(&summary->decoded, sample->end_ns - sample->start_ns);
	agent->state = AGENT_IDLE;
	agent->due = false;
	agent->backoff_us = AGENT_BACKOFF_MIN_US;

	err = sink->operations->sample(sink, agent->identity, sample, summary);
	if (err)
		agent__finish(agent, err);
	else
		agent__finish_if_done(agent);
}

static int on_completion(sd_event_source *source, int fd, uint32_t events,
			 void *data)
{
	struct agent *agent = data;
	struct dart_error error;
	int ret;

	ret = dart_endpoint__on_completion(agent->endpoint, &error);
	if (ret < 0) {
		agent__lose(agent, error.text);
		return 0;
	}
	if (!ret)
		return 0;

	switch (agent->state) {
	case AGENT_FETCHING:
		on_fetched(agent);
		break;
	case AGENT_LOOKING:
		if (check_header(agent))
			scrape_values(agent);
		break;
	case AGENT_SCRAPING:
		on_scraped(agent);
		break;
	default:
		break;
	}
	return 0;
}

void agent__on_connected(struct agent *agent)
{
	int err;

	err = sd_event_add_io(agent->context->event, &agent->completion,
			      dart_endpoint__completion_fd(agent->endpoint),
			      EPOLLIN, on_completion, agent);
	if (err < 0) {
		agent__finish(agent, err);
		return;
	}
	/* Before all that can wait: drawing, other agents' ticks. */
	sd_event_source_set_priority(agent->completion,
				     SD_EVENT_PRIORITY_IMPORTANT);
	fetch__begin(&agent->fetch, dart_endpoint__accept(agent->endpoint));
	agent__fetch_table(agent);
}

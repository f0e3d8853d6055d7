// SPDX-License-Identifier: GPL-2.0-only
/* One agent: see agent.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <libdart/error.h>

#include "target_private.h"

/* From the first attempt to connect to the table; with --once to the values. */
#define PATIENCE_US		10000000ULL
#define NO_ANSWER		"no answer for 10 s"

/* From a loss to the next attempt, at most: it doubles each time. */
#define BACKOFF_MAX_US		5000000ULL

void agent__say(const struct agent *agent, const char *format, ...)
{
	char message[DART_ERROR_MAX + 64];
	va_list arguments;

	if (agent->context->sink->owns_terminal)
		return;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	/* In one go: others may write to the same terminal. */
	fprintf(stderr, "dart-controller: %s: %s\n", agent->identity->name,
		message);
}

void agent__set_timer(sd_event_source *timer, uint64_t delay_us)
{
	if (delay_us)
		sd_event_source_set_time_relative(timer, delay_us);
	sd_event_source_set_enabled(timer, delay_us ? SD_EVENT_ONESHOT :
						      SD_EVENT_OFF);
}

static void set_tick(struct agent *agent)
{
	/* Never too early: the schedule would find nothing due. */
	sd_event_source_set_time(agent->tick,
				 (agent->schedule.next_ns + 999) / 1000);
	sd_event_source_set_enabled(agent->tick, SD_EVENT_ONESHOT);
}

bool agent__start_schedule(struct agent *agent)
{
	if (agent->schedule.next_ns)
		return false;
	agent->schedule.next_ns = monotonic_ns() + agent->schedule.interval_ns;
	set_tick(agent);
	return true;
}

static void hang_up(struct agent *agent)
{
	agent->connection = sd_event_source_disable_unref(agent->connection);
	agent->completion = sd_event_source_disable_unref(agent->completion);
	dart_endpoint__free(agent->endpoint);
	agent->endpoint = NULL;
	agent->landing = NULL;
	scrape__free(agent->scrape);
	agent->scrape = NULL;
}

void agent__finish(struct agent *agent, int result)
{
	if (agent->state == AGENT_FINISHED)
		return;
	agent->state = AGENT_FINISHED;
	hang_up(agent);
	agent__set_timer(agent->tick, 0);
	agent__set_timer(agent->again, 0);
	agent__set_timer(agent->patience, 0);
	agent->context->finished(agent->context, result);
}

bool agent__finish_if_done(struct agent *agent)
{
	const struct options *options = agent->context->options;
	uint64_t wanted = options->once ? 1 : options->count;

	if (!wanted || agent->summary.scrapes + agent->summary.failed < wanted)
		return false;
	agent__finish(agent, agent->summary.scrapes ? 0 : -EHOSTUNREACH);
	return true;
}

/* Half of the delay is left to chance: agents do not come back in step. */
static uint64_t jitter(uint64_t delay_us)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = monotonic_ns();
	return delay_us / 2 + random % (delay_us / 2 + 1);
}

void agent__lose(struct agent *agent, const char *reason)
{
	struct sink *sink = agent->context->sink;
	bool once = agent->context->options->once;
	bool had_table = agent->scrape;
	int err = 0;

	hang_up(agent);
	agent->state = AGENT_AWAY;
	if (strcmp(agent->said, reason)) {
		snprintf(agent->said, sizeof(agent->said), "%s", reason);
		agent__say(agent, "%s: %s%s",
			   had_table && !once ? "lost" : "cannot be scraped",
			   reason, once ? "" : "; trying again");
		err = sink->operations->lost(sink, agent->identity, reason);
	}
	if (err) {
		agent__finish(agent, err);
		return;
	}
	if (agent->due || once)
		agent->summary.failed++;
	agent->due = false;
	if (agent__finish_if_done(agent))
		return;

	agent__set_timer(agent->patience, 0);
	agent__set_timer(agent->again, jitter(agent->backoff_us));
	agent->backoff_us *= 2;
	if (agent->backoff_us > BACKOFF_MAX_US)
		agent->backoff_us = BACKOFF_MAX_US;
	/* The times at which it should have been scraped pass all the same. */
	agent__start_schedule(agent);
}

static int on_connection(sd_event_source *source, int fd, uint32_t events,
			 void *data)
{
	struct agent *agent = data;
	struct dart_error error;

	switch (dart_endpoint__on_connection(agent->endpoint, &error)) {
	case DART_ENDPOINT_NOTHING:
		break;
	case DART_ENDPOINT_CONNECTED:
		agent__on_connected(agent);
		break;
	case DART_ENDPOINT_FAILED:
	case DART_ENDPOINT_DISCONNECTED:
		agent__lose(agent, error.text);
		break;
	}
	return 0;
}

static void connect_to(struct agent *agent)
{
	const struct agent_settings *settings = agent->settings;
	struct dart_error error;
	int err;

	agent->state = AGENT_CONNECTING;
	agent__set_timer(agent->patience, PATIENCE_US);
	err = dart_endpoint__connect(settings->host, settings->port,
				     &agent->endpoint, &error);
	if (err) {
		agent__lose(agent, error.text);
		return;
	}
	err = sd_event_add_io(agent->context->event, &agent->connection,
			      dart_endpoint__connection_fd(agent->endpoint),
			      EPOLLIN, on_connection, agent);
	if (err < 0)
		agent__finish(agent, err);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *data)
{
	struct agent *agent = data;
	uint64_t due;

	due = schedule__take(&agent->schedule, monotonic_ns());
	set_tick(agent);
	if (!due)
		return 0;
	if (agent->state == AGENT_IDLE) {
		agent->summary.missed += due - 1;
		agent__start_scraping(agent);
	} else if (!agent->scrape) {
		agent->summary.failed += due;
		agent__finish_if_done(agent);
	} else {
		agent->summary.missed += due;
		/* RC gives up sooner, unless the device itself is stuck. */
		if (monotonic_ns() - agent->posted_ns > PATIENCE_US * 1000)
			agent__lose(agent, NO_ANSWER);
	}
	return 0;
}

static int on_again(sd_event_source *source, uint64_t usec, void *data)
{
	struct agent *agent = data;

	if (agent->state == AGENT_AWAY)
		connect_to(agent);
	else if (agent->state == AGENT_FETCHING)
		agent__fetch_table(agent);
	return 0;
}

static int on_patience(sd_event_source *source, uint64_t usec, void *data)
{
	agent__lose(data, NO_ANSWER);
	return 0;
}

static int add_timer(struct agent *agent, sd_event_source **timer,
		     sd_event_time_handler_t handler)
{
	int err;

	/* Accurate to 1 us: the default of 250 ms is for housekeeping. */
	err = sd_event_add_time(agent->context->event, timer, CLOCK_MONOTONIC,
				0, 1, handler, agent);
	if (err < 0)
		return err;
	return sd_event_source_set_enabled(*timer, SD_EVENT_OFF);
}

int agent__new(struct agent_context *context,
	       const struct sink_agent *identity,
	       const struct agent_settings *settings, struct agent **agentp)
{
	const struct settings *all = &context->options->settings;
	struct agent *agent;
	int err;

	agent = calloc(1, sizeof(*agent));
	if (!agent)
		return -ENOMEM;
	agent->context = context;
	agent->identity = identity;
	agent->settings = settings;
	agent->backoff_us = AGENT_BACKOFF_MIN_US;
	agent->schedule.interval_ns = settings->interval_ns ?: all->interval_ns;
	err = add_timer(agent, &agent->tick, on_tick);
	if (!err)
		err = add_timer(agent, &agent->again, on_again);
	if (!err)
		err = add_timer(agent, &agent->patience, on_patience);
	if (err < 0) {
		agent__free(agent);
		return err;
	}
	/* Away, and due to connect as soon as the loop runs. */
	agent__set_timer(agent->again, 1);
	*agentp = agent;
	return 0;
}

void agent__free(struct agent *agent)
{
	if (!agent)
		return;
	hang_up(agent);
	sd_event_source_disable_unref(agent->tick);
	sd_event_source_disable_unref(agent->again);
	sd_event_source_disable_unref(agent->patience);
	free(agent);
}

const struct summary *agent__summary(const struct agent *agent)
{
	return &agent->summary;
}

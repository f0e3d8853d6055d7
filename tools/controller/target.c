// SPDX-License-Identifier: GPL-2.0-only
/* A target's connection, timers and retries. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include <libdart/error.h>

#include "target_private.h"

/* From connect to the table, with --once to the values; also for one scrape. */
#define CONNECT_TIMEOUT_US	10000000ULL
#define NO_ANSWER		"no answer for 10 s"

/* The longest delay between attempts; it doubles each time. */
/* An agent that starts again has its controllers back within 3 s. */
#define BACKOFF_MAX_US		2000000ULL

void target__log(const struct target *target, const char *format, ...)
{
	char message[DART_ERROR_MAX + 64];
	va_list arguments;

	if (target->context->sink->owns_terminal)
		return;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	output__print(target->context->log, "dart-controller: %s: %s",
		      target->settings->name, message);
}

void target__count(struct target *target, uint64_t bytes)
{
	struct target_context *context = target->context;
	const struct settings *settings = &context->options->settings;
	char text[256];

	if (target->is_counted)
		return;
	target->is_counted = true;
	capacity__add(&context->capacity, target->schedule.interval_ns, bytes);
	if (context->capacity.targets < settings->target_count ||
	    context->options->once || context->sink->owns_terminal)
		return;
	if (capacity__exceeds(&context->capacity,
			      flow_control__bits_per_s(context->flow_control),
			      text, sizeof(text)))
		fprintf(stderr, "dart-controller: %s\n", text);
}

bool target__start_schedule(struct target *target)
{
	if (target->schedule.next_ns)
		return false;
	schedule__start(&target->schedule, monotonic_ns());
	timer__set_at(&target->scrape_timer, target->schedule.next_ns);
	return true;
}

void target__drop_table(struct target *target)
{
	dart_landing__free(target->ring_landing);
	target->ring_landing = NULL;
	ring__release(target->ring);
	target->ring = NULL;
	target->scraper = NULL;
}

static void target__disconnect(struct target *target)
{
	target->connection = sd_event_source_disable_unref(target->connection);
	target->completion = sd_event_source_disable_unref(target->completion);
	dart_endpoint__free(target->endpoint);
	target->endpoint = NULL;
	target->ring_landing = NULL;
	flow__close(&target->flow);
	target->landing = NULL;
	target__drop_table(target);
}

void target__finish(struct target *target, int result)
{
	if (target->state == TARGET_FINISHED)
		return;
	target->state = TARGET_FINISHED;
	target__disconnect(target);
	timer__stop(&target->scrape_timer);
	timer__stop(&target->retry_timer);
	timer__stop(&target->connect_timeout);
	target->context->finished(target->context, result);
}

bool target__finish_if_done(struct target *target)
{
	const struct options *options = target->context->options;
	uint64_t wanted = options->once ? 1 : options->count;

	if (!wanted ||
	    target->summary.scrapes + target->summary.failed < wanted)
		return false;
	target__finish(target, target->summary.scrapes ? 0 : -EHOSTUNREACH);
	return true;
}

/* Half of the delay is random, so that targets do not retry in step. */
static uint64_t jitter(uint64_t delay_us)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = monotonic_ns();
	return delay_us / 2 + random % (delay_us / 2 + 1);
}

void target__lose(struct target *target, const char *reason, ...)
{
	bool once = target->context->options->once;
	bool had_table = target->scraper;
	struct dart_error error;
	va_list arguments;
	int err = 0;

	va_start(arguments, reason);
	dart_error__vset(&error, 0, reason, arguments);
	va_end(arguments);
	target__disconnect(target);
	target->state = TARGET_DISCONNECTED;
	target__count(target, 0);
	if (strcmp(target->last_error.text, error.text)) {
		target->last_error = error;
		target__log(target, "%s: %s%s",
			    had_table && !once ? "lost" : "cannot be scraped",
			    error.text, once ? "" : "; retrying");
		err = decoder__lose(&target->decoder, error.text);
	}
	if (err) {
		target__finish(target, err);
		return;
	}
	if (target->scrape_pending || once)
		target->summary.failed++;
	target->scrape_pending = false;
	if (target__finish_if_done(target))
		return;

	timer__stop(&target->connect_timeout);
	timer__set(&target->retry_timer, jitter(target->backoff_us));
	target->backoff_us *= 2;
	if (target->backoff_us > BACKOFF_MAX_US)
		target->backoff_us = BACKOFF_MAX_US;
	/* Scrapes that become due meanwhile count as failed. */
	target__start_schedule(target);
}

static int on_connection(sd_event_source *source, int fd, uint32_t events,
			 void *data)
{
	struct target *target = data;
	enum dart_endpoint_event event;
	struct dart_error error;

	event = dart_endpoint__on_connection(target->endpoint, &error);
	if (event == DART_ENDPOINT_CONNECTED)
		target__on_connected(target);
	else if (event != DART_ENDPOINT_NOTHING)
		target__lose(target, "%s", error.text);
	return 0;
}

static void target__connect(struct target *target, const char *numeric)
{
	struct dart_error error;
	int err;

	target->state = TARGET_CONNECTING;
	timer__set(&target->connect_timeout, CONNECT_TIMEOUT_US);
	err = dart_endpoint__connect(numeric, target->settings->port,
				     &target->endpoint, &error);
	if (err) {
		target__lose(target, "%s", error.text);
		return;
	}
	err = sd_event_add_io(target->context->event, &target->connection,
			      dart_endpoint__connection_fd(target->endpoint),
			      EPOLLIN, on_connection, target);
	if (err < 0)
		target__finish(target, err);
}

static void on_resolved(void *data, const char *numeric,
			const struct dart_error *error)
{
	struct target *target = data;

	target->resolution = NULL;
	if (target->state != TARGET_RESOLVING)
		return;
	if (numeric)
		target__connect(target, numeric);
	else
		target__lose(target, "%s", error->text);
}

static void target__resolve(struct target *target)
{
	const char *host = target->settings->host;
	int err;

	if (resolver__is_numeric(host)) {
		target__connect(target, host);
		return;
	}
	target->state = TARGET_RESOLVING;
	timer__set(&target->connect_timeout, CONNECT_TIMEOUT_US);
	/* One question a target, however long the name services take. */
	if (target->resolution)
		return;
	err = resolver__ask(target->context->resolver, host, on_resolved,
			    target, &target->resolution);
	if (err)
		target__lose(target, "cannot resolve '%s': %s", host,
			     strerror(-err));
}

static void on_scrape_due(void *data)
{
	struct target *target = data;
	uint64_t due;

	due = schedule__take(&target->schedule, monotonic_ns());
	timer__set_at(&target->scrape_timer, target->schedule.next_ns);
	if (!due)
		return;
	if (target->state == TARGET_IDLE) {
		target->summary.missed += due - 1;
		target__start_scraping(target);
	} else if (!target->scraper) {
		target->summary.failed += due;
		target__finish_if_done(target);
	} else if (target->state == TARGET_FETCHING &&
		   !target->scrape_pending) {
		/* As soon as the table has landed. */
		target->summary.missed += due - 1;
		target->scrape_pending = true;
	} else {
		target->summary.missed += due;
		/* RC times out earlier, unless the device hangs. */
		if (flow__silence_ns(&target->flow) > CONNECT_TIMEOUT_US * 1000)
			target__lose(target, NO_ANSWER);
	}
}

static void on_retry(void *data)
{
	struct target *target = data;

	if (target->state == TARGET_DISCONNECTED)
		target__resolve(target);
	else if (target->state == TARGET_FETCHING ||
		 (target->state == TARGET_IDLE && target->age.changed))
		target__fetch_table(target);
}

static void on_connect_timeout(void *data)
{
	struct target *target = data;

	if (target->state == TARGET_RESOLVING)
		target__lose(target,
			     "cannot resolve '%s': " NO_ANSWER
			     " from the name services",
			     target->settings->host);
	else if (flow__waits(&target->flow))
		/* For credits of others, not for an answer. */
		timer__set(&target->connect_timeout, CONNECT_TIMEOUT_US);
	else
		target__lose(target, NO_ANSWER);
}

int target__new(struct target_context *context,
		const struct target_settings *settings, struct target **targetp)
{
	const struct settings *all = &context->options->settings;
	struct timers *timers = context->timers;
	struct target *target;

	target = calloc(1, sizeof(*target));
	if (!target)
		return -ENOMEM;
	target->context = context;
	target->settings = settings;
	target->decoder = (struct decoder){
		.workers = context->workers,
		.sink = context->sink,
		.settings = settings,
		.summary = &target->summary,
	};
	target->backoff_us = TARGET_BACKOFF_MIN_US;
	target->schedule.interval_ns = settings->interval_ns ?:
		all->interval_ns ?: SETTINGS_INTERVAL_DEFAULT_NS;
	target->schedule.phase_ns = XXH3_64bits(settings->name,
						strlen(settings->name));
	timer__init(&target->scrape_timer, timers, on_scrape_due, target);
	timer__init(&target->retry_timer, timers, on_retry, target);
	timer__init(&target->connect_timeout, timers, on_connect_timeout,
		    target);
	/* Connects as soon as the loop runs. */
	timer__set(&target->retry_timer, 0);
	*targetp = target;
	return 0;
}

void target__free(struct target *target)
{
	if (!target)
		return;
	target__disconnect(target);
	flow__end(&target->flow);
	resolution__cancel(target->resolution);
	timer__stop(&target->scrape_timer);
	timer__stop(&target->retry_timer);
	timer__stop(&target->connect_timeout);
	free(target);
}

const struct summary *target__summary(const struct target *target)
{
	return &target->summary;
}

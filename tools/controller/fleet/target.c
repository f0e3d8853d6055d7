// SPDX-License-Identifier: GPL-2.0-only
/* A target in the control loop: when it is lost, retried and finished. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include <libdart/error.h>

#include "target_private.h"

/* From the first loss of a connection to the next attempt. */
#define BACKOFF_MIN_US		100000ULL

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
	char text[256];

	if (target->is_counted)
		return;
	target->is_counted = true;
	target->counted_bytes = bytes;
	capacity__add(&context->capacity, target->io.schedule.interval_ns,
		      bytes);
	if (context->capacity.targets < context->target_count ||
	    context->is_capacity_told || context->options->once ||
	    context->sink->owns_terminal)
		return;
	if (!capacity__exceeds(&context->capacity,
			       flow_control__bits_per_s(context->flow_control),
			       text, sizeof(text)))
		return;
	context->is_capacity_told = true;
	output__print(context->log, "dart-controller: %s", text);
}

/* Scrapes that become due count as failed until an I/O thread has the target. */
static void target__start_schedule(struct target *target)
{
	struct schedule *schedule = &target->io.schedule;

	if (!schedule->next_ns)
		schedule__start(schedule, monotonic_ns());
	timer__set_at(&target->scrape_timer, schedule->next_ns);
}

void target__drop_table(struct target *target)
{
	struct io_target *io = &target->io;

	if (target->transport)
		target->transport->operations->forget(target->transport);
	ring__release(io->ring);
	io->ring = NULL;
}

/* Without an I/O thread that has it. */
static void target__disconnect(struct target *target)
{
	/* First: nothing lands any more in what it frees, and what is freed below. */
	transport__free(target->transport);
	target->transport = NULL;
	flow__close(&target->io.flow);
	target__drop_table(target);
}

/* The I/O thread gives it back, and then @next happens. */
static void target__release(struct target *target, enum target_next next)
{
	target->state = TARGET_RELEASING;
	target->next = next;
	timer__stop(&target->retry_timer);
	io_target__release(&target->io);
}

void target__finish(struct target *target, int result)
{
	switch (target->state) {
	case TARGET_FINISHED:
		return;
	case TARGET_READING:
		target__release(target, TARGET_FINISH);
		target->result = result;
		return;
	case TARGET_RELEASING:
		target->next = TARGET_FINISH;
		target->result = result;
		return;
	default:
		break;
	}
	target->state = TARGET_FINISHED;
	handshakes__end(&target->context->handshakes, &target->handshake);
	target__disconnect(target);
	timer__stop(&target->scrape_timer);
	timer__stop(&target->retry_timer);
	timer__stop(&target->connect_timeout);
	timer__stop(&target->down_timer);
	target->context->finished(target->context, target, result);
}

void target__stop(struct target *target)
{
	if (target->is_counted)
		capacity__remove(&target->context->capacity,
				 target->io.schedule.interval_ns,
				 target->counted_bytes);
	target->is_counted = false;
	target__finish(target, 0);
}

/* 0, or that it never had values. */
static int target__outcome(const struct target *target)
{
	return count__of(&target->summary.scrapes) ? 0 : -EHOSTUNREACH;
}

/* Finishes after the last requested scrape; true if so. */
static bool target__finish_if_done(struct target *target)
{
	const struct summary *summary = &target->summary;
	const uint64_t wanted = target->io.wanted;

	if (!wanted || count__of(&summary->scrapes) +
			       count__of(&summary->failed) < wanted)
		return false;
	target__finish(target, target__outcome(target));
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

/* With no I/O thread that has it. */
static void target__retry(struct target *target)
{
	struct io_target *io = &target->io;
	const bool once = io->once;
	const bool had_table = io->ring;
	int err = 0;

	target__disconnect(target);
	target->state = TARGET_DISCONNECTED;
	handshakes__end(&target->context->handshakes, &target->handshake);
	target__count(target, 0);
	target__note_failure(target, target->reason.text, had_table);
	if (strcmp(target->last_error.text, target->reason.text)) {
		target->last_error = target->reason;
		target__log(target, "%s: %s%s",
			    had_table && !once ? "lost" : "cannot be scraped",
			    target->reason.text, once ? "" : "; retrying");
		err = decoder__lose(&io->decoder, target->reason.text);
	}
	if (err) {
		target__finish(target, err);
		return;
	}
	if (io->scrape_pending || once)
		count__add(&target->summary.failed, 1);
	io->scrape_pending = false;
	if (target__finish_if_done(target))
		return;

	timer__stop(&target->connect_timeout);
	timer__set(&target->retry_timer, jitter(target->backoff_us));
	target->backoff_us *= 2;
	if (target->backoff_us > BACKOFF_MAX_US)
		target->backoff_us = BACKOFF_MAX_US;
	target__start_schedule(target);
}

void target__lose(struct target *target, const char *reason, ...)
{
	va_list arguments;

	/* Why it is released is known already. */
	if (target->state == TARGET_RELEASING)
		return;
	va_start(arguments, reason);
	dart_error__vset(&target->reason, 0, reason, arguments);
	va_end(arguments);
	if (target->state == TARGET_READING)
		target__release(target, TARGET_LOSE);
	else
		target__retry(target);
}

void target__move(struct target *target, struct io_thread *thread)
{
	target->thread = thread;
	target__release(target, TARGET_MOVE);
}

/* As soon as it is its turn. */
static void target__ask_to_connect(struct target *target)
{
	/* The delay has doubled once when it is lost, and again if it cannot be reached. */
	handshakes__ask(&target->context->handshakes, &target->handshake,
			target->backoff_us > 2 * BACKOFF_MIN_US);
}

/* The I/O thread cannot get anything any more. */
static void target__explain_loss(struct target *target)
{
	const struct transport *transport = target->transport;
	const struct io_target *io = &target->io;
	struct dart_error error;

	switch (io->loss) {
	case IO_LOSS_TRANSPORT:
		transport->operations->explain(transport, &error);
		target__lose(target, "%s", error.text);
		break;
	case IO_LOSS_POST:
		if (transport->operations->is_call)
			transport->operations->explain(transport, &error);
		else
			dart_error__system(&error, -io->loss_error,
					   "cannot post a READ");
		target__lose(target, "%s", error.text);
		break;
	case IO_LOSS_SILENCE:
		target__lose(target, TARGET_NO_ANSWER);
		break;
	case IO_LOSS_RESTART:
		target__lose(target, "the agent has restarted");
		break;
	}
}

static void on_reported(struct io_target *io, enum io_report report)
{
	struct target *target = (struct target *)io;

	/* It is to be released anyway. */
	if (target->state != TARGET_READING)
		return;
	switch (report) {
	case IO_WANTS_TABLE:
		target__prepare_fetch(target);
		break;
	case IO_TABLE_LANDED:
		target__take_landed(target);
		break;
	case IO_DONE:
		target__finish(target, target__outcome(target));
		break;
	case IO_LOST:
		target__explain_loss(target);
		break;
	}
}

static void on_released(struct io_target *io)
{
	struct target *target = (struct target *)io;

	target->state = TARGET_DISCONNECTED;
	if (io->has_scraped)
		target->backoff_us = BACKOFF_MIN_US;
	switch (target->next) {
	case TARGET_LOSE:
		target__retry(target);
		break;
	case TARGET_MOVE:
		target__disconnect(target);
		target__ask_to_connect(target);
		break;
	case TARGET_FINISH:
		target__finish(target, target->result);
		break;
	}
}

static void on_scrape_due(void *data)
{
	struct target *target = data;
	struct schedule *schedule = &target->io.schedule;

	count__add(&target->summary.failed,
		   schedule__take(schedule, monotonic_ns()));
	timer__set_at(&target->scrape_timer, schedule->next_ns);
	target__finish_if_done(target);
}

static void on_retry(void *data)
{
	struct target *target = data;

	if (target->state == TARGET_DISCONNECTED)
		target__ask_to_connect(target);
	else if (target->state == TARGET_READING)
		target__fetch_again(target);
}

static void target__init_io(struct target *target)
{
	const struct options *options = target->context->options;
	const struct target_settings *settings = target->settings;
	struct io_target *io = &target->io;

	io->control = &target->context->mailbox;
	io->reported = on_reported;
	io->released = on_released;
	io->summary = &target->summary;
	io->once = options->once;
	io->wanted = options->once ? 1 : options->count;
	io->decoder = (struct decoder){
		.workers = target->context->workers,
		.sink = target->context->sink,
		.tap = target->context->tap,
		.settings = settings,
		.summary = &target->summary,
		.clocks = &target->context->clocks.listener,
	};
	io->schedule.interval_ns = settings->interval_ns ?:
		options->settings.interval_ns ?: SETTINGS_INTERVAL_DEFAULT_NS;
	io->schedule.phase_ns =
		XXH3_64bits(settings->name, strlen(settings->name));
}

int target__new(struct target_context *context,
		const struct target_settings *settings, struct target **targetp)
{
	struct timers *timers = context->timers;
	struct target *target;

	target = calloc(1, sizeof(*target));
	if (!target)
		return -ENOMEM;
	target->context = context;
	target->settings = settings;
	target->backoff_us = BACKOFF_MIN_US;
	target->since_ns = monotonic_ns();
	target->handshake.begin = target__on_turn;
	target__init_io(target);
	timer__init(&target->scrape_timer, timers, on_scrape_due, target);
	timer__init(&target->retry_timer, timers, on_retry, target);
	timer__init(&target->connect_timeout, timers,
		    target__on_connect_timeout, target);
	timer__init(&target->down_timer, timers, target__on_down, target);
	if (!context->options->once)
		target__watch_down(target);
	/* Connects as soon as the loop runs. */
	timer__set(&target->retry_timer, 0);
	*targetp = target;
	return 0;
}

void target__free(struct target *target)
{
	struct io_target *io;

	if (!target)
		return;
	io = &target->io;
	/* The I/O thread has ended before it released this. */
	if (target->transport)
		target->transport->operations->leave(target->transport);
	flow__end(&io->flow);
	target__disconnect(target);
	resolution__cancel(target->resolution);
	handshakes__end(&target->context->handshakes, &target->handshake);
	timer__stop(&target->scrape_timer);
	timer__stop(&target->retry_timer);
	timer__stop(&target->connect_timeout);
	timer__stop(&target->down_timer);
	free(target->tapped.bytes);
	free(target->failure);
	free(target);
}

// SPDX-License-Identifier: GPL-2.0-only
/* A target in the control loop: when it is lost, retried and finished. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <libdart/error.h>

#include "target_private.h"

/*
 * The longest delay between two attempts to connect, which doubles each time: the controllers of an
 * agent that starts again are back within 3 s.
 */
#define BACKOFF_MAX_US 2000000ULL

static void target__print(struct target *target, uint64_t left_out, const char *format,
			  va_list arguments)
{
	char message[DART_ERROR_MAX + 64], more[64] = "";

	vsnprintf(message, sizeof(message), format, arguments);
	if (left_out)
		snprintf(more, sizeof(more), " (%llu messages about it left out)",
			 (unsigned long long)left_out);
	output__print(target->context->log, "dart-controller: %s: %s%s", target->settings->name,
		      message, more);
}

void target__log(struct target *target, const char *format, ...)
{
	va_list arguments;
	uint64_t left_out;

	if (target->context->sink->owns_terminal ||
	    !few__take(&target->said, monotonic_ns(), TARGET_MESSAGES, TARGET_MESSAGES_NS,
		       &left_out))
		return;
	va_start(arguments, format);
	target__print(target, left_out, format, arguments);
	va_end(arguments);
}

void target__log_table(struct target *target, const char *format, ...)
{
	va_list arguments;
	uint64_t left_out;

	if (target->context->sink->owns_terminal ||
	    !few__take(&target->said_of_table, monotonic_ns(), TARGET_TABLE_MESSAGES,
		       TARGET_TABLE_MESSAGES_NS, &left_out))
		return;
	va_start(arguments, format);
	target__print(target, left_out, format, arguments);
	va_end(arguments);
}

void target__count(struct target *target, uint64_t bytes)
{
	struct target_context *context = target->context;
	char text[256];

	if (target->is_counted)
		return;
	target->is_counted = true;
	target->counted_bytes = bytes;
	capacity__add(&context->capacity, target->interval_ns, bytes);
	if (context->capacity.targets < context->target_count || context->is_capacity_told ||
	    context->options->once || context->sink->owns_terminal)
		return;
	if (!capacity__exceeds(&context->capacity, flow_control__bits_per_s(context->flow_control),
			       text, sizeof(text)))
		return;
	context->is_capacity_told = true;
	output__print(context->log, "dart-controller: %s", text);
}

/* Until an I/O thread gets the target, due scrapes count as failed. */
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
	ring__release(io->added);
	io->added = NULL;
}

void target__disconnect(struct target *target)
{
	/* First: afterwards nothing lands any more in memory that is freed here and below. */
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
		capacity__remove(&target->context->capacity, target->interval_ns,
				 target->counted_bytes);
	target->is_counted = false;
	target__finish(target, 0);
}

int target__outcome(const struct target *target)
{
	return count__of(&target->summary.scrapes) ? 0 : -EHOSTUNREACH;
}

bool target__finish_if_done(struct target *target)
{
	const struct summary *summary = &target->summary;
	const uint64_t wanted = target->io.wanted;

	if (!wanted || count__of(&summary->scrapes) + count__of(&summary->failed) < wanted)
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

void target__retry(struct target *target)
{
	struct io_target *io = &target->io;
	const bool once = io->once;
	const bool had_table = io->ring;
	int err = 0;

	/* A name may have several addresses, and the agent not be at the first: once tries all. */
	target->address_turn += !had_table;
	target__disconnect(target);
	target->state = TARGET_DISCONNECTED;
	handshakes__end(&target->context->handshakes, &target->handshake);
	target__count(target, 0);
	timer__stop(&target->connect_timeout);
	if (once && !had_table && target->address_turn < target->address_count) {
		timer__set(&target->retry_timer, 0);
		return;
	}
	target__note_failure(target, target->reason.text, had_table);
	if (strcmp(target->last_error.text, target->reason.text)) {
		target->last_error = target->reason;
		target__log(target, "%s: %s%s", had_table && !once ? "lost" : "cannot be scraped",
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

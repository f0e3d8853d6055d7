// SPDX-License-Identifier: GPL-2.0-only
/* What makes a target act in its I/O thread: time that has passed, and orders of the control loop. */
#include <stddef.h>

#include <libdart/prefetch.h>

#include "io_target_private.h"

static void io_target__on_scrape_due(void *data)
{
	struct io_target *io = data;
	struct summary *summary = io->summary;
	uint64_t due;

	due = schedule__take(&io->schedule, monotonic_ns());
	timer__set_at(&io->scrape_timer, io->schedule.next_ns);
	if (!due)
		return;
	if (io->state == IO_IDLE) {
		count__add(&summary->missed, due - 1);
		io_target__start_scraping(io);
	} else if (!io->has_ring) {
		count__add(&summary->failed, due);
		io_target__end_if_done(io);
	} else if ((io->state == IO_FETCHING || io->state == IO_ADDING) && !io->scrape_pending) {
		/* As soon as the table, or the values of added entries, landed. */
		count__add(&summary->missed, due - 1);
		io->scrape_pending = true;
	} else {
		count__add(&summary->missed, due);
		if (flow__silence_ns(&io->flow) > IO_SILENCE_NS)
			io_target__lose(io, IO_LOSS_SILENCE, 0);
	}
}

/*
 * The memory of a scrape: of this target, then of its transport and ring, and of the objects below.
 * The control loop has no turn while the target is idle, so all of them are there.
 */
static void io_target__ahead(void *data, unsigned int step)
{
	struct io_target *io = data;

	if (!step) {
		dart_prefetch(&io->decoder, offsetof(struct decoder, clock));
		dart_prefetch(&io->summary, offsetof(struct io_target, fetch_timer) -
						    offsetof(struct io_target, summary));
		dart_prefetch(&io->answer_timer, sizeof(io->answer_timer));
		return;
	}
	if (io->state != IO_IDLE || io->is_controls_turn || !io->has_ring)
		return;
	if (step == 1) {
		dart_prefetch(io->decoder.settings, sizeof(io->decoder.settings->index));
		dart_prefetch(io->flow.group, sizeof(*io->flow.group));
		dart_prefetch(io->summary, offsetof(struct summary, landed.buckets));
		ring__ahead(io->ring, step - 1);
		dart_prefetch(io->transport, TRANSPORT_PREFETCHED);
		return;
	}
	ring__ahead(io->ring, step - 1);
	if (io->transport->operations->ahead)
		io->transport->operations->ahead(io->transport, step - 2);
}

static void io_target__on_fetch_due(void *data)
{
	struct io_target *io = data;

	if (io->state == IO_FETCHING && !io->is_told && !io_target__may_have_added(io))
		io_target__want_table(io, IO_WANTS_TABLE);
	else if (io->state == IO_FETCHING ||
		 (io->state == IO_IDLE &&
		  (io->age.changed || io->is_told || io_target__may_have_added(io))))
		io_target__renew_table(io);
}

/* A call got no answer so far: perhaps without an error, and long before the next scrape. */
static void io_target__on_late(void *data)
{
	struct io_target *io = data;
	const uint64_t silence_ns = flow__silence_ns(&io->flow);
	uint64_t delay_ns = FLOW_LATE_NS;

	if (silence_ns > IO_SILENCE_NS) {
		io_target__lose(io, IO_LOSS_SILENCE, 0);
		return;
	}
	if (flow__lend(&io->flow))
		delay_ns = IO_SILENCE_NS - silence_ns + 1;
	timer__set_at(&io->answer_timer, monotonic_ns() + delay_ns);
}

static void io_target__on_deadline(void *data)
{
	struct io_target *io = data;

	/* If it waits for credits of others or for the control loop, not for an answer. */
	if (flow__waits(&io->flow) || io->is_controls_turn)
		timer__set_at(&io->deadline_timer, monotonic_ns() + IO_SILENCE_NS);
	else
		io_target__lose(io, IO_LOSS_SILENCE, 0);
}

static void io_target__init_timers(struct io_target *io)
{
	struct timers *timers = io_thread__timers(io->thread);

	timer__init(&io->scrape_timer, timers, io_target__on_scrape_due, io);
	io->scrape_timer.ahead = io_target__ahead;
	timer__init(&io->fetch_timer, timers, io_target__on_fetch_due, io);
	timer__init(&io->deadline_timer, timers, io_target__on_deadline, io);
	timer__init(&io->answer_timer, timers, io_target__on_late, io);
}

static void io_target__on_failed(struct flow *flow, int error)
{
	io_target__lose(caa_container_of(flow, struct io_target, flow), IO_LOSS_POST, error);
}

/* True if it is the turn of the thread, which may ask; if not, it reported why. */
static bool io_target__take_turn(struct io_target *io)
{
	io->is_controls_turn = false;
	if (io->state != IO_STOPPED)
		return true;
	io_target__report(io, io->is_lost ? IO_LOST : IO_DONE);
	io->is_lost = false;
	return false;
}

static struct io_target *io_of(struct message *order)
{
	return caa_container_of(order, struct io_target, order);
}

static void run_adopt(struct message *order)
{
	struct io_target *io = io_of(order);
	int err;

	io_target__init_timers(io);
	io_thread__count(io->thread, 1);
	io->state = IO_FETCHING;
	io->has_ring = false;
	io->has_scraped = false;
	io->is_controls_turn = false;
	io->is_lost = false;
	io->is_told = false;
	io->is_added_told = false;
	if (io->schedule.next_ns)
		timer__set_at(&io->scrape_timer, io->schedule.next_ns);
	timer__set_at(&io->deadline_timer, io->deadline_ns);
	err = io->transport->operations->adopt(io->transport, io->thread);
	if (err)
		io_target__lose(io, IO_LOSS_POST, err);
	else
		io_target__fetch_table(io);
}

static void run_fetch(struct message *order)
{
	struct io_target *io = io_of(order);

	if (io_target__take_turn(io))
		io_target__fetch_table(io);
}

static void run_go_on(struct message *order)
{
	struct io_target *io = io_of(order);

	if (!io_target__take_turn(io))
		return;
	io->has_ring = true;
	if (!io->once)
		timer__stop(&io->deadline_timer);
	if (!io->schedule.next_ns) {
		schedule__start(&io->schedule, monotonic_ns());
		timer__set_at(&io->scrape_timer, io->schedule.next_ns);
		io->scrape_pending = true;
	}
	if (io->has_news && schedule__take_extra(&io->schedule, monotonic_ns()))
		io->scrape_pending = true;
	io->has_news = false;
	if (!io_target__await_updates(io))
		return;
	if (io->added)
		io_target__ask(io, IO_ADDING, TRANSPORT_ADDED);
	else
		io_target__proceed(io);
}

static void run_retime(struct message *message)
{
	struct io_target *io = caa_container_of(message, struct io_target, retime);

	/* First: an interval that is ordered from now on is posted again. */
	atomic_store(&io->is_retiming, false);
	schedule__change(&io->schedule, atomic_load(&io->retimed_ns), monotonic_ns());
	if (io->schedule.next_ns && io->state != IO_STOPPED)
		timer__set_at(&io->scrape_timer, io->schedule.next_ns);
}

static void run_released(struct message *message)
{
	struct io_target *io = caa_container_of(message, struct io_target, released_message);

	io->released(io);
}

static void run_release(struct message *message)
{
	struct io_target *io = caa_container_of(message, struct io_target, release);

	if (io->state != IO_STOPPED)
		io_target__stop(io);
	io->state = IO_RELEASED;
	io->transport->operations->leave(io->transport);
	io_thread__count(io->thread, -1);
	io->released_message.run = run_released;
	mailbox__post(io->control, &io->released_message);
}

static void io_target__order(struct io_target *io, void (*run)(struct message *order))
{
	io->order.run = run;
	mailbox__post(io_thread__mailbox(io->thread), &io->order);
}

void io_target__adopt(struct io_target *io)
{
	io->flow.failed = io_target__on_failed;
	io_target__order(io, run_adopt);
}

void io_target__fetch(struct io_target *io)
{
	io_target__order(io, run_fetch);
}

void io_target__go_on(struct io_target *io)
{
	io_target__order(io, run_go_on);
}

void io_target__retime(struct io_target *io, uint64_t interval_ns)
{
	atomic_store(&io->retimed_ns, interval_ns);
	if (atomic_exchange(&io->is_retiming, true))
		return;
	io->retime.run = run_retime;
	mailbox__post(io_thread__mailbox(io->thread), &io->retime);
}

void io_target__release(struct io_target *io)
{
	io->release.run = run_release;
	mailbox__post(io_thread__mailbox(io->thread), &io->release);
}

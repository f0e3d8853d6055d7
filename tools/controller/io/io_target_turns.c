// SPDX-License-Identifier: GPL-2.0-only
/* The turns of a target: what the control loop orders, and what its I/O thread reports. */
#include "io_target_private.h"

static void run_report(struct message *message)
{
	struct io_target *io =
		caa_container_of(message, struct io_target, report);

	io->reported(io, io->report_kind);
}

static void run_released(struct message *message)
{
	struct io_target *io =
		caa_container_of(message, struct io_target, released_message);

	io->released(io);
}

void io_target__report(struct io_target *io, enum io_report report)
{
	io->is_controls_turn = true;
	io->report_kind = report;
	io->report.run = run_report;
	mailbox__post(io->control, &io->report);
}

/* True if the thread has its turn and may ask; if not, it has reported why. */
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
	struct timers *timers = io_thread__timers(io->thread);
	int err;

	timer__init(&io->scrape_timer, timers, io_target__on_scrape_due, io);
	timer__init(&io->fetch_timer, timers, io_target__on_fetch_due, io);
	timer__init(&io->deadline_timer, timers, io_target__on_deadline, io);
	timer__init(&io->answer_timer, timers, io_target__on_late, io);
	io->state = IO_FETCHING;
	io->has_ring = false;
	io->has_scraped = false;
	io->is_controls_turn = false;
	io->is_lost = false;
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
	io_target__proceed(io);
}

static void run_release(struct message *message)
{
	struct io_target *io =
		caa_container_of(message, struct io_target, release);

	if (io->state != IO_STOPPED)
		io_target__stop(io);
	io->state = IO_RELEASED;
	io->transport->operations->leave(io->transport);
	io->released_message.run = run_released;
	mailbox__post(io->control, &io->released_message);
}

static void io_target__order(struct io_target *io,
			     void (*run)(struct message *order))
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

void io_target__release(struct io_target *io)
{
	io->release.run = run_release;
	mailbox__post(io_thread__mailbox(io->thread), &io->release);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Asks for the table and the values of a connected target, in an I/O thread. */
#include "io_target.h"

#include <errno.h>


static void run_report(struct message *message)
{
	struct io_target *io = caa_container_of(message, struct io_target, report);

	io->reported(io, io->report_kind);
}

static void run_released(struct message *message)
{
	struct io_target *io = caa_container_of(message, struct io_target, released_message);

	io->released(io);
}

static void io_target__report(struct io_target *io, enum io_report report)
{
	io->is_controls_turn = true;
	io->report_kind = report;
	io->report.run = run_report;
	mailbox__post(io->control, &io->report);
}

/* Until an agent that is short of memory is asked for its table again. */
#define BUSY_NS 100000000ULL

static void io_target__stop(struct io_target *io)
{
	io->state = IO_STOPPED;
	timer__stop(&io->scrape_timer);
	timer__stop(&io->fetch_timer);
	timer__stop(&io->deadline_timer);
	timer__stop(&io->answer_timer);
	flow__stop(&io->flow);
}

static void io_target__drop_added(struct io_target *io)
{
	ring__release(io->added);
	io->added = NULL;
}

static void io_target__lose(struct io_target *io, enum io_loss loss, int error)
{
	if (io->state == IO_STOPPED)
		return;
	io_target__stop(io);
	io->loss = loss;
	io->loss_error = error;
	/* Otherwise when it is this thread's turn again. */
	if (!io->is_controls_turn)
		io_target__report(io, IO_LOST);
	else
		io->is_lost = true;
}

/* After the last scrape that is wanted; true if so. */
static bool io_target__end_if_done(struct io_target *io)
{
	if (!io->wanted ||
	    count__of(&io->summary->scrapes) + count__of(&io->summary->failed) < io->wanted)
		return false;
	io_target__stop(io);
	if (!io->is_controls_turn)
		io_target__report(io, IO_DONE);
	return true;
}

static void io_target__ask(struct io_target *io, enum io_state state, enum transport_part part)
{
	int err;

	io->state = state;
	if (io->transport->operations->is_call)
		timer__set_at(&io->answer_timer, monotonic_ns() + FLOW_LATE_NS);
	err = flow__ask(&io->flow, part);
	if (err)
		io_target__lose(io, IO_LOSS_POST, err);
}

static void io_target__fetch_table(struct io_target *io)
{
	io->age.fetched_ns = monotonic_ns();
	/* The changes that a call was told are in this answer. */
	if (io->transport->operations->is_call)
		io->is_told = false;
	io_target__ask(io, IO_FETCHING, TRANSPORT_TABLE);
}

/* The control loop takes a table, of the agent or of the mirror. */
static void io_target__want_table(struct io_target *io, enum io_report report)
{
	timer__stop(&io->fetch_timer);
	io->state = IO_FETCHING;
	io_target__report(io, report);
}

/* In the turn of the I/O thread: an update may have added entries. */
static bool io_target__may_have_added(const struct io_target *io)
{
	return io->is_added_told && io->takes_parts;
}

/* Others may follow; true unless the target is lost. */
static bool io_target__await_updates(struct io_target *io)
{
	const struct transport_operations *operations = io->transport->operations;
	const int err = operations->await_updates ? operations->await_updates(io->transport) : 0;

	if (err)
		io_target__lose(io, IO_LOSS_POST, err);
	return !err;
}

/*
 * Two threads need not wake each other for a table that is checked within microseconds.  Returns
 * true if no entry was added to it.
 */
static bool io_target__look_for_added(struct io_target *io, uint64_t now_ns)
{
	table_age__take_added(&io->age, now_ns);
	io->is_added_told = false;
	if (!io->finds_added(io)) {
		io_target__want_table(io, IO_ADDED_TOLD);
		return false;
	}
	if (!io_target__await_updates(io))
		return false;
	if (io->added)
		io_target__ask(io, IO_ADDING, TRANSPORT_ADDED);
	return !io->added;
}

/*
 * Takes the table from the mirror or fetches it: at once, or as soon as one of them is allowed
 * again.  After a change that a call was told it is fetched as soon as a mirror would be looked at.
 */
static void io_target__renew_table(struct io_target *io)
{
	uint64_t added_due_ns = io_target__may_have_added(io) ? table_age__added_due(&io->age) :
								UINT64_MAX;
	const uint64_t now_ns = monotonic_ns();
	uint64_t due_ns = table_age__due(&io->age);

	if (added_due_ns <= now_ns) {
		if (!io_target__look_for_added(io, now_ns))
			return;
		added_due_ns = UINT64_MAX;
	}
	if (io->is_told && table_age__told_due(&io->age) <= now_ns) {
		table_age__take_told(&io->age, now_ns);
		io->is_told = false;
		io_target__want_table(io, io->transport->operations->is_call ? IO_WANTS_TABLE :
									       IO_TABLE_TOLD);
		return;
	}
	/* It was in the middle of a change when it landed last. */
	if (io->fetch_delay_ns)
		due_ns = io->age.fetched_ns + io->fetch_delay_ns;
	if (io->age.changed && due_ns <= now_ns) {
		io_target__want_table(io, IO_WANTS_TABLE);
		return;
	}
	if (!io->age.changed)
		due_ns = UINT64_MAX;
	if (io->is_told && table_age__told_due(&io->age) < due_ns)
		due_ns = table_age__told_due(&io->age);
	if (added_due_ns < due_ns)
		due_ns = added_due_ns;
	if (due_ns != UINT64_MAX)
		timer__set_at(&io->fetch_timer, due_ns);
}

/*
 * If the table was last known to be current too long ago, its header is checked
 * first, or if it has changed, the table fetched.  An agent that is called checks itself.
 */
static void io_target__start_scraping(struct io_target *io)
{
	io->scrape_pending = true;
	if (table_age__permits(&io->age, monotonic_ns()) ||
	    (!io->age.changed && io->transport->operations->is_call)) {
		io_target__ask(io, IO_SCRAPING, TRANSPORT_VALUES);
	} else if (io->age.changed) {
		io->state = IO_FETCHING;
		io_target__renew_table(io);
	} else {
		io_target__ask(io, IO_CHECKING, TRANSPORT_HEADER);
	}
}

static void io_target__proceed(struct io_target *io)
{
	io->state = IO_IDLE;
	if (io->scrape_pending)
		io_target__start_scraping(io);
	else if (io->age.changed || io->is_told || io_target__may_have_added(io))
		io_target__renew_table(io);
}

/* Compares the header that landed: 0, 1 after a change, or lost (-1). */
static int io_target__check_header(struct io_target *io)
{
	const void *landing = ring__current(io->ring)->landing;

	switch (scraper__check(io->ring->scraper, landing)) {
	case 0:
		table_age__renew(&io->age, io->posted_ns);
		return 0;
	case -ESTALE:
		io->age.changed = true;
		return 1;
	default:
		io_target__lose(io, IO_LOSS_RESTART, 0);
		return -1;
	}
}

static void on_checked(struct io_target *io)
{
	int ret = io_target__check_header(io);

	if (!ret)
		io_target__ask(io, IO_SCRAPING, TRANSPORT_VALUES);
	else if (ret > 0)
		io_target__proceed(io);
}

/* Of the READs or requests that landed at @landed_ns, apart from their number and bytes. */
static struct sample_head io_target__head(struct io_target *io, uint64_t landed_ns)
{
	const struct transport *transport = io->transport;
	struct sample_head head = {
		.sequence = count__of(&io->summary->scrapes),
		.start_ns = io->posted_ns,
		.landed_ns = landed_ns,
		.failed = count__of(&io->summary->failed),
		.missed = count__of(&io->summary->missed),
		.fresh_until_ns = landed_ns + schedule__lost_after_ns(&io->schedule),
	};

	sample_head__date(&head, &io->wall_ns, transport->host_ns,
			  transport->accept.clock_uncertainty_ns);
	return head;
}

/* Counts a scrape with values, and leaves the rest to the worker of the target. */
static void io_target__hand_over(struct io_target *io, uint64_t landed_ns)
{
	struct summary *summary = io->summary;
	struct sample_head head;

	count__add(&summary->scrapes, 1);
	head = io_target__head(io, landed_ns);
	head.reads = io->transport->scrape.operations;
	head.bytes = io->transport->scrape.bytes;
	count__set(&io->landed_ns, landed_ns);
	count__add(&summary->reads, head.reads);
	count__add(&summary->bytes, head.bytes);
	latency__add(&summary->landed, landed_ns - head.start_ns);
	if (!decoder__hand_over(&io->decoder, io->ring, &head, io_thread__work(io->thread)))
		count__add(&summary->dropped, 1);
}

static void on_scraped(struct io_target *io)
{
	const bool is_call = io->transport->operations->is_call;
	uint64_t landed_ns = monotonic_ns();
	int ret = io_target__check_header(io);

	if (ret < 0)
		return;
	if (ret && !is_call && !table_age__covers(&io->age, landed_ns)) {
		count__add(&io->summary->discarded, 1);
		io_target__proceed(io);
		return;
	}
	io_target__hand_over(io, landed_ns);
	io->state = IO_IDLE;
	io->scrape_pending = false;
	io->has_scraped = true;
	if (!io_target__end_if_done(io) && io_target__await_updates(io))
		io_target__proceed(io);
}

/* Hands the values of added entries to the worker of the target; no scrape is counted. */
static void io_target__hand_over_added(struct io_target *io, uint64_t landed_ns)
{
	const struct scraper *scraper = io->added->scraper;
	struct sample_head head = io_target__head(io, landed_ns);
	struct summary *summary = io->summary;

	head.reads = scraper->read_count;
	head.bytes = scraper->bytes;
	if (io->added->lacks_header) {
		head.reads--;
		head.bytes -= scraper__header_read(scraper)->length;
	}
	count__add(&summary->parts, 1);
	/* The landing of the transport is used again, perhaps before the worker's turn. */
	ring__fill(io->added, io->transport->operations->added(io->transport));
	if (!decoder__hand_over(&io->decoder, io->added, &head, io_thread__work(io->thread)))
		count__add(&summary->dropped, 1);
}

/*
 * The entries are of a later table than the one that is scraped.  If the agent has changed that as
 * well, the rule of table_age__tell() decides: their ranges were readable later than current_ns.
 */
static void on_added(struct io_target *io)
{
	const char *landing = io->transport->operations->added(io->transport);
	const uint64_t landed_ns = monotonic_ns();
	const int ret = io->added->lacks_header ? -ESTALE :
						  scraper__check(io->added->scraper, landing);

	if (ret && ret != -ESTALE) {
		io_target__drop_added(io);
		io_target__lose(io, IO_LOSS_RESTART, 0);
		return;
	}
	if (!ret || table_age__covers(&io->age, landed_ns))
		io_target__hand_over_added(io, landed_ns);
	io_target__drop_added(io);
	io_target__proceed(io);
}

/* The agent serves no values of this table any more: the scrape waits for another table. */
static void on_stale(struct io_target *io)
{
	if (io->state == IO_STOPPED)
		return;
	table_age__expire(&io->age);
	count__add(&io->summary->discarded, 1);
	io_target__proceed(io);
}

/* The agent is short of memory: the scrape is left out, and a table fetched later. */
static void on_busy(struct io_target *io)
{
	if (io->state == IO_FETCHING) {
		timer__set_at(&io->fetch_timer, monotonic_ns() + BUSY_NS);
	} else if (io->state == IO_SCRAPING) {
		count__add(&io->summary->missed, 1);
		io->state = IO_IDLE;
		io->scrape_pending = false;
	}
}

void io_target__on_completion(struct io_target *io, int result)
{
	if (result)
		timer__stop(&io->answer_timer);
	flow__complete(&io->flow, result);
	if (result == -ESTALE)
		on_stale(io);
	else if (result == -EBUSY)
		on_busy(io);
	else if (result < 0)
		io_target__lose(io, IO_LOSS_TRANSPORT, 0);
	if (result <= 0)
		return;

	if (io->state != IO_STOPPED)
		io->posted_ns = io->flow.posted_ns;
	if (io->state == IO_FETCHING)
		io_target__report(io, IO_TABLE_LANDED);
	else if (io->state == IO_SCRAPING)
		on_scraped(io);
	else if (io->state == IO_CHECKING)
		on_checked(io);
	else if (io->state == IO_ADDING)
		on_added(io);
}

void io_target__on_update(struct io_target *io)
{
	count__add(&io->summary->updates, 1);
	io->is_told = true;
	io->is_added_told = true;
	if (io->state == IO_IDLE)
		io_target__renew_table(io);
}

static void io_target__on_failed(struct flow *flow, int error)
{
	io_target__lose(caa_container_of(flow, struct io_target, flow), IO_LOSS_POST, error);
}

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
	struct timers *timers = io_thread__timers(io->thread);
	int err;

	timer__init(&io->scrape_timer, timers, io_target__on_scrape_due, io);
	timer__init(&io->fetch_timer, timers, io_target__on_fetch_due, io);
	timer__init(&io->deadline_timer, timers, io_target__on_deadline, io);
	timer__init(&io->answer_timer, timers, io_target__on_late, io);
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

// SPDX-License-Identifier: GPL-2.0-only
/* Asks for the table and the values of a connected target, in an I/O thread. */
#include <errno.h>

#include "io_target_private.h"

static void run_report(struct message *message)
{
	struct io_target *io = caa_container_of(message, struct io_target, report);

	io->reported(io, io->report_kind);
}

void io_target__report(struct io_target *io, enum io_report report)
{
	io->is_controls_turn = true;
	io->report_kind = report;
	io->report.run = run_report;
	mailbox__post(io->control, &io->report);
}

/* Until an agent that is short of memory is asked for its table again. */
#define BUSY_NS 100000000ULL

void io_target__stop(struct io_target *io)
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

void io_target__lose(struct io_target *io, enum io_loss loss, int error)
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

bool io_target__end_if_done(struct io_target *io)
{
	if (!io->wanted ||
	    count__of(&io->summary->scrapes) + count__of(&io->summary->failed) < io->wanted)
		return false;
	io_target__stop(io);
	if (!io->is_controls_turn)
		io_target__report(io, IO_DONE);
	return true;
}

void io_target__ask(struct io_target *io, enum io_state state, enum transport_part part)
{
	int err;

	io->state = state;
	if (io->transport->operations->is_call)
		timer__set_at(&io->answer_timer, monotonic_ns() + FLOW_LATE_NS);
	err = flow__ask(&io->flow, part);
	if (err)
		io_target__lose(io, IO_LOSS_POST, err);
}

void io_target__fetch_table(struct io_target *io)
{
	io->age.fetched_ns = monotonic_ns();
	/* The changes that a call was told are in this answer. */
	if (io->transport->operations->is_call)
		io->is_told = false;
	io_target__ask(io, IO_FETCHING, TRANSPORT_TABLE);
}

void io_target__want_table(struct io_target *io, enum io_report report)
{
	timer__stop(&io->fetch_timer);
	io->state = IO_FETCHING;
	io_target__report(io, report);
}

bool io_target__may_have_added(const struct io_target *io)
{
	return io->is_added_told && io->takes_parts;
}

bool io_target__await_updates(struct io_target *io)
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
void io_target__renew_table(struct io_target *io)
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
void io_target__start_scraping(struct io_target *io)
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

void io_target__proceed(struct io_target *io)
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
	int ret;

	latency__ahead(&io->summary->landed, landed_ns - io->posted_ns);
	ret = io_target__check_header(io);
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

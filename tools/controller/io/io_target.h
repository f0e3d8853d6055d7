/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a target that belongs to its I/O thread, from its adoption to its release: when
 * scrapes are due, and the requests to the transport.
 *
 *   adopt --> fetching <--> idle <--> checking --> scraping
 *              ^    |         ^          |            |
 *              |    v         +----------+------------+
 *          order   report
 *
 * The control loop takes turns with the I/O thread.  The I/O thread reports when the table landed
 * or is needed, or when nothing more can be fetched; then it leaves the transport and the members
 * below "in turns" alone until the control loop gives an order; at most one report or order is
 * under way.  An update of the mirror makes the I/O thread report as soon as it is idle, at a
 * bounded rate (see table_age.h): so that the control loop plans scrapes with the new table, and
 * before that, if the table is long, so that it finds the added entries, whose values are then READ
 * alone (adding).  In a short table the I/O thread finds them itself, in its own turn.  Only
 * release, and before it retime, may be ordered at any time, and only io_target.released() says
 * that the I/O thread does not use the target any more.
 */
#ifndef CONTROLLER_IO_TARGET_H
#define CONTROLLER_IO_TARGET_H

#include <stdatomic.h>

#include "io_thread.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/decode/decoder.h"
#include "tools/controller/flow/table_age.h"

enum io_state {
	IO_RELEASED,
	IO_FETCHING, /* the table is on its way, or with the control loop */
	IO_IDLE, /* until the next scrape, or the table, is due */
	IO_CHECKING, /* the header is asked for before the values */
	IO_SCRAPING, /* values and header are asked for */
	IO_ADDING, /* the same of entries alone that were just added */
	IO_STOPPED, /* until it is released */
};

enum io_report {
	IO_WANTS_TABLE, /* order io_target__fetch() */
	/* Order io_target__fetch(), or with a ring io_target__go_on(). */
	IO_TABLE_LANDED,
	IO_ADDED_TOLD, /* the mirror was updated, and may have added entries; order go_on() */
	IO_TABLE_TOLD, /* the mirror was updated; order io_target__go_on() */
	IO_DONE, /* all wanted scrapes are done */
	IO_LOST, /* for the reason in @loss */
};

enum io_loss {
	IO_LOSS_TRANSPORT, /* its explain() */
	IO_LOSS_POST, /* loss_error is -errno */
	IO_LOSS_SILENCE, /* no answer for IO_SILENCE_NS */
	IO_LOSS_RESTART, /* of the agent: its table is a different one */
};

/* RC times out earlier, unless the device hangs or the agent does; TCP does not. */
#define IO_SILENCE_NS 10000000000ULL

struct io_target {
	/* Constant. */
	struct mailbox *control; /* of the control loop, where these two run */
	void (*reported)(struct io_target *io, enum io_report report);
	void (*released)(struct io_target *io);
	/*
	 * The exception: runs in the I/O thread, in its turn, when the mirror may have added entries.
	 * Sets @added if it has some to READ alone; false: the table is too long to look at it here.
	 */
	bool (*finds_added)(struct io_target *io);
	struct decoder decoder;
	struct summary *summary; /* see there which thread writes which member */
	/* CLOCK_MONOTONIC of the last whole scrape; 0 before the first.  Of the I/O thread. */
	count_t landed_ns;
	uint64_t wanted; /* scrapes, failed ones included; 0: without end */
	bool once;

	/* Set by the control loop before it orders to adopt. */
	struct io_thread *thread;
	struct transport *transport;
	uint64_t deadline_ns; /* for the first table, once: for the values */
	/* Handed over with adopt and released. */
	struct flow flow;
	struct schedule schedule;
	bool scrape_pending; /* due, but without values so far */
	bool has_scraped; /* since it was adopted */
	enum io_loss loss;
	int loss_error;

	/* In turns. */
	struct ring *ring; /* NULL: no table so far */
	struct table_age age; /* of the ring's table */
	uint64_t fetch_delay_ns; /* the table was in the middle of a change */
	uint64_t posted_ns; /* the part that landed last */
	bool has_news; /* the agent tells of changes: entries have no values yet */
	bool takes_parts; /* with a mirror: entries that were just added are READ alone */
	struct ring *added; /* of these, for which the transport is prepared, or NULL */

	/* Of the I/O thread. */
	enum io_state state;
	bool has_ring;
	bool is_controls_turn;
	bool is_lost; /* to be reported */
	bool is_told; /* the mirror was updated since it was looked at; of a call: a change told */
	bool is_added_told; /* the same, for added entries */
	int64_t wall_ns; /* see sample_head__date() */
	struct timer scrape_timer; /* the next scrape is due */
	struct timer fetch_timer; /* the table may be fetched */
	struct timer deadline_timer;
	struct timer answer_timer; /* of a call that is under way */

	/* Messages: three to the I/O thread, two from it. */
	struct message order;
	struct message release;
	struct message retime;
	atomic_bool is_retiming; /* retime is posted */
	atomic_uint_least64_t retimed_ns; /* the interval that was ordered last */
	struct message report;
	enum io_report report_kind;
	struct message released_message;
};

/* Orders, given by the control loop. */

/* Begins with the table, for which room was reserved. */
void io_target__adopt(struct io_target *io);
/* The same once more. */
void io_target__fetch(struct io_target *io);
/* Goes on with values, with the same ring or another, for which the transport is prepared. */
void io_target__go_on(struct io_target *io);
/* At any time between adopt and release: scrapes are due at another interval. */
void io_target__retime(struct io_target *io, uint64_t interval_ns);
/* At any time after adopt, once. */
void io_target__release(struct io_target *io);

/* The handler of completions of the transport. */
void io_target__on_completion(struct io_target *io, int result);
/* The handler of updates of the mirror, and of changes that a call is told. */
void io_target__on_update(struct io_target *io);

#endif /* CONTROLLER_IO_TARGET_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the parts of a target in the control loop.  Each part knows only the parts below it:
 *
 *   target_events.c  handles events: it connects, and begins and ends the target
 *   target_table.c   takes tables and plans scrapes for the I/O thread
 *   target.c         loses, retries and finishes the target
 *   target_status.c  tells others about it
 *   target_down.c    tells outputs of a target that is lost
 */
#ifndef CONTROLLER_TARGET_PRIVATE_H
#define CONTROLLER_TARGET_PRIVATE_H

#include "fetch.h"
#include "target.h"
#include "tools/controller/base/few.h"
#include "tools/controller/io/io_target.h"

enum target_state {
	TARGET_DISCONNECTED, /* until the next attempt to connect, and in line for it */
	TARGET_RESOLVING, /* its name */
	TARGET_CONNECTING,
	TARGET_READING, /* it belongs to an I/O thread */
	TARGET_RELEASING, /* until the I/O thread released it */
	TARGET_FINISHED,
};

/* The next step after its release. */
enum target_next {
	TARGET_LOSE, /* for the reason in @reason */
	TARGET_MOVE, /* connects again, for the I/O thread that is chosen */
	TARGET_FINISH, /* with @result */
};

#define TARGET_NO_ANSWER "no answer for 10 s"

/* Messages about a target: at most this many in ten minutes about its connection. */
#define TARGET_MESSAGES 20
#define TARGET_MESSAGES_NS 600000000000ULL
/* The same in an hour about its table. */
#define TARGET_TABLE_MESSAGES 10
#define TARGET_TABLE_MESSAGES_NS 3600000000000ULL

/* From the first loss of a connection to the next attempt to connect. */
#define TARGET_BACKOFF_MIN_US 100000ULL

struct target {
	struct io_target io; /* first: a target is found by it */
	struct target_context *context;
	const struct target_settings *settings;
	enum target_state state;
	enum target_next next;
	struct dart_error reason;
	int result;
	struct dart_error last_error; /* printed last; empty once connected */
	struct few said; /* messages about its connection */
	struct few said_of_table;

	/* While the target belongs to no I/O thread, these follow the schedule of @io as well. */
	struct timer scrape_timer; /* the next scrape is due, and fails */
	struct timer retry_timer; /* connect again, or fetch the table */
	struct timer connect_timeout;
	struct timer down_timer; /* without a whole scrape until then it is lost */
	uint64_t down_due_ns; /* of the down timer */
	bool is_down; /* it is lost, and outputs know */
	uint64_t missed_ns; /* since when other members are to know that it is lost; 0: it is not */
	uint64_t connect_deadline_ns;
	uint64_t backoff_us;
	bool withholds_interval; /* from its agent, which is too old to be told */
	bool withholds_mirror; /* the same */

	uint64_t interval_ns; /* that is wanted; the I/O thread learns of it by a message */
	uint64_t changed_ns; /* when it changed last, or 0 */
	struct target_role role;

	struct handshake handshake; /* from its turn to the first table, or the loss */
	struct resolution *resolution;
	unsigned int address_turn; /* which of several addresses of its name is tried */
	unsigned int address_count; /* as its name had last; 0: none, or it needs none */
	bool has_no_address; /* its name had none when it was asked for last, or has no answer yet */
	struct transport *transport;
	unsigned int team; /* of I/O threads, from target__new() on */
	uint64_t load; /* there */
	struct io_thread *thread; /* of the team: that of the transport */
	struct fetch fetch;
	int64_t table_begun_ns; /* CLOCK_THREAD_CPUTIME_ID, when the loop began with its last table */
	uint64_t added_generation; /* entries of later ones were not READ alone */
	bool has_added_failed; /* entries could not be READ alone since the last table */
	struct tap_table tapped; /* the bytes of a table, until a ring takes them */
	bool is_counted; /* in the capacity */
	uint64_t counted_bytes; /* with so many for a scrape */
	uint64_t since_ns; /* of the first table, or the loss, or the start */
	char *failure; /* why it was lost last; NULL: never lost */
	struct summary summary;
};

/* target.c */

/*
 * Prints a line to standard error, unless the sink owns the terminal, or the target had
 * TARGET_MESSAGES of them.
 */
void target__log(struct target *target, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same for a change of its table, of which it may have TARGET_TABLE_MESSAGES. */
void target__log_table(struct target *target, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Cancels the current step, disconnects and schedules a retry. */
void target__lose(struct target *target, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));
/* Disconnects, and connects again for another I/O thread: nothing is lost. */
void target__move(struct target *target, struct io_thread *thread);
/* Counts the target, with @bytes for each scrape, or 0 before its first table: see capacity.h. */
void target__count(struct target *target, uint64_t bytes);
/* Releases the scraped table; workers may still use scrapes of it. */
void target__drop_table(struct target *target);
/* Stops for good and reports @result. */
void target__finish(struct target *target, int result);
/* Finishes the target after the last requested scrape; true if so. */
bool target__finish_if_done(struct target *target);
/* 0, or -EHOSTUNREACH if the target never got values. */
int target__outcome(const struct target *target);
/* Ends the connection, if there is one; the target belongs to no I/O thread. */
void target__disconnect(struct target *target);
/* Disconnects after a loss for target->reason, and sets the time of the next attempt. */
void target__retry(struct target *target);

/* target_table.c */

/* The target connected: it goes to its I/O thread. */
void target__hand_over(struct target *target);
/* The I/O thread wants the table again; or the table landed. */
void target__prepare_fetch(struct target *target);
void target__take_landed(struct target *target);
/* The agent updated the mirror of a target with a ring. */
void target__take_told(struct target *target);
/* The same: the values of added entries are READ before others. */
void target__take_added(struct target *target);
/* See io_target.finds_added. */
bool target__finds_added(struct io_target *io);
/* The retry timer expired. */
void target__fetch_again(struct target *target);

/* target_down.c */

/* It is to be scraped from now on. */
void target__watch_down(struct target *target);
/* The down timer expired. */
void target__on_down(void *data);
/* Has it no whole scrape for so long that it is lost? */
bool target__is_lost(const struct target *target);

/* target_status.c */

/* The target is lost for @reason; @was_up: it was up until now. */
void target__note_failure(struct target *target, const char *reason, bool was_up);

#endif /* CONTROLLER_TARGET_PRIVATE_H */

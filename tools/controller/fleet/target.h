/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target: one agent to connect to and scrape, from the first attempt to
 * connect to the last scrape:
 *
 *   disconnected --> resolving --> connecting --> reading --> releasing --> finished
 *    ^                   |             |                          |
 *    +-------------------+-------------+------------ lost --------+
 *
 * Before it resolves and connects it waits for its turn: see handshakes.h.
 * The control loop does all this.  While the target is reading it belongs to an I/O
 * thread, which gets values from its transport whenever they are due, and which gives it back
 * before anything of it is freed: see io/io_target.h and transport/transport.h.  The control
 * loop decodes the tables that have landed and plans the scrapes.  A table that has changed
 * is fetched between scrapes, at a bounded rate (see table_age.h).
 */
#ifndef CONTROLLER_TARGET_H
#define CONTROLLER_TARGET_H

#include <systemd/sd-event.h>

#include <libdart/rpc/tls.h>

#include "clock_messages.h"
#include "handshakes.h"
#include "resolver.h"
#include "tools/controller/decode/sink.h"
#include "tools/controller/decode/tap.h"
#include "tools/controller/decode/workers.h"
#include "tools/controller/flow/capacity.h"
#include "tools/controller/io/io_threads.h"
#include "tools/controller/outputs/output.h"
#include "tools/controller/outputs/output_list.h"
#include "tools/controller/settings/options.h"

struct target;
struct condition;

/* Shared by all targets; must outlive them. */
struct target_context {
	sd_event *event;
	struct timers *timers;
	struct mailbox mailbox; /* of the control loop */
	struct resolver *resolver;
	struct flow_control *flow_control;
	struct io_threads io;
	struct capacity capacity; /* of targets that were READ or lost */
	uint8_t dscp; /* of calls over RDMA; 0: the default of the device */
	struct dart_tls *tls; /* for calls over TCP; NULL: no certificate is loaded */
	struct workers *workers;
	struct catalogs *catalogs;
	struct handshakes handshakes;
	struct sink *sink;
	struct tap *tap; /* NULL: nothing is recorded */
	struct validity validity; /* of the list of members */
	struct output *log; /* messages: standard error */
	struct output_list outputs; /* that run, for who reports on them */
	struct clock_messages clocks; /* of their hosts */
	const struct options *options;
	struct condition *condition; /* counts reloads; may be NULL */
	struct fleet *fleet; /* of finished() */
	size_t target_count; /* that are wanted */
	bool is_capacity_told; /* since others were wanted */
	/* The configuration was read again, with these settings for outputs.  May be NULL. */
	void (*configured)(struct target_context *context, const struct output_settings *outputs);
	/* Called once per target, never from within target__new(). */
	void (*finished)(struct target_context *context, struct target *target, int result);
};

/*
 * Starts to scrape.  @settings must outlive the target.  finished() gets 0 if
 * all requested scrapes are over, -EHOSTUNREACH if none of them got values, or
 * an error that ends the program.  Returns 0 or -errno.
 */
int target__new(struct target_context *context, const struct target_settings *settings,
		struct target **target);
/*
 * Stops scraping and counting the target: finished() gets 0, at once or when the I/O thread
 * released the target, unless the target finished before.
 */
void target__stop(struct target *target);
bool target__is_finished(const struct target *target);
/*
 * From now on it stands by, and is READ at this interval; 0: it is scraped.  Its connection stays.
 * Outputs get its values or not by target__mute() alone.
 */
void target__change(struct target *target, uint64_t standby_ns);
/* From now on outputs get nothing of it, or again everything. */
void target__mute(struct target *target, bool is_muted);
/* READs that a finished target posted may still be on the network. */
bool target__is_draining(const struct target *target);
/*
 * The target finished, and the workers ran all work that was handed over since, up to which they
 * use its scrapes; or the I/O threads ended, and the workers stopped.
 */
void target__free(struct target *target);

/*
 * True if it had no values for @after_ns more than its interval, or no connection for @after_ns,
 * both counted from @resumed_ns at the earliest; and since then until it has values or a table
 * again, whatever its interval is.
 */
bool target__is_missed(struct target *target, uint64_t resumed_ns, uint64_t after_ns);

const struct target_settings *target__settings(const struct target *target);
/* Set by target__new() and the fleet, which alone uses it. */
struct target_role {
	uint64_t standby_ns; /* see target_settings; 0: it is to be scraped */
	bool is_known; /* to outputs: added() was called, and removed() was not */
	bool is_leaving; /* outputs: removed() follows when the worker got that far */
};

struct target_role *target__role(struct target *target);
/* When nobody writes it any more: the workers are done with it, as for target__free(). */
const struct summary *target__summary(const struct target *target);

/* For who looks at the controller from outside while it runs. */
struct target_status {
	/*
	 * "waiting" for its turn to connect, "resolving", "connecting", "fetching", "up", or
	 * instead "standby", "silent", which is connected, but lost, or "finished"
	 */
	const char *state;
	uint64_t since_ns; /* CLOCK_MONOTONIC: since when it is up, or not up */
	const char *error; /* that it was lost for last; NULL: never lost */
	uint64_t interval_ns; /* between two READs of its values */
	bool is_on_standby;
	/* As in a summary; drops only of the worker's queue. */
	uint64_t scrapes, failed, missed, discarded, dropped, reads, bytes;
	struct {
		uint64_t min, p50, p90, p99, max;
	} landed_ns;
};

/* The error is valid until the event loop runs on. */
void target__status(const struct target *target, struct target_status *status);

#endif /* CONTROLLER_TARGET_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asking for parts as the flow control permits.  A flow is the transport of a target, and
 * all flows share the credits of their flow control (see credit_pool.h), or have a bound
 * each (bdp), or none.
 *
 * The control loop opens and closes a flow; in between an I/O thread asks.
 */
#ifndef CONTROLLER_FLOW_H
#define CONTROLLER_FLOW_H

#include <stdbool.h>
#include <sys/queue.h>

#include "credit_pool.h"
#include "tools/controller/base/timers.h"
#include "tools/controller/settings/settings.h"
#include "transport.h"

/* Many times what the answer of an agent that is well takes. */
#define FLOW_LATE_NS 100000000ULL

struct flow;
struct flow_control;

/* What @flow asked for could not be posted: @error is -errno.  May stop the flow. */
typedef void flow_failed(struct flow *flow, int error);

/* Belongs to its user; zeroed memory is a flow that is closed. */
struct flow {
	struct credit_share share; /* first: a flow is found by it */
	/* Set when it is opened. */
	struct flow_control *control;
	struct credit_group *group;
	bool is_counted; /* takes credits, if there are any */
	struct transport *transport; /* borrowed; NULL: closed */
	uint8_t class;
	/* Of the I/O thread. */
	flow_failed *failed; /* its user sets it before it asks */
	bool is_asking;
	uint32_t posted; /* fragments, without an answer so far */
	uint64_t posted_ns; /* CLOCK_MONOTONIC: before the first of the part; 0: none so far */
	uint64_t heard_ns; /* the last completion or byte, or post if later */
	bool is_lent; /* others have its credits, though it has not been answered */
	bool is_slow; /* an answer was late, and none in time since: it takes one credit */
	/*
	 * Of the control loop: fragments of transports that are gone, which may still be under
	 * way.
	 */
	uint32_t draining;
	uint64_t drained_ns;
	TAILQ_ENTRY(flow) place; /* among those that drain */
};

/*
 * In the control loop, whose @timers they are; @is_alone: there will never be more than one
 * target.  Returns 0 or -errno.
 */
int flow_control__new(struct timers *timers, const struct settings *settings, bool is_alone,
		      struct flow_control **control);
/* All flows have been ended.  @control may be NULL. */
void flow_control__free(struct flow_control *control);

/* Speed of the port that led to the first agent; 0: not known. */
uint64_t flow_control__bits_per_s(const struct flow_control *control);

/*
 * @transport has connected, and @taker is its I/O thread; it outlives the flow, until
 * flow__close().  The default of what may be in flight is that of the port that it uses, if
 * it is the first of all.  One by TCP takes credits if its address of this machine is on the
 * interface of that port; all by RDMA do.  Returns 0 or -ENOMEM.
 */
int flow__open(struct flow *flow, struct flow_control *control, uint8_t class,
	       struct transport *transport, struct credit_taker *taker);

/*
 * The transport is gone, once the flow has stopped.  Its credits come back when nothing of
 * what was posted can be on the network.  A flow that is closed stays so.
 */
void flow__close(struct flow *flow);

/* Nothing of it is left; the I/O threads have ended, or it was closed. */
void flow__end(struct flow *flow);

/* In the I/O thread. */

/* Asks for @part when there are credits for it; failed() may be called. */
int flow__ask(struct flow *flow, enum transport_part part);
/*
 * The transport has called completed() with this @result.  Posts what may be posted now, of
 * any flow of this thread.
 */
void flow__complete(struct flow *flow, int result);
/*
 * An answer that has not come for FLOW_LATE_NS keeps nobody else waiting: others get its
 * credits.  What it sends later is not bounded, so it takes one credit from then on, until
 * it has answered in time.  Only of a call.  False: it may have credits to lend later.
 */
bool flow__lend(struct flow *flow);
/* Asks for nothing more, until it is closed. */
void flow__stop(struct flow *flow);
/* Others have given back credits, and credit_taker.wake() was called. */
void flow_control__wake_up(struct flow_control *control, struct credit_taker *taker);

/* How long the host has been asked without an answer, in ns; 0 if it is not. */
uint64_t flow__silence_ns(const struct flow *flow);

/* Waits for credits, with nothing in flight. */
bool flow__waits(const struct flow *flow);

#endif /* CONTROLLER_FLOW_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests parts from hosts as fast as the flow control permits.  A flow is the transport of one
 * target.  Depending on the settings, all flows of a team of I/O threads share its credits (credit,
 * see credit_pool.h), each flow is bounded by itself (bdp), or nothing is bounded (none).
 *
 * The control loop opens and closes a flow; in between an I/O thread requests parts.
 */
#ifndef CONTROLLER_FLOW_H
#define CONTROLLER_FLOW_H

#include <stdbool.h>
#include <sys/queue.h>

#include "credit_pool.h"
#include "tools/controller/base/timers.h"
#include "tools/controller/settings/settings.h"
#include "transport.h"

/* The agent of a call is late after this time, many times that of a healthy agent. */
#define FLOW_LATE_NS 100000000ULL

struct flow;
struct flow_control;

/* Called when the transport of @flow failed to post with @error, -errno.  May stop the flow. */
typedef void flow_failed(struct flow *flow, int error);

/* The user owns the memory; zeroed memory is a closed flow. */
struct flow {
	struct credit_share share; /* first: a pointer to it is cast to the flow */
	/* Set by flow__open(). */
	struct flow_control *control;
	struct credit_pool *pool; /* of its taker */
	struct credit_group *group;
	bool is_counted; /* its bytes use the port that the credits are for */
	struct transport *transport; /* borrowed; NULL: closed */
	uint8_t class;
	/* Of the I/O thread. */
	flow_failed *failed; /* set by the user before flow__ask() */
	bool is_asking; /* a part was requested, and did not land or fail yet */
	uint32_t posted; /* fragments in flight */
	/* CLOCK_MONOTONIC before the first fragment of the part is posted; 0: not posted yet. */
	uint64_t posted_ns;
	/* When the host was heard last, or was asked while nothing was in flight, if later. */
	uint64_t heard_ns;
	bool is_lent; /* its credits are lent to other flows while its answer is outstanding */
	bool is_slow; /* the last answer was late: the flow takes only one credit */
	/*
	 * Of the control loop: fragments of closed transports that may still be on the network,
	 * and when none of them can be.
	 */
	uint32_t draining;
	uint64_t drained_ns;
	TAILQ_ENTRY(flow) place; /* in flow_control.draining */
};

/*
 * In the control loop, which runs @timers.  @is_alone: there will never be more than one
 * target.  Returns 0 or -errno.
 */
int flow_control__new(struct timers *timers, const struct settings *settings, bool is_alone,
		      struct flow_control **control);
/*
 * The credits of a team of I/O threads, from 0 to settings__io_teams() - 1, for their takers.  Each
 * team has an equal part of all bytes in flight, a fragment at least, so that teams share no lock.
 */
struct credit_pool *flow_control__pool(struct flow_control *control, unsigned int team);
/* After flow__end() of all flows.  @control may be NULL. */
void flow_control__free(struct flow_control *control);

/* Speed of the local port that the first flow uses; 0: not known. */
uint64_t flow_control__bits_per_s(const struct flow_control *control);

/*
 * Opens a flow over @transport, which has connected; @taker is the I/O thread that will adopt the
 * transport.  Both must live until flow__close() or flow__end(), the transport until just before.
 * The first flow of all decides the default limit of bytes in flight: that of the local port
 * which it uses.  Flows over RDMA take credits; a flow over TCP does if its local address belongs
 * to the interface of that port.  Returns 0 or -ENOMEM.
 */
int flow__open(struct flow *flow, struct flow_control *control, uint8_t class,
	       struct transport *transport, struct credit_taker *taker);

/*
 * Called when the flow was stopped and its transport freed.  The credits of posted fragments come
 * back when none of these can be on the network.  Does nothing if the flow is closed.
 */
void flow__close(struct flow *flow);

/* Gives back all credits of the flow at once.  After flow__close(), or when I/O threads ended. */
void flow__end(struct flow *flow);

/* In the I/O thread. */

/*
 * Requests @part, and posts its fragments as credits are granted, now or later.  May call
 * failed().  Returns 0, or -errno of begin().
 */
int flow__ask(struct flow *flow, enum transport_part part);
/*
 * Called for each completed() of the transport, with its @result: gives back credits, and posts
 * the fragments that were granted to any flow of this thread.
 */
void flow__complete(struct flow *flow, int result);
/*
 * Of a call: lends the credits of a request that has been unanswered for FLOW_LATE_NS to other
 * flows, so that they do not wait for this agent.  The bytes of its late answer are not bounded:
 * in return, the flow takes only one credit for each request until the agent answers in time.
 * False if the caller should try again later, because the flow may have credits to lend then.
 */
bool flow__lend(struct flow *flow);
/* Cancels the request for credits.  The next step is flow__close(). */
void flow__stop(struct flow *flow);
/* Called in the thread of @taker after credit_taker.wake(): other threads gave back credits. */
void flow__wake_up(struct credit_taker *taker);

/*
 * For how many ns the host has sent nothing while a request was in flight; 0 if nothing was
 * requested, or the request waits for credits.
 */
uint64_t flow__silence_ns(const struct flow *flow);

/* True if a request waits for credits, with nothing in flight. */
bool flow__waits(const struct flow *flow);

#endif /* CONTROLLER_FLOW_H */

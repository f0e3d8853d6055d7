/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Posting READs as the flow control permits.  A flow is the connection of a target, and
 * all flows share the credits of their flow control (see credit.h), or have a bound each
 * (bdp), or none.  For the event loop's thread only.
 */
#ifndef CONTROLLER_FLOW_H
#define CONTROLLER_FLOW_H

#include <stdbool.h>
#include <sys/queue.h>

#include <libdart/rdma/endpoint.h>

#include "credit.h"
#include "io/timers.h"
#include "settings.h"

struct flow;
struct flow_control;

/* READs of @flow could not be posted: @error is -errno.  May close the flow. */
typedef void flow_failed(struct flow *flow, int error);

/* Belongs to its user; zeroed memory is a flow that is closed. */
struct flow {
	struct credit_flow credit; /* first: a flow is found by it */
	struct flow_control *control;
	flow_failed *failed;
	struct dart_endpoint *endpoint; /* borrowed; NULL: closed */
	uint8_t class;
	bool is_reading;
	uint64_t posted_ns; /* CLOCK_MONOTONIC: the first READ of the batch */
	uint64_t heard_ns; /* the last completion, or post if later */
	/* READs of queue pairs that are gone, whose answers may still be under way. */
	uint32_t draining;
	uint64_t drained_ns;
	TAILQ_ENTRY(flow) place; /* among those that drain */
};

/* Returns 0 or -errno. */
int flow_control__new(struct timers *timers, const struct settings *settings,
		      struct flow_control **control);
/* All flows have been ended.  @control may be NULL. */
void flow_control__free(struct flow_control *control);

/* Speed of the port that led to the first agent; 0: not known. */
uint64_t flow_control__bits_per_s(const struct flow_control *control);

/*
 * @endpoint has connected; it outlives the flow, until flow__close().  The default of
 * what may be in flight is that of the port that it uses, if it is the first of all.
 */
void flow__open(struct flow *flow, struct flow_control *control, uint8_t class,
		struct dart_endpoint *endpoint, flow_failed *failed);

/*
 * The queue pair is gone, and READs of it wait no more.  Their credits come back when
 * nothing of what was posted can be on the network.  A flow that is closed stays so.
 */
void flow__close(struct flow *flow);

/* Frees what flow__close() left. */
void flow__end(struct flow *flow);

/* As dart_endpoint__read(), but when there are credits for it; failed() may be called. */
int flow__read(struct flow *flow, const struct dart_read *reads, uint32_t count);

/* As dart_endpoint__on_completion(); posts what may be posted now, of any flow. */
int flow__on_completion(struct flow *flow, struct dart_error *error);

/* How long READs have been posted without an answer, in ns; 0 if none are. */
uint64_t flow__silence_ns(const struct flow *flow);

/* Waits for credits, with nothing in flight. */
bool flow__waits(const struct flow *flow);

#endif /* CONTROLLER_FLOW_H */

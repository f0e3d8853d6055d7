/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credit-based flow control (ZERO, section 4.3): bounds what all hosts together may send
 * to this controller at once, so that the queue of no switch on the way grows beyond that
 * and neither ECN nor PFC sets in.
 *
 * READs are cut into fragments.  A credit lets one fragment be in flight: posting takes
 * it, completing returns it.  A flow is a queue pair with fragments to READ; it holds at
 * most min(16, max(1, credits / flows)) credits, where the flows of its class and of those
 * before it count, or fewer if the limit of each flow is lower.  Flows wait in line, in
 * order of arrival within their class.  The line with the lowest number goes first, unless
 * others have posted CREDIT_PATIENCE fragments since a later line had its turn: no line
 * starves.
 *
 * An answer of an agent cannot be cut: all that it can have in flight is asked for at once,
 * and granted whole or not at all.  Such a flow waits at the head of its line, and keeps
 * others waiting, until so many credits have come back.
 *
 * Pure code: it calls no verbs, reads no clock, allocates nothing and takes no lock.  No
 * function loops over flows.
 */
#ifndef CONTROLLER_CREDIT_H
#define CONTROLLER_CREDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define CREDIT_FRAGMENT 4096 /* bytes */
#define CREDIT_FLOW_MAX 16 /* READs that an adapter answers at a time */
#define CREDIT_CLASSES 4 /* 0 goes first */
#define CREDIT_PATIENCE 64 /* fragments */

/* Belongs to its user, who leaves the members alone, in zeroed memory. */
struct credit_flow {
	TAILQ_ENTRY(credit_flow) place; /* in line */
	uint32_t wanted; /* fragments that are not granted yet */
	uint16_t held; /* credits */
	uint8_t class;
	bool in_line;
	bool is_whole; /* what it wants is granted at once */
};

struct credit_line {
	TAILQ_HEAD(, credit_flow) flows;
	uint32_t passed_over; /* fragments, while it was not empty */
	uint32_t active; /* flows that want or hold some */
};

struct credit {
	uint32_t total; /* credits */
	uint32_t flow_max; /* of them, for each flow */
	uint32_t free;
	uint32_t waiting; /* flows in all lines */
	struct credit_line lines[CREDIT_CLASSES];
};

/*
 * At most @bytes are in flight, and at most @flow_bytes of each flow: UINT64_MAX for no
 * such limit.  A limit below one fragment is one fragment.
 */
void credit__init(struct credit *credit, uint64_t bytes, uint64_t flow_bytes);

/*
 * @flow wants @fragments more, in @class, below CREDIT_CLASSES.  The class of a flow that
 * wants or holds others stays as it is.  At most UINT32_MAX of them in all.
 */
void credit__ask(struct credit *credit, struct credit_flow *flow, uint8_t class,
		 uint32_t fragments);

/*
 * The same, for a flow that wants none: the grant will be for all @fragments, or for all
 * credits that there are, if those are fewer.
 */
void credit__ask_whole(struct credit *credit, struct credit_flow *flow, uint8_t class,
		       uint32_t fragments);

/*
 * Takes credits for the flow whose turn it is: the flow and how many @fragments it is to
 * post, at least 1, or NULL if there are no credits or no flow may have one now.  To be
 * called until it returns NULL, after credit__ask() and credit__give_back().
 */
struct credit_flow *credit__grant(struct credit *credit, uint32_t *fragments);

/* @fragments of @flow have completed: at most as many as it holds. */
void credit__give_back(struct credit *credit, struct credit_flow *flow, uint32_t fragments);

/*
 * @flow wants no more.  It keeps what it holds: READs of it that have been posted may still
 * be answered, even after its queue pair is gone.
 */
void credit__cancel(struct credit *credit, struct credit_flow *flow);

/* The queue pair of @flow is destroyed: nothing of it is in flight or wanted. */
void credit__end(struct credit *credit, struct credit_flow *flow);

#endif /* CONTROLLER_CREDIT_H */

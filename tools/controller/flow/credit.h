/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credit-based flow control (ZERO, section 4.3): bounds the bytes that all hosts together may
 * send to this controller at once, so that the queue of no switch on the way grows beyond this
 * bound and neither ECN nor PFC sets in.
 *
 * READs are cut into fragments.  A credit lets one fragment be in flight: posting takes
 * it, completing returns it.  A flow is a queue pair with fragments to READ; it holds at
 * most min(16, max(1, credits / flows)) credits, where the active flows of its own class and
 * of lower-numbered classes count, or fewer if the limit of each flow is lower.  Flows wait in
 * line, in order of arrival within their class.  The line with the lowest number goes first,
 * unless other lines were granted CREDIT_PATIENCE fragments while a later line waited for its
 * turn: no line starves.
 *
 * The answer of an agent cannot be cut: the flow requests credits for all bytes that the agent
 * can have in flight, and gets all of them or none.  Such a flow waits at the head of its line
 * and, when the turn of the line comes, stops all grants until enough credits came back.
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
#define CREDIT_FLOW_MAX 16 /* READs of a queue pair that an adapter answers at a time */
#define CREDIT_CLASSES 4 /* 0 goes first */
#define CREDIT_PATIENCE 64 /* fragments */

/* The user provides zeroed memory, and leaves the members alone. */
struct credit_flow {
	TAILQ_ENTRY(credit_flow) place; /* in line */
	uint32_t wanted; /* fragments requested, but not granted yet */
	uint16_t held; /* credits */
	uint8_t class;
	bool in_line;
	bool is_whole; /* gets all wanted credits at once or none */
};

struct credit_line {
	TAILQ_HEAD(, credit_flow) flows;
	uint32_t passed_over; /* fragments granted to other lines while flows waited in this one */
	uint32_t active; /* flows that want or hold credits */
};

struct credit {
	uint32_t total; /* credits */
	uint32_t flow_max; /* most credits that one flow may hold */
	uint32_t free;
	uint32_t waiting; /* flows in all lines */
	struct credit_line lines[CREDIT_CLASSES];
};

/*
 * Limits the bytes in flight to @bytes in all, and to @flow_bytes for each flow; UINT64_MAX
 * means no limit.  A limit below one fragment counts as one fragment.
 */
void credit__init(struct credit *credit, uint64_t bytes, uint64_t flow_bytes);

/*
 * Requests credits for @fragments more of @flow, in @class, which is below CREDIT_CLASSES.  A
 * flow that already wants or holds credits keeps its class.  A flow wants at most UINT32_MAX
 * fragments; more are not counted.
 */
void credit__ask(struct credit *credit, struct credit_flow *flow, uint8_t class,
		 uint32_t fragments);

/*
 * The same for a flow that wants no credits yet and gets its grant whole: for all @fragments, or
 * for the total of credits if that is less.
 */
void credit__ask_whole(struct credit *credit, struct credit_flow *flow, uint8_t class,
		       uint32_t fragments);

/*
 * Grants credits to the flow whose turn it is.  Returns the flow and sets @fragments to the
 * number that it should post, at least 1; NULL if no credit is free or no flow may get one now.
 * The caller repeats this until NULL after credit__ask(), _whole(), _give_back() and _cancel().
 */
struct credit_flow *credit__grant(struct credit *credit, uint32_t *fragments);

/* @fragments of @flow completed; at most as many as it holds. */
void credit__give_back(struct credit *credit, struct credit_flow *flow, uint32_t fragments);

/*
 * Withdraws the request of @flow.  The flow keeps the credits that it holds: the host may still
 * answer posted READs, even after the queue pair was destroyed.
 */
void credit__cancel(struct credit *credit, struct credit_flow *flow);

/* Withdraws the request of @flow and takes back its credits: none of its bytes is in flight. */
void credit__end(struct credit *credit, struct credit_flow *flow);

#endif /* CONTROLLER_CREDIT_H */

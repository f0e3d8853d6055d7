// SPDX-License-Identifier: GPL-2.0-only
/* The steps that change a switch, in a safe order: see steps.h. */
#include <string.h>

#include "steps.h"

struct change {
	const struct switch_state *now, *wanted;
	struct switch_steps *steps;
	bool reporter_is_replaced;
	bool leaves[DART_STORE_SHARES];	/* until all it needs is in place */
};

static void add(struct change *change, enum switch_verb verb,
		enum switch_object object, uint32_t number)
{
	change->steps->list[change->steps->count++] =
		(struct switch_step){ verb, object, number, number };
}

/* Adjacent shares that become equal are one step. */
static void add_share(struct change *change, enum switch_verb verb,
		      uint32_t share)
{
	const struct switch_entry *wanted = change->wanted->shares;
	struct switch_steps *steps = change->steps;
	struct switch_step *last = steps->list;

	if (steps->count)
		last += steps->count - 1;
	if (steps->count && last->object == SWITCH_STEP_SHARE &&
	    last->verb == verb && last->last + 1 == share &&
	    (verb == SWITCH_REMOVE ||
	     switch_entry__equal(&wanted[share - 1], &wanted[share])))
		last->last = share;
	else
		add(change, verb, SWITCH_STEP_SHARE, share);
}

/* Does it differ in a way that makes collectors refuse or misread reports? */
static bool is_reporter_replaced(const struct switch_entry *now,
				 const struct switch_entry *wanted)
{
	struct switch_entry other = *wanted;

	other.values[REPORTER_ALL_COPIES] = now->values[REPORTER_ALL_COPIES];
	return !switch_entry__equal(now, &other);
}

static bool is_replaced(const struct change *change, uint32_t number)
{
	const struct switch_entry *now = &change->now->collectors[number];
	const struct switch_entry *wanted = &change->wanted->collectors[number];

	return now->there && wanted->there && !switch_entry__equal(now, wanted);
}

static bool must_leave(const struct change *change, uint32_t share)
{
	const struct switch_entry *now = &change->now->shares[share];
	uint64_t number = now->values[SHARE_COLLECTOR];

	if (!now->there)
		return false;
	return !change->wanted->shares[share].there ||
	       change->reporter_is_replaced ||
	       number >= SWITCH_COLLECTORS_MAX ||
	       !change->now->collectors[number].there ||
	       is_replaced(change, number);
}

static void add_leaving_shares(struct change *change)
{
	uint32_t share;

	for (share = 0; share < DART_STORE_SHARES; share++) {
		change->leaves[share] = must_leave(change, share);
		if (change->leaves[share])
			add_share(change, SWITCH_REMOVE, share);
	}
}

/* A new queue pair expects its first PSN. */
static bool is_other_queue_pair(const struct switch_entry *now,
				const struct switch_entry *wanted)
{
	return !now->there ||
	       now->values[COLLECTOR_IP] != wanted->values[COLLECTOR_IP] ||
	       now->values[COLLECTOR_QPN] != wanted->values[COLLECTOR_QPN];
}

static void add_collectors(struct change *change)
{
	const struct switch_entry *now, *wanted;
	uint32_t number;

	for (number = 0; number < SWITCH_COLLECTORS_MAX; number++) {
		now = &change->now->collectors[number];
		wanted = &change->wanted->collectors[number];
		if (!wanted->there || switch_entry__equal(now, wanted))
			continue;
		if (is_other_queue_pair(now, wanted))
			add(change, SWITCH_CHANGE, SWITCH_STEP_PSN, number);
		add(change, now->there ? SWITCH_CHANGE : SWITCH_ADD,
		    SWITCH_STEP_COLLECTOR, number);
	}
}

/* Removes those with numbers from @number up to but without @end. */
static void add_leaving_collectors(struct change *change, uint32_t number,
				   uint32_t end)
{
	for (; number < end; number++)
		if (change->now->collectors[number].there &&
		    !change->wanted->collectors[number].there)
			add(change, SWITCH_REMOVE, SWITCH_STEP_COLLECTOR,
			    number);
}

static void add_sessions(struct change *change)
{
	int32_t now, wanted;
	uint32_t port;

	for (port = 0; port < SWITCH_PORTS; port++) {
		now = change->now->sessions[port];
		wanted = change->wanted->sessions[port];
		if (wanted == SWITCH_SESSION_NONE || now == wanted)
			continue;
		add(change,
		    now == SWITCH_SESSION_NONE ? SWITCH_ADD : SWITCH_CHANGE,
		    SWITCH_STEP_SESSION, port);
	}
}

static void add_reporter(struct change *change)
{
	const struct switch_entry *now = &change->now->reporter;

	if (!switch_entry__equal(now, &change->wanted->reporter))
		add(change, now->there ? SWITCH_CHANGE : SWITCH_ADD,
		    SWITCH_STEP_REPORTER, 0);
}

static void add_shares(struct change *change)
{
	const struct switch_entry *now, *wanted;
	uint32_t share;

	for (share = 0; share < DART_STORE_SHARES; share++) {
		now = &change->now->shares[share];
		wanted = &change->wanted->shares[share];
		if (!wanted->there)
			continue;
		if (!now->there || change->leaves[share])
			add_share(change, SWITCH_ADD, share);
		else if (!switch_entry__equal(now, wanted))
			add_share(change, SWITCH_CHANGE, share);
	}
}

void switch_steps__compute(const struct switch_state *now,
			   const struct switch_state *wanted,
			   struct switch_steps *steps)
{
	struct change change = {
		.now = now,
		.wanted = wanted,
		.steps = steps,
		.reporter_is_replaced =
			is_reporter_replaced(&now->reporter, &wanted->reporter),
	};

	steps->count = 0;
	add_leaving_shares(&change);
	add_leaving_collectors(&change, SWITCH_COLLECTORS_MAX,
			       SWITCH_COLLECTOR_KEYS);
	if (change.reporter_is_replaced)
		add_leaving_collectors(&change, 0, SWITCH_COLLECTORS_MAX);
	add_collectors(&change);
	add_sessions(&change);
	add_reporter(&change);
	add_shares(&change);
	if (!change.reporter_is_replaced)
		add_leaving_collectors(&change, 0, SWITCH_COLLECTORS_MAX);
}

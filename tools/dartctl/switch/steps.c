// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "steps.h"

struct planning {
	const struct switch_state *now, *wanted;
	struct switch_plan *plan;
	bool reporter_is_replaced;
	bool leaves[DART_STORE_SHARES];	/* until all it needs is there */
};

static void add(struct planning *planning, enum switch_verb verb,
		enum switch_object object, uint32_t number)
{
	planning->plan->steps[planning->plan->count++] =
		(struct switch_step){ verb, object, number, number };
}

/* Neighbours that become the same are one step. */
static void add_share(struct planning *planning, enum switch_verb verb,
		      uint32_t share)
{
	const struct switch_entry *wanted = planning->wanted->shares;
	struct switch_plan *plan = planning->plan;
	struct switch_step *last = plan->steps;

	if (plan->count)
		last += plan->count - 1;
	if (plan->count && last->object == SWITCH_STEP_SHARE &&
	    last->verb == verb && last->last + 1 == share &&
	    (verb == SWITCH_REMOVE ||
	     switch_entry__equal(&wanted[share - 1], &wanted[share])))
		last->last = share;
	else
		add(planning, verb, SWITCH_STEP_SHARE, share);
}

/* Is it another one by which reports would be refused, or laid out? */
static bool is_reporter_replaced(const struct switch_entry *now,
				 const struct switch_entry *wanted)
{
	struct switch_entry other = *wanted;

	other.values[REPORTER_ALL_COPIES] = now->values[REPORTER_ALL_COPIES];
	return !switch_entry__equal(now, &other);
}

static bool is_replaced(const struct planning *planning, uint32_t number)
{
	const struct switch_entry *now = &planning->now->collectors[number];
	const struct switch_entry *wanted =
		&planning->wanted->collectors[number];

	return now->there && wanted->there && !switch_entry__equal(now, wanted);
}

static bool must_leave(const struct planning *planning, uint32_t share)
{
	const struct switch_entry *now = &planning->now->shares[share];
	uint64_t number = now->values[SHARE_COLLECTOR];

	if (!now->there)
		return false;
	return !planning->wanted->shares[share].there ||
	       planning->reporter_is_replaced ||
	       number >= SWITCH_COLLECTORS_MAX ||
	       !planning->now->collectors[number].there ||
	       is_replaced(planning, number);
}

static void plan_leaving_shares(struct planning *planning)
{
	uint32_t share;

	for (share = 0; share < DART_STORE_SHARES; share++) {
		planning->leaves[share] = must_leave(planning, share);
		if (planning->leaves[share])
			add_share(planning, SWITCH_REMOVE, share);
	}
}

/* The other end of a queue pair has not heard of a PSN if it is another one. */
static bool is_other_queue_pair(const struct switch_entry *now,
				const struct switch_entry *wanted)
{
	return !now->there ||
	       now->values[COLLECTOR_IP] != wanted->values[COLLECTOR_IP] ||
	       now->values[COLLECTOR_QPN] != wanted->values[COLLECTOR_QPN];
}

static void plan_collectors(struct planning *planning)
{
	const struct switch_entry *now, *wanted;
	uint32_t number;

	for (number = 0; number < SWITCH_COLLECTORS_MAX; number++) {
		now = &planning->now->collectors[number];
		wanted = &planning->wanted->collectors[number];
		if (!wanted->there || switch_entry__equal(now, wanted))
			continue;
		if (is_other_queue_pair(now, wanted))
			add(planning, SWITCH_CHANGE, SWITCH_STEP_PSN, number);
		add(planning, now->there ? SWITCH_CHANGE : SWITCH_ADD,
		    SWITCH_STEP_COLLECTOR, number);
	}
}

/* Those with numbers from @number to before @end. */
static void plan_leaving_collectors(struct planning *planning, uint32_t number,
				    uint32_t end)
{
	for (; number < end; number++)
		if (planning->now->collectors[number].there &&
		    !planning->wanted->collectors[number].there)
			add(planning, SWITCH_REMOVE, SWITCH_STEP_COLLECTOR,
			    number);
}

static void plan_sessions(struct planning *planning)
{
	int32_t now, wanted;
	uint32_t port;

	for (port = 0; port < SWITCH_PORTS; port++) {
		now = planning->now->sessions[port];
		wanted = planning->wanted->sessions[port];
		if (wanted == SWITCH_SESSION_NONE || now == wanted)
			continue;
		add(planning, now == SWITCH_SESSION_NONE ? SWITCH_ADD :
							   SWITCH_CHANGE,
		    SWITCH_STEP_SESSION, port);
	}
}

static void plan_reporter(struct planning *planning)
{
	const struct switch_entry *now = &planning->now->reporter;

	if (!switch_entry__equal(now, &planning->wanted->reporter))
		add(planning, now->there ? SWITCH_CHANGE : SWITCH_ADD,
		    SWITCH_STEP_REPORTER, 0);
}

static void plan_shares(struct planning *planning)
{
	const struct switch_entry *now, *wanted;
	uint32_t share;

	for (share = 0; share < DART_STORE_SHARES; share++) {
		now = &planning->now->shares[share];
		wanted = &planning->wanted->shares[share];
		if (!wanted->there)
			continue;
		if (!now->there || planning->leaves[share])
			add_share(planning, SWITCH_ADD, share);
		else if (!switch_entry__equal(now, wanted))
			add_share(planning, SWITCH_CHANGE, share);
	}
}

void switch_plan__make(const struct switch_state *now,
		       const struct switch_state *wanted,
		       struct switch_plan *plan)
{
	struct planning planning = {
		.now = now,
		.wanted = wanted,
		.plan = plan,
		.reporter_is_replaced = is_reporter_replaced(&now->reporter,
							     &wanted->reporter),
	};

	plan->count = 0;
	plan_leaving_shares(&planning);
	plan_leaving_collectors(&planning, SWITCH_COLLECTORS_MAX,
				SWITCH_COLLECTOR_KEYS);
	if (planning.reporter_is_replaced)
		plan_leaving_collectors(&planning, 0, SWITCH_COLLECTORS_MAX);
	plan_collectors(&planning);
	plan_sessions(&planning);
	plan_reporter(&planning);
	plan_shares(&planning);
	if (!planning.reporter_is_replaced)
		plan_leaving_collectors(&planning, 0, SWITCH_COLLECTORS_MAX);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The steps that change a switch that reports, in a safe order, see steps.h. */
#include "steps.h"

struct change {
	const struct report_state *now, *wanted;
	struct switch_steps *steps;
	bool reporter_is_replaced;
	bool leaves[DART_STORE_SHARES];	/* until all that the share needs is in place */
};

/* Do they differ in a way that makes collectors refuse or misread reports? */
static bool is_reporter_replaced(const struct switch_entry *now, const struct switch_entry *wanted)
{
	struct switch_entry other = *wanted;

	other.values[REPORTER_ALL_COPIES] = now->values[REPORTER_ALL_COPIES];
	return !switch_entry__equal(now, &other);
}

/*
 * A new queue pair expects its first PSN, which tells apart those with reliable connections that get
 * the same number one after the other.
 */
static bool is_other_queue_pair(const struct change *change, uint32_t number)
{
	const struct switch_entry *now = &change->now->collectors[number];
	const struct switch_entry *wanted = &change->wanted->collectors[number];

	return !now->there || now->values[COLLECTOR_IP] != wanted->values[COLLECTOR_IP] ||
	       now->values[COLLECTOR_QPN] != wanted->values[COLLECTOR_QPN] ||
	       !switch_entry__equal(&change->now->connections[number],
				    &change->wanted->connections[number]);
}

/*
 * Does the number get another queue pair?  The switch changes an entry in one step, so the other
 * values of a queue pair that stays, as at a rotation of its store, change under its reports.
 */
static bool is_replaced(const struct change *change, uint32_t number)
{
	const struct switch_entry *now = &change->now->collectors[number];
	const struct switch_entry *wanted = &change->wanted->collectors[number];

	return now->there && wanted->there && is_other_queue_pair(change, number);
}

static bool must_leave(const struct change *change, uint32_t share)
{
	const struct switch_entry *now = &change->now->shares[share];
	uint64_t number = now->values[SHARE_COLLECTOR];

	if (!now->there)
		return false;
	return !change->wanted->shares[share].there || change->reporter_is_replaced ||
	       number >= SWITCH_HOSTS_MAX || !change->now->collectors[number].there ||
	       is_replaced(change, number);
}

static void remove_shares(struct change *change)
{
	uint32_t share;

	for (share = 0; share < DART_STORE_SHARES; share++)
		change->leaves[share] = must_leave(change, share);
	switch_steps__vacate(change->steps, REPORT_SHARE, change->leaves, DART_STORE_SHARES);
}

static void set_connection(struct change *change, uint32_t number)
{
	const struct switch_entry *now = &change->now->connections[number];
	const struct switch_entry *wanted = &change->wanted->connections[number];

	if (now->there && !wanted->there)
		switch_steps__add(change->steps, SWITCH_REMOVE, REPORT_CONNECTION, number);
	switch_steps__update(change->steps, REPORT_CONNECTION, now, wanted, number);
}

static void add_collectors(struct change *change)
{
	const struct switch_entry *now, *wanted;
	uint32_t number;

	for (number = 0; number < SWITCH_HOSTS_MAX; number++) {
		now = &change->now->collectors[number];
		wanted = &change->wanted->collectors[number];
		if (wanted->there && is_other_queue_pair(change, number))
			switch_steps__add(change->steps, SWITCH_CHANGE, REPORT_PSN, number);
		if (wanted->there)
			set_connection(change, number);
		switch_steps__update(change->steps, REPORT_COLLECTOR, now, wanted, number);
	}
}

/* Removes unwanted collectors from @number up to but without @end. */
static void remove_collectors(struct change *change, uint32_t number, uint32_t end)
{
	for (; number < end; number++) {
		if (change->wanted->collectors[number].there)
			continue;
		if (change->now->collectors[number].there)
			switch_steps__add(change->steps, SWITCH_REMOVE, REPORT_COLLECTOR, number);
		if (change->now->connections[number].there)
			switch_steps__add(change->steps, SWITCH_REMOVE, REPORT_CONNECTION, number);
	}
}

/* The table may have room only after unwanted entries are removed. */
static void change_answers(struct change *change)
{
	const struct switch_entry *now = change->now->answers, *wanted = change->wanted->answers;
	static const struct switch_entry nothing;
	uint32_t i;

	for (i = 0; i < SWITCH_HOSTS_MAX; i++)
		if (now[i].there && !report_state__answer(wanted, &now[i]))
			switch_steps__add(change->steps, SWITCH_REMOVE, REPORT_ANSWER, i);
	for (i = 0; i < SWITCH_HOSTS_MAX; i++)
		if (wanted[i].there)
			switch_steps__update(change->steps, REPORT_ANSWER,
					     report_state__answer(now, &wanted[i]) ?: &nothing,
					     &wanted[i], i);
}

int report_steps__compute(const struct report_state *now, const struct report_state *wanted,
			  struct switch_steps *steps)
{
	struct change change = {
		.now = now,
		.wanted = wanted,
		.steps = steps,
		.reporter_is_replaced = is_reporter_replaced(&now->reporter, &wanted->reporter),
	};
	uint32_t port;

	switch_steps__begin(steps);
	remove_shares(&change);
	remove_collectors(&change, SWITCH_HOSTS_MAX, REPORT_COLLECTOR_KEYS);
	if (change.reporter_is_replaced)
		remove_collectors(&change, 0, SWITCH_HOSTS_MAX);
	add_collectors(&change);
	change_answers(&change);
	for (port = 0; port < SWITCH_PORTS; port++)
		switch_steps__update(steps, REPORT_SESSION, &now->sessions[port],
				     &wanted->sessions[port], port);
	switch_steps__update(steps, REPORT_REPORTER, &now->reporter, &wanted->reporter, 0);
	switch_steps__fill(steps, REPORT_SHARE, now->shares, wanted->shares, change.leaves,
			   DART_STORE_SHARES);
	if (!change.reporter_is_replaced)
		remove_collectors(&change, 0, SWITCH_HOSTS_MAX);
	switch_steps__update(steps, REPORT_TRANSLATION, &now->translation, &wanted->translation, 0);
	return switch_steps__end(steps);
}

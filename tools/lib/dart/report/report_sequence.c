// SPDX-License-Identifier: LGPL-2.1-or-later
/* Follows the expected PSN of a reliable connection. */
#include "report_sequence_internal.h"

#define NS_PER_MS UINT64_C(1000000)
/* Reports that no other follows are asked for after this time. */
#define QUIET_NS (10 * NS_PER_MS)
/*
 * A probe without an answer is sent again after this time, or twice that of the slowest answers, then
 * after twice as long, ...
 */
#define RETRY_NS (20 * NS_PER_MS)
#define RETRY_MAX_NS (1000 * NS_PER_MS)
/* The expected PSN of a queue pair that has not stopped rises within this time, or four times that. */
#define STALL_NS (20 * NS_PER_MS)

/* From a first PSN to one that is earlier than all that the first one is not earlier than. */
#define FAR 0x7fffff

/* From PSN @b to @a. */
static uint32_t distance(uint32_t a, uint32_t b)
{
	return (a - b) & DART_ROCE_PSN_MASK;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void dart_report_sequence__begin(struct dart_report_sequence *sequence,
				 const struct dart_collector *collector)
{
	*sequence = (struct dart_report_sequence){
		.next = collector->first_psn,
		.expected = collector->first_psn,
		.top = collector->first_psn,
		.pause = RETRY_NS,
	};
	if (collector->is_reliable)
		sequence->progress.state = DART_REPORT_ASKING;
}

void dart_report_sequence__renew(struct dart_report_sequence *sequence,
				 const struct dart_collector *collector)
{
	const struct dart_report_progress former = sequence->progress;

	dart_report_sequence__begin(sequence, collector);
	sequence->progress.lost_before = former.lost_before;
	if (former.state != DART_REPORT_UNFOLLOWED)
		sequence->progress.lost_before += former.reports - former.arrived;
}

uint32_t dart_report_sequence__take_psn(struct dart_report_sequence *sequence)
{
	const uint32_t psn = sequence->next;

	sequence->next = (psn + 1) & DART_ROCE_PSN_MASK;
	sequence->progress.reports++;
	if (sequence->progress.state != DART_REPORT_FOLLOWED)
		return psn;
	sequence->unasked++;
	/* Nothing was answered for all PSNs there are. */
	if (distance(psn, sequence->expected) == DART_ROCE_PSN_MASK)
		sequence->next = sequence->expected;
	else if (distance(sequence->next, sequence->expected) >
		 distance(sequence->top, sequence->expected))
		sequence->top = sequence->next;
	return psn;
}

/* ---- probes */

uint64_t dart_report_sequence__due(const struct dart_report_sequence *sequence)
{
	switch (sequence->progress.state) {
	case DART_REPORT_ASKING:
		return sequence->is_probing ? sequence->probe_at + sequence->pause : 0;
	case DART_REPORT_FOLLOWED:
		if (sequence->is_probing)
			return sequence->probe_at + sequence->pause;
		if (sequence->unasked >= DART_STORE_PROBE_REPORTS)
			return 0;
		return sequence->next == sequence->expected ? UINT64_MAX :
							      sequence->probe_at + QUIET_NS;
	case DART_REPORT_UNFOLLOWED:
	case DART_REPORT_REFUSED:
		break;
	}
	return UINT64_MAX;
}

/* The time until the next try, and the times that answers are measured by. */
static void note_probe(struct dart_report_sequence *sequence, uint64_t now)
{
	if (sequence->is_probing) {
		sequence->pause *= 2;
	} else {
		sequence->pause = longer(RETRY_NS, 2 * sequence->slow);
		sequence->tried_at = now;
	}
	if (sequence->pause > RETRY_MAX_NS)
		sequence->pause = RETRY_MAX_NS;
	sequence->probe_at = now;
	if (!sequence->stalled_at)
		sequence->stalled_at = now;
	sequence->unasked = 0;
}

uint32_t dart_report_sequence__probe(struct dart_report_sequence *sequence, uint64_t now)
{
	const bool is_retry = sequence->is_probing;

	note_probe(sequence, now);
	sequence->is_probing = true;
	if (sequence->progress.state == DART_REPORT_FOLLOWED) {
		/* An answer to a former try says nothing of the reports since then. */
		if (!is_retry)
			sequence->probe_end = sequence->next;
		return (sequence->expected - 1) & DART_ROCE_PSN_MASK;
	}
	sequence->is_odd = is_retry && !sequence->is_odd;
	/* Its NAK may come after the answer to another one. */
	sequence->has_refused |= sequence->is_odd;
	return (sequence->expected + (sequence->is_odd ? FAR : 0)) & DART_ROCE_PSN_MASK;
}

/* ---- answers */

/* Counts the reports before @expected; false if they were counted, or never sent. */
static bool count(struct dart_report_sequence *sequence, uint32_t expected)
{
	const uint32_t rise = distance(expected, sequence->expected);

	if (rise > distance(sequence->top, sequence->expected))
		return false;
	sequence->progress.arrived += rise;
	sequence->expected = expected;
	/* These were dropped as earlier ones. */
	if (distance(sequence->next, expected) > distance(sequence->top, expected))
		sequence->next = expected;
	if (rise || sequence->next == expected)
		sequence->stalled_at = 0;
	if (rise)
		sequence->has_refused = false;
	return true;
}

/* The queue pair has stopped, or its reporter has learnt where it stands. */
static void start_again(struct dart_report_sequence *sequence)
{
	sequence->next = sequence->expected;
	sequence->is_probing = false;
	sequence->stalled_at = 0;
	sequence->unasked = 0;
}

static void end_probe(struct dart_report_sequence *sequence, uint64_t now)
{
	if (!sequence->is_probing)
		return;
	sequence->is_probing = false;
	sequence->slow = longer(sequence->slow - sequence->slow / 8, now - sequence->tried_at);
}

/* Until it is known where the queue pair stands. */
static void begin_at(struct dart_report_sequence *sequence, const struct dart_roce_answer *answer,
		     uint64_t now)
{
	end_probe(sequence, now);
	if (answer->kind == DART_ROCE_OUT_OF_SEQUENCE) {
		sequence->expected = answer->psn;
		sequence->has_refused = true;
		return;
	}
	sequence->expected = distance(answer->psn + 1, 0);
	sequence->top = sequence->expected;
	sequence->progress.state = DART_REPORT_FOLLOWED;
	start_again(sequence);
}

/* Has the expected PSN not risen for so long that no answer can be older than the last rise? */
static bool has_stalled(const struct dart_report_sequence *sequence)
{
	return sequence->is_probing && sequence->stalled_at &&
	       sequence->probe_at - sequence->stalled_at >= longer(STALL_NS, 4 * sequence->slow);
}

static void acknowledge(struct dart_report_sequence *sequence, uint32_t expected, uint64_t now)
{
	if (!count(sequence, expected))
		return;
	if (has_stalled(sequence) && distance(sequence->probe_end, expected)) {
		sequence->progress.stops++;
		start_again(sequence);
	}
	end_probe(sequence, now);
}

/* A queue pair refuses once where it stands, so that another NAK of this PSN is a former one. */
static void refuse(struct dart_report_sequence *sequence, uint32_t expected)
{
	const bool is_known = sequence->has_refused && expected == sequence->expected;

	if (is_known || !count(sequence, expected) || sequence->next == expected)
		return;
	sequence->progress.stops++;
	start_again(sequence);
	sequence->has_refused = true;
}

void dart_report_sequence__answer(struct dart_report_sequence *sequence,
				  const struct dart_roce_answer *answer, uint64_t now)
{
	const enum dart_report_state state = sequence->progress.state;

	if (state != DART_REPORT_ASKING && state != DART_REPORT_FOLLOWED)
		return;
	switch (answer->kind) {
	case DART_ROCE_ACKNOWLEDGED:
		if (state == DART_REPORT_ASKING)
			begin_at(sequence, answer, now);
		else
			acknowledge(sequence, distance(answer->psn + 1, 0), now);
		break;
	case DART_ROCE_OUT_OF_SEQUENCE:
		if (state == DART_REPORT_ASKING)
			begin_at(sequence, answer, now);
		else
			refuse(sequence, answer->psn);
		break;
	case DART_ROCE_REFUSED:
		if (state == DART_REPORT_FOLLOWED)
			count(sequence, answer->psn);
		sequence->progress.state = DART_REPORT_REFUSED;
		break;
	case DART_ROCE_NOT_READY:
		break;
	}
}

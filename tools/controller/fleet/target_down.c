// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells outputs when a target is lost: it had no whole scrape for three of its intervals, and for 5
 * s at least, whether its connection failed, was never made, or is silent.  Outputs do not hear of
 * a shorter gap, such as the restart of an agent.  They are told again for each interval, because a
 * single point only describes that moment.
 */
#include <stdio.h>

#include <libdart/clock.h>

#include "target_private.h"

/* A timer that expires this much too late tells of the controller, not of the host. */
#define DOWN_LATE_NS 1000000000ULL
/* Between two reports, however short the interval is. */
#define DOWN_REPEAT_NS 1000000000ULL

static void target__set_down(struct target *target, uint64_t due_ns)
{
	target->down_due_ns = due_ns;
	timer__set_at(&target->down_timer, due_ns);
}

void target__watch_down(struct target *target)
{
	const uint64_t since_ns = target->changed_ns > target->since_ns ? target->changed_ns :
									  target->since_ns;

	target->is_down = false;
	target__set_down(target, since_ns + interval__lost_after_ns(target->interval_ns));
}

/* Why there are no values, as far as the control loop knows. */
static const char *target__why_down(const struct target *target, char *text, size_t size)
{
	const uint64_t after_ns = interval__lost_after_ns(target->interval_ns);

	if (target->state != TARGET_READING && target->failure)
		return target->failure;
	snprintf(text, size, "no values for %llu s", (unsigned long long)(after_ns / 1000000000));
	return text;
}

void target__on_down(void *data)
{
	struct target *target = data;
	const uint64_t after_ns = interval__lost_after_ns(target->interval_ns);
	const uint64_t landed_ns = count__of(&target->io.landed_ns);
	const uint64_t now_ns = monotonic_ns();
	char text[64];

	/* Since the timer was set for the last time. */
	if (landed_ns && landed_ns + after_ns > now_ns) {
		target->is_down = false;
		target__set_down(target, landed_ns + after_ns);
		return;
	}
	if (!target->is_down && now_ns > target->down_due_ns + DOWN_LATE_NS) {
		/* The controller was stopped, or starved: it asked no agent meanwhile. */
		target__set_down(target, now_ns + after_ns);
		return;
	}
	target->is_down = true;
	/* If memory is short, or the worker late, outputs are told next time. */
	if (!atomic_load(&target->io.decoder.is_down_queued))
		decoder__report_down(&target->io.decoder, dart_clock__ns(CLOCK_REALTIME),
				     target__why_down(target, text, sizeof(text)));
	target__set_down(target,
			 now_ns + (target->interval_ns > DOWN_REPEAT_NS ? target->interval_ns :
									  DOWN_REPEAT_NS));
}

bool target__is_lost(const struct target *target)
{
	uint64_t since_ns = count__of(&target->io.landed_ns);

	/* It is given as long from the table on. */
	if (since_ns < target->since_ns)
		since_ns = target->since_ns;
	/* And from a change of its interval on. */
	if (since_ns < target->changed_ns)
		since_ns = target->changed_ns;
	return monotonic_ns() - since_ns > interval__lost_after_ns(target->interval_ns);
}

/* When it last had values, or the first table of a connection that it still has. */
static uint64_t target__reached_ns(const struct target *target)
{
	const uint64_t landed_ns = count__of(&target->io.landed_ns);
	const bool has_table = target->state == TARGET_READING && target->io.ring;

	return has_table && target->since_ns > landed_ns ? target->since_ns : landed_ns;
}

bool target__is_missed(struct target *target, uint64_t resumed_ns, uint64_t after_ns)
{
	const uint64_t reached_ns = target__reached_ns(target), now_ns = monotonic_ns();
	const bool has_table = target->state == TARGET_READING && target->io.ring;
	uint64_t since_ns = reached_ns > resumed_ns ? reached_ns : resumed_ns;

	if (target->state == TARGET_FINISHED || reached_ns > target->missed_ns)
		target->missed_ns = 0;
	if (target->missed_ns || target->state == TARGET_FINISHED)
		return target->missed_ns;
	/* Its first connection takes its time on a busy machine. */
	if (!reached_ns && !target->failure)
		return false;
	/* From the start, a loss, or a change of the interval on. */
	if (since_ns < target->since_ns)
		since_ns = target->since_ns;
	if (has_table && since_ns < target->changed_ns)
		since_ns = target->changed_ns;
	if (now_ns > since_ns + after_ns + (has_table ? target->interval_ns : 0))
		target->missed_ns = now_ns;
	return target->missed_ns;
}

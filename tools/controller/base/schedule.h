/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When scrapes are due: at fixed intervals, without drift, each target in a slot of the interval,
 * so that the scrapes of all targets are a steady load.
 */
#ifndef CONTROLLER_SCHEDULE_H
#define CONTROLLER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <libdart/clock.h>

struct schedule {
	uint64_t interval_ns;
	uint64_t phase; /* any number: chooses the slot of the interval */
	uint64_t next_ns; /* CLOCK_MONOTONIC */
	uint64_t extra_ns; /* extra scrapes have used up the time until then */
};

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t monotonic_ns(void)
{
	return dart_clock__ns(CLOCK_MONOTONIC);
}

/*
 * Slots are so wide that, with thousands of targets, a thread wakes up for several of them at a
 * time, and so many in a short interval that no slot has a big part of the targets.
 */
#define SCHEDULE_SLOT_MAX_NS 1000000ULL
#define SCHEDULE_SLOTS_MIN 64

/* Returns how long a slot of @interval_ns is; 0 if the interval is too short for slots. */
static inline uint64_t schedule__slot_ns(uint64_t interval_ns)
{
	const uint64_t share_ns = interval_ns / SCHEDULE_SLOTS_MIN;

	return share_ns < SCHEDULE_SLOT_MAX_NS ? share_ns : SCHEDULE_SLOT_MAX_NS;
}

/* When in an interval scrapes of this schedule are due, if it is as long as @interval_ns. */
static inline uint64_t schedule__phase_ns(const struct schedule *schedule, uint64_t interval_ns)
{
	const uint64_t slot_ns = schedule__slot_ns(interval_ns);

	if (!slot_ns)
		return schedule->phase % interval_ns;
	return schedule->phase % (interval_ns / slot_ns) * slot_ns;
}

/*
 * Starts the schedule after a first scrape at @now_ns: the second is due at least half an
 * interval and at most one and a half intervals later.
 */
static inline void schedule__start(struct schedule *schedule, uint64_t now_ns)
{
	const uint64_t interval_ns = schedule->interval_ns;
	const uint64_t phase_ns = schedule__phase_ns(schedule, interval_ns);
	const uint64_t earliest_ns = now_ns + interval_ns / 2;

	schedule->next_ns =
		earliest_ns + (interval_ns + phase_ns - earliest_ns % interval_ns) % interval_ns;
}

/*
 * Changes the interval.  If the schedule is started, the next scrape is due at once if the interval
 * becomes shorter, because another controller may have scraped the target an interval ago;
 * otherwise within the new interval.  Afterwards scrapes are due at the phase of the target.
 */
static inline void schedule__change(struct schedule *schedule, uint64_t interval_ns,
				    uint64_t now_ns)
{
	const uint64_t phase_ns = schedule__phase_ns(schedule, interval_ns);
	const uint64_t due_ns =
		now_ns + (interval_ns + phase_ns - now_ns % interval_ns) % interval_ns;
	const bool is_shorter = interval_ns < schedule->interval_ns;

	schedule->interval_ns = interval_ns;
	if (schedule->next_ns)
		schedule->next_ns = is_shorter && due_ns > now_ns ? due_ns - interval_ns : due_ns;
}

/* Returns how many scrapes became due by @now_ns, and moves next_ns beyond it. */
static inline uint64_t schedule__take(struct schedule *schedule, uint64_t now_ns)
{
	uint64_t due;

	if (now_ns < schedule->next_ns)
		return 0;
	due = (now_ns - schedule->next_ns) / schedule->interval_ns + 1;
	schedule->next_ns += due * schedule->interval_ns;
	return due;
}

/* Extra scrapes that may follow each other at once. */
#define SCHEDULE_EXTRA_MOST 8

/*
 * Returns whether there may be an extra scrape at @now_ns, which then counts: on average no more of
 * them than scrapes that are due.
 */
static inline bool schedule__take_extra(struct schedule *schedule, uint64_t now_ns)
{
	/* Does not overflow: an interval is at most an hour. */
	if (schedule->extra_ns > now_ns + (SCHEDULE_EXTRA_MOST - 1) * schedule->interval_ns)
		return false;
	if (schedule->extra_ns < now_ns)
		schedule->extra_ns = now_ns;
	schedule->extra_ns += schedule->interval_ns;
	return true;
}

/* Without a whole scrape for this number of intervals, and at least this time, a target is lost. */
#define SCHEDULE_LOST_INTERVALS 3
#define SCHEDULE_LOST_MIN_NS 5000000000ULL

/* How long the values of a scrape at this interval are fresh; afterwards the target is lost. */
static inline uint64_t interval__lost_after_ns(uint64_t interval_ns)
{
	/* Does not overflow: an interval is at most an hour. */
	const uint64_t after_ns = SCHEDULE_LOST_INTERVALS * interval_ns;

	return after_ns > SCHEDULE_LOST_MIN_NS ? after_ns : SCHEDULE_LOST_MIN_NS;
}

static inline uint64_t schedule__lost_after_ns(const struct schedule *schedule)
{
	return interval__lost_after_ns(schedule->interval_ns);
}

#endif /* CONTROLLER_SCHEDULE_H */

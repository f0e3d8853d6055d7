/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a fetched table may be used.  When a range leaves the table, the agent keeps its
 * memory readable for a lease: values are valid if their READs ended within a lease after the
 * last moment at which the table was known to be current.  So a table that changes all the time
 * delays no scrape: scrapes use an older table, which is replaced at a bounded rate.
 */
#ifndef CONTROLLER_TABLE_AGE_H
#define CONTROLLER_TABLE_AGE_H

#include <stdbool.h>
#include <stdint.h>

#include <dart/control.h>

/* Shortest time between two fetches of a table that changes often; a quarter of a short lease. */
#define TABLE_INTERVAL_NS 500000000ULL
/* The same for an agent whose lease is zero or very short. */
#define TABLE_INTERVAL_MIN_NS 1000000ULL
/*
 * The tables of one agent take the control loop, which all agents share, one in this many parts of
 * its time, whatever lease the agent claims.
 */
#define TABLE_COST_PARTS 4

/* Times are CLOCK_MONOTONIC of the controller, in ns. */
struct table_age {
	uint64_t lease_ns;
	uint64_t told_ns; /* looks at the mirror have used up the time until then */
	uint64_t added_ns; /* when added entries may be looked for again */
	uint32_t length; /* of the table that the mirror told last, bytes */
	uint64_t cost_ns; /* CPU time that the control loop needed for the last table */
	uint64_t fetched_ns; /* when the table was last requested */
	uint64_t current_ns; /* this generation was current then or later; 0: unknown, or expired */
	bool changed; /* a header showed a later generation, or the agent refused this one */
};

/* A request posted at @posted_ns landed the whole table, or its unchanged header. */
static inline void table_age__renew(struct table_age *age, uint64_t posted_ns)
{
	age->current_ns = posted_ns;
	age->changed = false;
}

/* The agent refused values of this table as too old: values need another table. */
static inline void table_age__expire(struct table_age *age)
{
	age->current_ns = 0;
	age->changed = true;
}

/* True if every range of the table was readable until @landed_ns. */
static inline bool table_age__covers(const struct table_age *age, uint64_t landed_ns)
{
	return landed_ns - age->current_ns < age->lease_ns;
}

/* True if READs of values may begin at @now_ns: at least half of the lease is left for them. */
static inline bool table_age__permits(const struct table_age *age, uint64_t now_ns)
{
	/* A difference, so that neither a long lease nor a recent boot overflows. */
	return age->current_ns && now_ns - age->current_ns < age->lease_ns / 2;
}

static inline uint64_t table_age__interval(const struct table_age *age)
{
	uint64_t interval_ns = age->lease_ns / 4;

	if (interval_ns > TABLE_INTERVAL_NS)
		interval_ns = TABLE_INTERVAL_NS;
	if (interval_ns < TABLE_INTERVAL_MIN_NS)
		interval_ns = TABLE_INTERVAL_MIN_NS;
	if (interval_ns < TABLE_COST_PARTS * age->cost_ns)
		interval_ns = TABLE_COST_PARTS * age->cost_ns;
	return interval_ns;
}

/* When a changed table may be fetched again; a time in the past means at once. */
static inline uint64_t table_age__due(const struct table_age *age)
{
	return age->fetched_ns + table_age__interval(age);
}

/* Looks at the mirror that may follow each other at once. */
#define TABLE_TOLD_MOST 8

/*
 * When the mirror may be looked at after an update: on average as rarely as a table that changes
 * often is fetched, because a table has to be decoded in either case.
 */
static inline uint64_t table_age__told_due(const struct table_age *age)
{
	const uint64_t ahead_ns = (TABLE_TOLD_MOST - 1) * table_age__interval(age);

	return age->told_ns > ahead_ns ? age->told_ns - ahead_ns : 0;
}

/* The mirror is looked at. */
static inline void table_age__take_told(struct table_age *age, uint64_t now_ns)
{
	if (age->told_ns < now_ns)
		age->told_ns = now_ns;
	age->told_ns += table_age__interval(age);
}

/* Bytes of tables that are checked in a second, to find added entries. */
#define TABLE_ADDED_BYTES 8000000ULL

/* When the mirror may be looked at for added entries. */
static inline uint64_t table_age__added_due(const struct table_age *age)
{
	return age->added_ns;
}

/*
 * The mirror is looked at for added entries: as often as the agent may update it, if checking it
 * takes little time.
 */
static inline void table_age__take_added(struct table_age *age, uint64_t now_ns)
{
	const uint64_t needed_ns = age->length * (1000000000ULL / TABLE_ADDED_BYTES);
	const uint64_t least_ns = DART_CONTROL_UPDATE_MS * 1000000ULL;

	age->added_ns = now_ns + (needed_ns > least_ns ? needed_ns : least_ns);
}

/*
 * The table is now a later one that the mirror told, perhaps late.  So only this is known: it was
 * current after the last time at which the table before it was known to be current, and none of
 * its ranges had left it then.
 */
static inline void table_age__tell(struct table_age *age)
{
	age->changed = false;
}

#endif /* CONTROLLER_TABLE_AGE_H */

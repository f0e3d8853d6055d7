/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series of a target as an output sent them so far: collects their points in blocks, leaves out
 * points that the receiver already got, and marks series that ended.
 *
 * All functions for one target are called one after the other, in any threads.
 */
#ifndef CONTROLLER_SERIES_H
#define CONTROLLER_SERIES_H

#include <pthread.h>
#include <stdatomic.h>

#include "block.h"
#include "ended.h"
#include "rate_limit.h"
#include "tools/controller/settings/receiver_settings.h"

/*
 * A point that is older than its scrape by more than this is not sent: receivers refuse it, and
 * Prometheus refuses the whole request.  Such a row was not written for as long.
 */
#define SERIES_OLD_NS 600000000000LL

/* Where blocks go that are closed, and the rules for all targets of an output. */
struct series_rules {
	/*
	 * Time stamps of the output are multiples of so many ns.  A point whose time stamp is not
	 * later than that of the previous point of its series is not sent: receivers refuse it.
	 */
	int64_t precision_ns;
	bool has_markers; /* a series that ends gets a stale marker */
	uint64_t delay_ns; /* how long a block waits for further scrapes; 0: not at all */
	uint32_t batch; /* scrapes of a block at most: requests do not cut a series */
	uint64_t bound; /* bytes of all blocks; above half of it no block waits */
	uint64_t block_bytes; /* a block with as many waits for no more; 0: for any number */
	uint64_t every_ns; /* a sample of each series in this time; 0: of each scrape */
	enum receiver_gauges gauges; /* the value of a gauge in this time */
	/*
	 * A scrape that does not fit waits until there is room, instead of being dropped, if it
	 * is of less than half of the bound: that much is not of blocks that stay open.
	 */
	atomic_bool waits;
	/*
	 * Rules that change or drop series; NULL: none.  They are replaced under the lock, and a
	 * thread that only compares the pointer needs no lock.
	 */
	_Atomic(struct metric_rewriter *) rewriter;
	pthread_mutex_t lock; /* of the threads that wait, and of the rewriter */
	pthread_cond_t room_is_made;
	/* Takes a block.  In any thread. */
	void (*take)(void *data, struct block *block);
	void *data;
	/* Changed by all threads. */
	_Atomic uint64_t bytes; /* of blocks; given back by who frees them */
	_Atomic uint64_t dropped; /* samples beyond the bound, or without memory */
	_Atomic uint64_t repeated; /* points of rows that were not written again */
	/*
	 * Points before the last sample of their series, because the clock was set back; and
	 * points that are older than their scrape by more than SERIES_OLD_NS.
	 */
	_Atomic uint64_t older;
	/* Points of series that the rewriter made equal to others, or left without a valid name. */
	_Atomic uint64_t equal;
	struct ended ended;
	/* The samples in each second; not while scrapes wait, as in a replay. */
	struct rate_limit limit;
};

struct series;

/* Takes over the settings of the output, which are complete. */
static inline void series_rules__configure(struct series_rules *rules,
					   const struct receiver_settings *settings)
{
	rules->delay_ns = settings->delay_ns == RECEIVER_DELAY_NONE ? 0 : settings->delay_ns;
	rules->batch = settings->batch;
	rules->bound = settings->queue_bytes;
	/* The messages of a block, which has more bytes, are written at once: they must fit. */
	rules->block_bytes = settings->spool ? settings->spool_bytes / 4 : 0;
	rules->every_ns = settings->every_ns;
	rules->gauges = settings->gauges;
	rules->limit.samples = settings->samples_per_second;
	rules->limit.agent_samples = settings->agent_samples_per_second;
}

/* In any thread: lets scrapes wait from now on; or not, and wakes the threads that wait. */
void series_rules__set_waits(struct series_rules *rules, bool waits);
/*
 * In any thread: from their next scrapes on, series are sent as @rewriter leaves them, which it
 * holds; NULL: as they are.  Series that they replace have ended then.
 */
void series_rules__set_rewriter(struct series_rules *rules, struct metric_rewriter *rewriter);
/* A block of so many bytes is freed. */
void series_rules__give_back(struct series_rules *rules, uint64_t bytes);

/* NULL if out of memory. */
struct series *series__new(void);
/* With a time for each sample, each change of a value is still sent at once, as for up. */
void series__keep_changes(struct series *series);
/* From now on the limit of samples in each second counts for the series, which share it. */
void series__limit(struct series *series, struct series_rules *rules);
/* The block that waits is handed over before.  NULL is allowed. */
void series__free(struct series *series, struct series_rules *rules);

/*
 * Adds a scrape.  Series of the previous scrape that are missing from this plan have ended; all
 * series of the previous scrape have ended if the labels of the target, or their names, changed.
 * @own are the labels of the output, or NULL; @now_ns is CLOCK_MONOTONIC.
 */
void series__add(struct series *series, struct series_rules *rules,
		 const struct target_settings *target, const json_t *own,
		 const struct metric_scrape *scrape, uint64_t now_ns);
/*
 * All series ended at @time_ns, or after their last samples if that is later; hands over the block
 * that waits.
 */
void series__end(struct series *series, struct series_rules *rules, int64_t time_ns);

#endif /* CONTROLLER_SERIES_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by push.c, which workers and the control loop call, and push_thread.c. */
#ifndef CONTROLLER_PUSH_PRIVATE_H
#define CONTROLLER_PUSH_PRIVATE_H

#include <pthread.h>

#include "backlog.h"
#include "encoder.h"
#include "poster.h"
#include "push.h"
#include "series.h"
#include "tools/controller/decode/count.h"
#include "tools/controller/hourly.h"

/* Refusals by status of HTTP, from 400 to 499; the last is for all others. */
#define PUSH_REFUSALS	101
#define PUSH_REFUSAL_OTHER	100

struct push {
	struct metric_output output;
	struct receiver_settings settings;
	char *name;
	struct output *log;
	struct series_rules rules;
	/* By index of the target; an element is of whoever handles that target. */
	struct series *series[SETTINGS_TARGETS_MAX];
	/* Whether it is up: these go on when the others have ended. */
	struct series *ups[SETTINGS_TARGETS_MAX];
	struct queue queue;	/* of blocks; its bound is that of the rules */
	struct queue_item end, hurry;
	int ended_fd;			/* eventfd */
	bool was_ended;			/* by push__end() */
	pthread_t thread;

	/* Of the thread, from here on. */
	struct poster *poster;
	struct backlog backlog;
	struct encoder encoder;
	struct block *pending, *last_pending;	/* blocks that wait to be encoded */
	uint64_t pending_samples;
	uint64_t pending_ns;		/* when the first came, CLOCK_MONOTONIC */
	bool is_ending;
	uint64_t end_ns;		/* until when it goes on trying, unless it waits */
	bool is_under_way;		/* the current message of the backlog */
	unsigned int attempts;		/* of it, that failed */
	uint64_t again_ns;		/* not before */
	bool may_be_older;		/* see answer__judge() */
	struct dart_random random;
	/* What was said already. */
	bool is_outage_told;
	struct hourly drops;
	bool is_spool_told;
	bool are_refusals_told[PUSH_REFUSALS];

	/* Written by the thread. */
	count_t refused_by[PUSH_REFUSALS];
	count_t sent, refused, requests, retries, bytes;
	count_t unsent, dropped, waiting, backlog_bytes, spool_bytes;
	count_t failed;		/* of the dropped: the spool could not be written */
	count_t oldest_ns;	/* when what waits longest was made, CLOCK_MONOTONIC; 0: nothing */
	atomic_bool is_failing;
	struct output_error_holder error;
};

/* The thread; @data is the struct push. */
void *push__run(void *data);

#endif /* CONTROLLER_PUSH_PRIVATE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by push.c, which workers and the control loop call, and push_thread.c. */
#ifndef CONTROLLER_PUSH_PRIVATE_H
#define CONTROLLER_PUSH_PRIVATE_H

#include <pthread.h>

#include "poster.h"
#include "push.h"
#include "senders.h"
#include "tools/controller/base/count.h"
#include "tools/controller/base/hourly.h"
#include "tools/controller/push/queue/backlog.h"
#include "tools/controller/push/queue/encoder.h"
#include "tools/controller/push/queue/refusals.h"
#include "tools/controller/push/queue/series.h"

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

	struct refusals refusals;

	/* Of the thread, from here on. */
	struct poster *poster;
	struct backlog backlog;
	struct encoder encoder;
	struct block *pending, *last_pending;	/* blocks that wait to be encoded */
	uint64_t pending_samples;
	uint64_t pending_ns;		/* when the first came, CLOCK_MONOTONIC */
	bool is_encoding;		/* the encoder has samples that are in no message yet */
	uint64_t to_encode;		/* samples until its messages are finished */
	bool is_ending;
	uint64_t end_ns;		/* until when it goes on trying, unless it waits */
	unsigned int attempts;		/* that failed since one was answered */
	uint64_t again_ns;		/* not before */
	bool may_be_older;		/* see answer__judge() */
	struct senders senders;
	uint64_t forced_ns;		/* when the spool was forced to the disk last */
	struct dart_random random;
	/* What was said already. */
	bool is_outage_told;
	struct hourly drops;
	bool is_spool_told;
	bool is_force_told;
	struct hourly damage;
	struct hourly older;	/* samples that are too old */

	/* Written by the thread. */
	count_t sent, refused, requests, retries, bytes;
	count_t unsent, dropped, waiting, backlog_bytes, spool_bytes;
	count_t damaged_bytes, spool_failures;
	count_t failed;		/* of the dropped: the spool could not be written to */
	count_t damaged;	/* of the dropped: they were damaged in the spool */
	count_t oldest_ns;	/* when what waits longest was made, CLOCK_MONOTONIC; 0: nothing */
	atomic_bool is_failing;
	struct output_error_holder error;
};

/* The thread; @data is the struct push. */
void *push__run(void *data);

#endif /* CONTROLLER_PUSH_PRIVATE_H */

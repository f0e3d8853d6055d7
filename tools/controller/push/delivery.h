/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread of an output that pushes: takes blocks from workers, makes messages of them, keeps the
 * messages and sends them.  See push.h for the whole.
 */
#ifndef CONTROLLER_DELIVERY_H
#define CONTROLLER_DELIVERY_H

#include <pthread.h>

#include "notices.h"
#include "poster.h"
#include "senders.h"
#include "tools/controller/base/count.h"
#include "tools/controller/base/validity.h"
#include "tools/controller/outputs/output_figures.h"
#include "tools/controller/push/queue/backlog.h"
#include "tools/controller/push/queue/pending.h"
#include "tools/controller/push/queue/series.h"

struct delivery {
	struct receiver_settings settings;
	char *name; /* see receiver_settings__name() */
	/*
	 * Of the blocks of workers; their way goes to the queue, whose bound is that of the rules.
	 */
	struct series_rules rules;
	struct queue queue;
	struct queue_item end, hurry;
	int ended_fd; /* eventfd: readable after the end of the thread */
	_Atomic(const struct validity *) validity; /* nothing is sent without it; NULL: it holds */
	pthread_t thread;
	bool is_running;

	struct refusals refusals;

	/* Of the thread, from here on. */
	struct poster *poster;
	struct pending pending;
	struct backlog backlog;
	bool is_ending;
	uint64_t end_ns; /* until when it goes on trying, unless it waits */
	unsigned int attempts; /* failed attempts since the last answer */
	uint64_t again_ns; /* not before */
	const struct format *format; /* the newest that the receiver may take */
	bool may_be_older; /* the receiver may take only an older format */
	struct senders senders;
	struct dart_random random;
	struct notices notices;

	/* Written by the thread. */
	count_t sent, refused, requests, retries, bytes;
	count_t unsent, dropped, waiting, backlog_bytes, spool_bytes;
	count_t damaged_bytes, spool_failures;
	count_t failed; /* of the dropped: the spool could not be written to */
	count_t damaged; /* of the dropped: they were damaged in the spool */
	count_t oldest_ns; /* when the oldest waiting message was made; 0: no message waits */
	atomic_bool is_failing;
};

/*
 * Starts the thread.  All zeros before; @log may be NULL.  Returns 0, or -errno with a sentence in
 * @error; delivery__close() in both cases.
 */
int delivery__open(struct delivery *delivery, const struct receiver_settings *settings,
		   struct output *log, struct dart_error *error);
/* In any thread: see push__set_waits(). */
void delivery__set_waits(struct delivery *delivery, bool waits);
/* After the last block: the thread sends the remaining samples, and ends. */
void delivery__end(struct delivery *delivery);
/* Waits for the end of the thread, if it was started. */
void delivery__close(struct delivery *delivery);

#endif /* CONTROLLER_DELIVERY_H */

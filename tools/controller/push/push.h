/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outputs that push metrics to a URL, in one of the formats of formats/format.h.
 *
 *   workers              thread of the output
 *   points -- blocks --> encode --> backlog (memory or spool) --> HTTP POST --> receiver
 *                                                              again after 429, 5xx, no answer
 *
 * Workers copy points and never wait.  Blocks, messages in memory and files of the spool are
 * bounded, each by itself; samples beyond a bound are dropped and counted, in the backlog the
 * oldest first.
 *
 * Several messages are under way at a time, but only one of all messages that may share a series,
 * so the samples of a series arrive in order: see backlog.h.  While every message is under way,
 * blocks become one message; when senders are busy, blocks wait for more, and are spread over
 * several messages.  A message without an answer is sent again as a whole; the others wait
 * meanwhile.
 *
 * A message that may be refused for one of its series is sent again in pieces: half of its hosts
 * each, then half of the series of one host, until the refused series is alone.
 */
#ifndef CONTROLLER_PUSH_H
#define CONTROLLER_PUSH_H

#include <libdart/error.h>

#include "tools/controller/base/validity.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/outputs/output.h"
#include "tools/controller/outputs/output_figures.h"
#include "tools/controller/settings/receiver_settings.h"

/* Numbers since the output began, except the numbers of waiting samples. */
struct push_counts {
	uint64_t sent; /* samples that the receiver took, stale markers included */
	uint64_t refused; /* samples that it will never take: 4xx */
	/* samples lost: they did not fit, were damaged, beyond a limit, or for no memory */
	uint64_t dropped;
	uint64_t unsent; /* samples that the protocol cannot express: NaN for InfluxDB */
	uint64_t repeated; /* points of rows that were not written again since the last */
	/* not sent: before the last sample of their series, or ten minutes before their scrape */
	uint64_t older;
	uint64_t requests; /* that were answered */
	uint64_t retries; /* further attempts of the same message */
	uint64_t bytes; /* of requests, as they were sent */
	uint64_t waiting; /* samples in the backlog */
	uint64_t queue_bytes; /* memory of blocks and messages that wait */
	uint64_t spool_bytes; /* 0 without a spool */
	uint64_t damaged_bytes; /* of the spool, that were passed over */
	uint64_t spool_failures; /* messages that the spool could not take, and memory did */
	bool is_failing; /* the last attempt must be repeated */
};

/*
 * Reads the files of a receiver that begins later, as push__new() does.  Returns 0, or -errno with
 * a sentence in @error.
 */
int push__check(const struct receiver_settings *settings, struct dart_error *error);

/*
 * Starts an output.  @settings are copied.  @log, which may be NULL, outlives it.  Returns 0,
 * or -errno with a sentence in @error.
 *
 * Its operation free() gives the thread three seconds to send waiting samples; then the others are
 * dropped, or stay in the spool.  After push__end() the thread takes as long as it needs.
 */
int push__new(const struct receiver_settings *settings, struct output *log,
	      struct metric_output **output, struct dart_error *error);
/*
 * From now on no request begins while @validity does not hold: its samples wait, as they do while a
 * receiver fails.  @validity outlives the output.
 */
void push__set_validity(struct metric_output *output, const struct validity *validity);

/*
 * In any thread: from now on series are sent as the rules of @rewriter leave them, which the output
 * holds; NULL: as they are.
 */
void push__set_rewriter(struct metric_output *output, struct metric_rewriter *rewriter);

/*
 * In any thread.  With @waits workers wait for room, and the thread for the receiver, instead of
 * dropping samples: for sources that can wait, such as a replay.  Without @waits, waiting workers
 * go on, and the three seconds of an end begin.
 */
void push__set_waits(struct metric_output *output, bool waits);
/*
 * After the last call of a worker: the thread sends the remaining samples, for three seconds at
 * most unless the output waits, and ends.
 */
void push__end(struct metric_output *output);
/* Readable after the end of the thread. */
int push__event_fd(const struct metric_output *output);

/* All in any thread, for outputs of push__new() only. */
void push__counts(struct metric_output *output, struct push_counts *counts);
/* Fills in the figures of the output @data, a struct metric_output: an output_list_fill. */
void push__figures(void *data, struct output_figures *figures);

#endif /* CONTROLLER_PUSH_H */

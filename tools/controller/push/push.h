/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outputs that push metrics to a URL: Prometheus' remote write (see remote_write.h) and
 * InfluxDB's line protocol (see influx.h).
 *
 *   workers              thread of the output
 *   points -- blocks --> encode --> backlog (memory or spool) --> HTTP POST --> receiver
 *                                                              again after 429, 5xx, no answer
 *
 * Workers copy points and never wait.  Blocks, messages in memory and files of the spool are
 * bounded, each by itself; what is beyond is dropped and counted, in the backlog the oldest
 * first.
 *
 * Several messages are under way at a time, but of those that may have a series in common only
 * one, so the samples of a series arrive in order: see backlog.h.  As long as all that waits is
 * under way, blocks become one message; when senders are busy, they wait for more, and are spread
 * over several.  A message that is not answered is sent again, as a whole; all others wait
 * meanwhile.
 *
 * A message that is refused for what may be one of its series is sent again in pieces: half of
 * its hosts each, then of one host half of its series, until what is refused is alone.
 */
#ifndef CONTROLLER_PUSH_H
#define CONTROLLER_PUSH_H

#include <libdart/error.h>

#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/outputs/output.h"
#include "tools/controller/outputs/output_figures.h"
#include "tools/controller/settings/receiver_settings.h"

/* Numbers since the output began, but for those that wait. */
struct push_counts {
	uint64_t sent; /* samples that the receiver took, stale markers included */
	uint64_t refused; /* samples that it will never take: 4xx */
	uint64_t dropped; /* samples lost: they did not fit, were damaged, or for no memory */
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
	bool is_failing; /* the last attempt has to be repeated */
};

/*
 * Starts an output.  @settings are copied.  @log, which may be NULL, outlives it.  Returns 0,
 * or -errno with a sentence in @error.
 *
 * Its operation free() gives the thread three seconds to send what waits; what is left then is
 * dropped, or stays in the spool.  push__end() before it gives as long as it takes.
 */
int push__new(const struct receiver_settings *settings, struct output *log,
	      struct metric_output **output, struct dart_error *error);

/*
 * In any thread.  With @waits workers wait for room, and the thread for the receiver, instead of
 * dropping samples: for what can wait, such as a replay.  Without, those that wait go on, and
 * the three seconds of an end begin.
 */
void push__set_waits(struct metric_output *output, bool waits);
/*
 * When no worker calls it any more: the thread sends what is left, three seconds at most unless
 * the output waits, and ends.
 */
void push__end(struct metric_output *output);
/* Readable once the thread has ended. */
int push__event_fd(const struct metric_output *output);

/* All in any thread, for outputs of push__new() only. */
void push__counts(struct metric_output *output, struct push_counts *counts);
/* Those of the output @data, a struct metric_output: an output_list_fill. */
void push__figures(void *data, struct output_figures *figures);
/* "http://host:9090/api/v1/write", without user, password and query. */
const char *push__name(const struct metric_output *output);

#endif /* CONTROLLER_PUSH_H */

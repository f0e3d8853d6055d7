/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points as text for a scraper of this controller: the Prometheus text format 0.0.4
 * (prometheus.io/docs/instrumenting/exposition_formats) or OpenMetrics 1.0.0
 * (prometheus.io/docs/specs/om/open_metrics_spec).
 */
#ifndef CONTROLLER_METRIC_TEXT_H
#define CONTROLLER_METRIC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/controller/metrics/metric/metric.h"

enum metric_text_format {
	METRIC_TEXT_PROMETHEUS,
	METRIC_TEXT_OPENMETRICS,
};

/*
 * Returns the value of HTTP's header Content-Type; @is_utf8: names of labels may be any UTF-8, in
 * quotes, in addition to plain names.
 */
const char *metric_text__type(enum metric_text_format format, bool is_utf8);

/* The last scrape of a target. */
struct metric_text_target {
	const char *labels; /* in the form of the text of struct metric_series; may be "" */
	const struct metric_plan *plan;
	const struct metric_point *points;
};

/*
 * Prints all series of @count targets that have points, by family. The first target with a family
 * determines its type, and series of another type are left out. @has_times: print the time of each
 * point. The caller frees *@text, which ends with a NUL after @length bytes. Returns 0 or -ENOMEM.
 * Callable from any thread.
 */
int metric_text__print(const struct metric_text_target *targets, size_t count,
		       enum metric_text_format format, bool has_times, char **text, size_t *length);

/*
 * The same text piece by piece, for pages of any length. The targets and everything that they refer
 * to outlive the stream.
 */
struct metric_text_stream;

/* NULL if memory ran out. */
struct metric_text_stream *metric_text_stream__new(const struct metric_text_target *targets,
						   size_t count, enum metric_text_format format,
						   bool has_times);
/*
 * Prints about @bytes more, or the rest; *@text is valid until the next call, and *@length is 0
 * after the end. Returns 0 or -ENOMEM.
 */
int metric_text_stream__next(struct metric_text_stream *stream, size_t bytes, const char **text,
			     size_t *length);
/* Ignores NULL. */
void metric_text_stream__free(struct metric_text_stream *stream);

#endif /* CONTROLLER_METRIC_TEXT_H */

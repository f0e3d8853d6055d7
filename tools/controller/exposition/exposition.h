/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An output that is asked: the last scrape of each target over HTTP, in the text format of
 * Prometheus or as OpenMetrics 1.0, whichever the peer prefers.
 *
 *   /metrics               all targets
 *   /metrics?target=NAME   one of them, HOST:PORT or HOST, without labels of the target:
 *                          404 if there is none, and 503 while it is lost, so that the
 *                          program that asks takes it for down
 *   /-/metrics             the controller itself, which /metrics has as well
 *   /sd                    all targets as Prometheus' HTTP SD has them, each to be scraped
 *                          here by itself
 *
 * Samples of all targets have the labels of their target, and "instance", its name, which
 * Prometheus keeps with honor_labels.  Those of a target that is lost are left out, but for
 * dart_up, which is 0 then: it has had no whole scrape for three of its intervals, and 5 s at
 * least, or none at all.  Series that end by themselves are served once more: see ended.h.
 */
#ifndef CONTROLLER_EXPOSITION_H
#define CONTROLLER_EXPOSITION_H

#include "page.h"
#include "tools/controller/http/http_server.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/outputs/output.h"

#define EXPOSITION_PAGES 3

/*
 * @is_replay: values are of another time than now, and so is dart_up: that of the last scrape.
 * Readers that are cut off, and series that ended and are lost, are told to @log, which outlives
 * the output; it may be NULL.  NULL if out of memory.
 */
struct metric_output *exposition__new(bool is_replay, struct output *log);

/* Before its pages are served. */
void exposition__set_own(struct metric_output *output, const struct exposition_own *own);

/* Its pages, for a server that ends before the output. */
void exposition__pages(struct metric_output *output,
		       struct http_page pages[static EXPOSITION_PAGES]);

#endif /* CONTROLLER_EXPOSITION_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An output that answers requests: the last scrape of each target over HTTP, in the text format
 * of Prometheus or as OpenMetrics 1.0, whichever the peer prefers.
 *
 *   /metrics               all targets, and the controller itself
 *   /metrics?target=NAME   one target, HOST:PORT or HOST, without labels of the target: 404 if
 *                          no target is called so, and 503 while it is lost, so that the
 *                          program that asks takes it for down
 *   /-/metrics             the controller itself
 *   /sd                    all targets in the format of Prometheus' HTTP service discovery,
 *                          each to be scraped here by itself
 *   /sd?member=I           those of them that member I has, of the members of the controller's
 *                          shard, or of N with &members=N: so N programs share them out.  400 if
 *                          there is no such member
 *
 * On a page of all targets, samples carry the labels of their target, and its name as "instance",
 * which Prometheus keeps with honor_labels.  A target is lost when three of its intervals, and at
 * least 5 s, passed without a whole scrape, or before its first one; then a page only contains its
 * dart_up, which is 0.  Series that end while their target is up are served once more: see ended.h.
 */
#ifndef CONTROLLER_EXPOSITION_H
#define CONTROLLER_EXPOSITION_H

#include "page.h"
#include "tools/controller/http/http_server.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/outputs/output.h"

#define EXPOSITION_PAGES 3

/*
 * @is_replay: values are older than now, and dart_up gets the time of the last scrape, too.  @log,
 * which must outlive the output, gets messages about readers that are cut off and last values that
 * are lost; NULL suppresses them.  Returns NULL if out of memory.
 */
struct metric_output *exposition__new(bool is_replay, struct output *log);

/* Sets the source of the controller's own metrics, before a server serves the pages. */
void exposition__set_own(struct metric_output *output, const struct exposition_own *own);

/* Sets @pages to those of @output, for a server that ends before the output. */
void exposition__pages(struct metric_output *output,
		       struct http_page pages[static EXPOSITION_PAGES]);

#endif /* CONTROLLER_EXPOSITION_H */

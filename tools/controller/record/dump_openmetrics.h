/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints a recording as OpenMetrics 1.0: all points of all series with their times, family by
 * family and series by series, as "promtool tsdb create-blocks-from openmetrics" expects it.
 *
 * Points arrive scrape by scrape, and wait in a temporary file: see spill.h.  Prometheus stores
 * times in ms.  Of several points of a series that it would read as the same ms, only the first is
 * written.
 */
#ifndef CONTROLLER_RECORD_DUMP_OPENMETRICS_H
#define CONTROLLER_RECORD_DUMP_OPENMETRICS_H

#include <libdart/error.h>

#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/outputs/output.h"

/*
 * @output and @log outlive the dump.  The temporary file is in $TMPDIR, or else in /var/tmp.
 * @bytes: see spill__open().  Returns 0, or -errno with a sentence in @error.
 */
int dump_openmetrics__new(struct output *output, struct output *log, size_t bytes,
			  struct metric_output **dump, struct dart_error *error);
/*
 * Prints all points, after the last scrape.  Waits, in any thread, until the output took all of
 * them, or takes no more.  Returns 0, or -errno after the log or the output reported the error.
 */
int dump_openmetrics__print(struct metric_output *dump);

/*
 * Makes dump_openmetrics__print() return -ECANCELED soon, without a report.  Works in any thread.
 */
void dump_openmetrics__give_up(struct metric_output *dump);

#endif /* CONTROLLER_RECORD_DUMP_OPENMETRICS_H */

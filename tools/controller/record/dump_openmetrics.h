/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as OpenMetrics 1.0: all points of all series with their times, family by family
 * and series by series, as "promtool tsdb create-blocks-from openmetrics" wants it.
 *
 * Points come scrape by scrape: they wait in a temporary file, see spill.h.  Prometheus keeps
 * ms: of several points of a series in the same ms, as it reads them, the first is written.
 */
#ifndef CONTROLLER_RECORD_DUMP_OPENMETRICS_H
#define CONTROLLER_RECORD_DUMP_OPENMETRICS_H

#include <libdart/error.h>

#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/outputs/output.h"

/*
 * Both outlive the dump.  The temporary file is in $TMPDIR, or else in /var/tmp.  @bytes: see
 * spill__open().  Returns 0, or -errno with a sentence in @error.
 */
int dump_openmetrics__new(struct output *output, struct output *log, size_t bytes,
			  struct metric_output **dump, struct dart_error *error);
/*
 * Once all scrapes have come: prints all to the output, which waits.  In any thread, until all
 * is handed over to the output, or it takes no more.  Returns 0, or -errno, which the log
 * or the output has been told.
 */
int dump_openmetrics__print(struct metric_output *dump);

/* In any thread: dump_openmetrics__print() soon returns -ECANCELED, which is told to nothing. */
void dump_openmetrics__give_up(struct metric_output *dump);

#endif /* CONTROLLER_RECORD_DUMP_OPENMETRICS_H */

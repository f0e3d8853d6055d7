/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * InfluxDB's line protocol
 * (https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/), a line
 * for each point:
 *
 *   node_cpu_seconds_total,cpu=0,instance=a:4792,job=dart,mode=user value=12.5 1700000000000000000
 *
 * The name of a series is the measurement, its labels are tags, in the order of their names,
 * and the value is the field "value", a float; the time is in ns.  InfluxDB itself stores
 * Prometheus' metrics so (its endpoint /api/v1/prom/write), so dashboards and queries for
 * such data, as SELECT value FROM node_load1, serve for ours.  Telegraf's input prometheus
 * names the field after the type (metric_version = 1), or has one measurement for all
 * (metric_version = 2), so that a query must know how the value came in.  VictoriaMetrics
 * makes the metric node_load1_value of it, or with -influxSkipSingleField the very name
 * node_load1.
 *
 * The protocol has no NaN and no infinite values, and nothing that ends a series: such points
 * are left out.
 */
#ifndef CONTROLLER_INFLUX_H
#define CONTROLLER_INFLUX_H

#include "bytes.h"
#include "label_set.h"

/*
 * Adds a line for each point that has a finite value; returns how many.  Out of memory is a
 * failure of @lines.
 */
size_t influx__put(struct bytes *lines, const struct merged_labels *labels,
		   const char *name, const struct metric_point *points,
		   size_t count);

/* Compresses @lines as a file of gzip behind the bytes of @body.  Returns 0 or -ENOMEM. */
int influx__compress(const struct bytes *lines, struct bytes *body);

#endif /* CONTROLLER_INFLUX_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages of Prometheus' remote write
 * (https://prometheus.io/docs/specs/prw/remote_write_spec/ and remote_write_spec_2_0/).
 * Fields with the same letters at the left are the same in both.
 *
 *   1.0  message WriteRequest { repeated TimeSeries timeseries = 1; }
 *        message TimeSeries {
 *                repeated Label labels = 1;
 *      s         repeated Sample samples = 2;
 *        }
 *        message Label { string name = 1; string value = 2; }
 *      s message Sample { double value = 1; int64 timestamp = 2; }   // ms
 *
 *   2.0  message Request {
 *                repeated string symbols = 4;        // the first is ""
 *                repeated TimeSeries timeseries = 5;
 *        }
 *        message TimeSeries {
 *                repeated uint32 labels_refs = 1;    // symbols: name, value, ...; packed
 *      s         repeated Sample samples = 2;
 *                Metadata metadata = 5;
 *        }
 *        message Metadata { MetricType type = 1; uint32 help_ref = 3; uint32 unit_ref = 4; }
 *
 * Both are compressed in the block format of snappy.  The field of 2.0 for the time when a
 * counter began is left out: metrics have no such time.
 */
#ifndef CONTROLLER_REMOTE_WRITE_H
#define CONTROLLER_REMOTE_WRITE_H

#include "bytes.h"
#include "label_set.h"
#include "symbols.h"

/* The series has ended: a NaN that Prometheus treats so. */
#define REMOTE_WRITE_STALE 0x7ff0000000000002ULL
/* Time stamps are in ms. */
#define REMOTE_WRITE_NS 1000000

/* Each adds a series with so many points to @body; out of memory is a failure of the bytes. */
void remote_write_1__put(struct bytes *body, const struct merged_labels *labels,
			 const struct metric_point *points, size_t count);
void remote_write_2__put(struct bytes *body, struct symbols *symbols,
			 const struct merged_labels *labels,
			 const struct metric_family *family,
			 const struct metric_point *points, size_t count);

/*
 * Makes 1.0 of @message, which is 2.0, both without compression.  Returns 0; -EINVAL if it
 * is no such message; -ENOMEM.
 */
int remote_write__convert(const void *message, size_t length,
			  struct bytes *body);

#endif /* CONTROLLER_REMOTE_WRITE_H */

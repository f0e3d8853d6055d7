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
#ifndef CONTROLLER_REMOTE_WRITE_FIELDS_H
#define CONTROLLER_REMOTE_WRITE_FIELDS_H

/* Numbers of fields; those of samples are the same in both versions. */
enum {
	SERIES_1 = 1,
	LABEL = 1,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	SAMPLE = 2,
	SAMPLE_VALUE = 1,
	SAMPLE_TIME = 2,
	SERIES_2 = 5,
	REFERENCES = 1,
	METADATA = 5,
	METADATA_TYPE = 1,
	METADATA_HELP = 3,
	METADATA_UNIT = 4,
};

#endif /* CONTROLLER_REMOTE_WRITE_FIELDS_H */

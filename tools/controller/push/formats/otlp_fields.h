/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages of OTLP/HTTP that carry metrics (https://opentelemetry.io/docs/specs/otlp/ and
 * https://github.com/open-telemetry/opentelemetry-proto), as far as they are used here:
 *
 *   message ExportMetricsServiceRequest { repeated ResourceMetrics resource_metrics = 1; }
 *   message ResourceMetrics {
 *           Resource resource = 1;                    // { repeated KeyValue attributes = 1; }
 *           repeated ScopeMetrics scope_metrics = 2;
 *   }
 *   message ScopeMetrics {
 *           InstrumentationScope scope = 1;           // { string name = 1; }
 *           repeated Metric metrics = 2;
 *   }
 *   message Metric {
 *           string name = 1; string description = 2; string unit = 3;
 *           Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9;      // one of them
 *           repeated KeyValue metadata = 12;
 *   }
 *   message Gauge, Sum, Histogram {
 *           repeated NumberDataPoint or HistogramDataPoint data_points = 1;
 *           AggregationTemporality aggregation_temporality = 2;         // not of Gauge
 *           bool is_monotonic = 3;                                      // of Sum
 *   }
 *   message NumberDataPoint {
 *           repeated KeyValue attributes = 7;
 *           fixed64 time_unix_nano = 3; double as_double = 4; uint32 flags = 8;
 *   }
 *   message HistogramDataPoint {
 *           repeated KeyValue attributes = 9;
 *           fixed64 time_unix_nano = 3; fixed64 count = 4;
 *           repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;  // packed
 *           uint32 flags = 10;
 *   }
 *   message KeyValue { string key = 1; AnyValue value = 2; }
 *   message AnyValue { string string_value = 1; }
 *
 *   message ExportMetricsServiceResponse { ExportMetricsPartialSuccess partial_success = 1; }
 *   message ExportMetricsPartialSuccess {
 *           int64 rejected_data_points = 1; string error_message = 2;
 *   }
 *   message Status { string message = 2; }            // the body of an error, of google.rpc
 */
#ifndef CONTROLLER_OTLP_FIELDS_H
#define CONTROLLER_OTLP_FIELDS_H

#include "bytes.h"
#include "protobuf.h"

/* Numbers of fields. */
enum {
	RESOURCE_METRICS = 1,
	RESOURCE = 1,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_METRICS = 2,
	SCOPE = 1,
	SCOPE_NAME = 1,
	METRICS = 2,
	METRIC_NAME = 1,
	METRIC_DESCRIPTION = 2,
	METRIC_UNIT = 3,
	METRIC_OF_GAUGE = 5,
	METRIC_OF_SUM = 7,
	METRIC_OF_HISTOGRAM = 9,
	METRIC_METADATA = 12,
	DATA_POINTS = 1,
	DATA_TEMPORALITY = 2,
	DATA_IS_MONOTONIC = 3,
	POINT_TIME = 3,
	NUMBER_VALUE = 4,
	NUMBER_ATTRIBUTES = 7,
	NUMBER_FLAGS = 8,
	HISTOGRAM_COUNT = 4,
	HISTOGRAM_BUCKETS = 6,
	HISTOGRAM_BOUNDS = 7,
	HISTOGRAM_ATTRIBUTES = 9,
	HISTOGRAM_FLAGS = 10,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	VALUE_STRING = 1,
	ANSWER_PARTIAL_SUCCESS = 1,
	PARTIAL_REJECTED = 1,
	PARTIAL_MESSAGE = 2,
	STATUS_MESSAGE = 2,
};

/* Of the enums AggregationTemporality and DataPointFlags. */
#define TEMPORALITY_CUMULATIVE 2
#define FLAG_NO_RECORDED_VALUE 1

#define INSTANCE_KEY "service.instance.id"

/*
 * A message that further fields are added to at its end: its length takes four bytes, with leading
 * zeros, so that it can change.
 */
#define OTLP_HEAD 5
#define OTLP_MESSAGE_MAX ((1U << 28) - 1)

/* Returns where the message begins; its head is counted, its fields follow. */
static inline size_t otlp__begin(struct bytes *bytes, unsigned int field)
{
	const size_t at = bytes->length;
	uint8_t *to = bytes__reserve(bytes, OTLP_HEAD);

	if (!to)
		return at;
	*to = PROTOBUF_TAG(field, PROTOBUF_BYTES);
	bytes->length += OTLP_HEAD;
	return at;
}

/* The message that begins at @at ends where @bytes do; it is no longer than OTLP_MESSAGE_MAX. */
static inline void otlp__end(struct bytes *bytes, size_t at)
{
	const size_t length = bytes->length - at - OTLP_HEAD;
	uint8_t *to = bytes->data + at + 1;

	if (bytes->has_failed)
		return;
	to[0] = length | 0x80;
	to[1] = length >> 7 | 0x80;
	to[2] = length >> 14 | 0x80;
	to[3] = length >> 21;
}

#endif /* CONTROLLER_OTLP_FIELDS_H */

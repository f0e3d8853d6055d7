// SPDX-License-Identifier: GPL-2.0-only
/* The rows of remote write, and how series are written: see remote_write_fields.h. */
#include "format.h"
#include "protobuf.h"
#include "remote_write_fields.h"
#include "remote_write_read.h"

/* Time stamps are in ms. */
#define PRECISION_NS 1000000

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t time_of(const struct metric_point *point)
{
	return point->time_ns / PRECISION_NS;
}

/* Of the message Sample. */
static size_t sample_size(const struct metric_point *point)
{
	return (bits_of(point->value) ? 9 : 0) + 1 + protobuf__varint_size(time_of(point));
}

static size_t samples_size(const struct metric_point *points, size_t count)
{
	size_t size = 0, i;

	for (i = 0; i < count; i++)
		size += protobuf__bytes_size(sample_size(points + i));
	return size;
}

/* A value of 0 is left out. */
static uint8_t *put_value(uint8_t *to, const struct metric_point *point)
{
	const uint64_t bits = htole64(bits_of(point->value));

	if (!bits)
		return to;
	*to++ = PROTOBUF_TAG(SAMPLE_VALUE, PROTOBUF_FIXED64);
	memcpy(to, &bits, sizeof(bits));
	return to + sizeof(bits);
}

static uint8_t *put_time(uint8_t *to, const struct metric_point *point)
{
	*to++ = PROTOBUF_TAG(SAMPLE_TIME, PROTOBUF_VARINT);
	return protobuf__put_varint(to, time_of(point));
}

/*
 * The fields of every other sample are in reverse: value, time; time, value; and so on, such that
 * the last one ends with its time.  So the times of two samples are next to each other, and snappy
 * needs one copy for both from the previous series; and so are two values, which are the same if
 * the series stands still.  Parsers take the fields of a message in any order
 * (https://protobuf.dev/programming-guides/encoding/#order).
 */
static uint8_t *put_samples(uint8_t *to, const struct metric_point *points, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		to = protobuf__put_head(to, SAMPLE, sample_size(points + i));
		if ((count - i) % 2) {
			to = put_value(to, points + i);
			to = put_time(to, points + i);
		} else {
			to = put_time(to, points + i);
			to = put_value(to, points + i);
		}
	}
	return to;
}

static size_t put_first(struct draft *draft, const struct merged_labels *labels,
			const struct metric_family *family, const struct metric_point *points,
			size_t count)
{
	struct bytes *body = &draft->series;
	struct {
		size_t name, value, both;
	} sizes[sizeof(labels->labels) / sizeof(*labels->labels)];
	size_t size = samples_size(points, count), i;
	uint8_t *to;

	for (i = 0; i < labels->count; i++) {
		sizes[i].name = strlen(labels->labels[i].name);
		sizes[i].value = strlen(labels->labels[i].value);
		sizes[i].both =
			protobuf__bytes_size(sizes[i].name) + protobuf__bytes_size(sizes[i].value);
		size += protobuf__bytes_size(sizes[i].both);
	}
	to = bytes__reserve(body, protobuf__bytes_size(size));
	if (!to)
		return count;
	to = protobuf__put_head(to, SERIES_1, size);
	for (i = 0; i < labels->count; i++) {
		to = protobuf__put_head(to, LABEL, sizes[i].both);
		to = protobuf__put_bytes(to, LABEL_NAME, labels->labels[i].name, sizes[i].name);
		to = protobuf__put_bytes(to, LABEL_VALUE, labels->labels[i].value, sizes[i].value);
	}
	to = put_samples(to, points, count);
	body->length = to - body->data;
	return count;
}

/* The numbers of the specification's enum MetricType. */
static uint32_t type_of(const struct metric_family *family)
{
	switch (family->type) {
	case METRIC_COUNTER:
		return 1;
	case METRIC_GAUGE:
		return 2;
	case METRIC_HISTOGRAM:
		return 3;
	case METRIC_UNTYPED:
		break;
	}
	return 0;
}

/* A number with its tag; 0 is left out. */
static uint8_t *put_number(uint8_t *to, unsigned int field, uint32_t number)
{
	if (!number)
		return to;
	*to++ = PROTOBUF_TAG(field, PROTOBUF_VARINT);
	return protobuf__put_varint(to, number);
}

static size_t put_second(struct draft *draft, const struct merged_labels *labels,
			 const struct metric_family *family, const struct metric_point *points,
			 size_t count)
{
	struct symbols *symbols = &draft->symbols;
	struct bytes *body = &draft->series;
	uint8_t references[10 * sizeof(labels->labels) / sizeof(*labels->labels)];
	uint8_t metadata[18];
	uint8_t *reference = references, *about = metadata, *to;
	size_t size = samples_size(points, count), i;

	for (i = 0; i < labels->count; i++) {
		reference = protobuf__put_varint(reference,
						 symbols__find(symbols, labels->labels[i].name));
		reference = protobuf__put_varint(reference,
						 symbols__find(symbols, labels->labels[i].value));
	}
	about = put_number(about, METADATA_TYPE, type_of(family));
	about = put_number(about, METADATA_HELP, symbols__find(symbols, family->help));
	about = put_number(about, METADATA_UNIT, symbols__find(symbols, family->unit));
	size += protobuf__bytes_size(reference - references) +
		protobuf__bytes_size(about - metadata);

	to = bytes__reserve(body, protobuf__bytes_size(size));
	if (!to)
		return count;
	to = protobuf__put_head(to, SERIES_2, size);
	to = protobuf__put_bytes(to, REFERENCES, references, reference - references);
	to = put_samples(to, points, count);
	to = protobuf__put_bytes(to, METADATA, metadata, about - metadata);
	body->length = to - body->data;
	return count;
}

/*
 * An answer to 2.0 counts only with the headers of 2.0: receivers of 1.0 that do not look at the
 * type of a message find an empty one in it, say 2xx, and take nothing.  A balancer may ask another
 * receiver each time, so each answer is judged alone.  Then, and after 415, and after 400 without
 * these headers, 1.0 may be taken.
 */
static enum verdict judge_second(const struct answer *answer, bool may_be_older)
{
	const bool is_second = answer->has_written && answer->written;
	const enum verdict verdict = answer__judge(answer);

	if (verdict == VERDICT_AGAIN)
		return verdict;
	if (may_be_older && (answer->status == 415 || (verdict == VERDICT_DONE && !is_second) ||
			     (answer->status == 400 && !answer->has_written)))
		return VERDICT_OLDER;
	if (verdict == VERDICT_DONE)
		return is_second ? VERDICT_DONE : VERDICT_REFUSED;
	return is_second && answer->written != ANSWER_WRITTEN_UNKNOWN ? VERDICT_PARTLY : verdict;
}

static const char *const first_headers[] = {
	"Content-Type: application/x-protobuf",
	"Content-Encoding: snappy",
	"X-Prometheus-Remote-Write-Version: 0.1.0",
	NULL,
};

static const char *const second_headers[] = {
	"Content-Type: application/x-protobuf;proto=io.prometheus.write.v2.Request",
	"Content-Encoding: snappy",
	"X-Prometheus-Remote-Write-Version: 2.0.0",
	NULL,
};

const struct format format_remote_write_1 = {
	.name = "remote_write",
	.version = 1,
	.number = 1,
	.title = "remote write 1.0",
	.headers = first_headers,
	.compression = &compression_snappy,
	.precision_ns = PRECISION_NS,
	.has_markers = true,
	.has_plain_names = true,
	.put = put_first,
	.read = remote_write_1__read,
};

const struct format format_remote_write_2 = {
	.name = "remote_write",
	.version = 2,
	.number = 2,
	.title = "remote write 2.0",
	.headers = second_headers,
	.compression = &compression_snappy,
	.precision_ns = PRECISION_NS,
	.has_markers = true,
	.put = put_second,
	.read = remote_write_2__read,
	.judge = judge_second,
	.older = &format_remote_write_1,
	.convert = remote_write_2__convert,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Encodes series for remote write: see remote_write.h. */
#include "remote_write.h"

#include "protobuf.h"

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

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t time_of(const struct metric_point *point)
{
	return point->time_ns / REMOTE_WRITE_NS;
}

/* Of the message Sample; a value of 0 is left out. */
static size_t sample_size(const struct metric_point *point)
{
	return (bits_of(point->value) ? 9 : 0) + 1 +
	       protobuf__varint_size(time_of(point));
}

static size_t samples_size(const struct metric_point *points, size_t count)
{
	size_t size = 0, i;

	for (i = 0; i < count; i++)
		size += protobuf__bytes_size(sample_size(points + i));
	return size;
}

static uint8_t *put_samples(uint8_t *to, const struct metric_point *points,
			    size_t count)
{
	uint64_t bits;
	size_t i;

	for (i = 0; i < count; i++) {
		to = protobuf__put_head(to, SAMPLE, sample_size(points + i));
		bits = htole64(bits_of(points[i].value));
		if (bits) {
			*to++ = PROTOBUF_TAG(SAMPLE_VALUE, PROTOBUF_FIXED64);
			memcpy(to, &bits, sizeof(bits));
			to += sizeof(bits);
		}
		*to++ = PROTOBUF_TAG(SAMPLE_TIME, PROTOBUF_VARINT);
		to = protobuf__put_varint(to, time_of(points + i));
	}
	return to;
}

void remote_write_1__put(struct bytes *body, const struct merged_labels *labels,
			 const struct metric_point *points, size_t count)
{
	struct {
		size_t name, value, both;
	} sizes[sizeof(labels->labels) / sizeof(*labels->labels)];
	size_t size = samples_size(points, count), i;
	uint8_t *to;

	for (i = 0; i < labels->count; i++) {
		sizes[i].name = strlen(labels->labels[i].name);
		sizes[i].value = strlen(labels->labels[i].value);
		sizes[i].both = protobuf__bytes_size(sizes[i].name) +
				protobuf__bytes_size(sizes[i].value);
		size += protobuf__bytes_size(sizes[i].both);
	}
	to = bytes__reserve(body, protobuf__bytes_size(size));
	if (!to)
		return;
	to = protobuf__put_head(to, SERIES_1, size);
	for (i = 0; i < labels->count; i++) {
		to = protobuf__put_head(to, LABEL, sizes[i].both);
		to = protobuf__put_bytes(to, LABEL_NAME, labels->labels[i].name,
					 sizes[i].name);
		to = protobuf__put_bytes(to, LABEL_VALUE,
					 labels->labels[i].value,
					 sizes[i].value);
	}
	to = put_samples(to, points, count);
	body->length = to - body->data;
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

void remote_write_2__put(struct bytes *body, struct symbols *symbols,
			 const struct merged_labels *labels,
			 const struct metric_family *family,
			 const struct metric_point *points, size_t count)
{
	uint8_t references[10 * sizeof(labels->labels) /
			   sizeof(*labels->labels)];
	uint8_t metadata[18];
	uint8_t *reference = references, *about = metadata, *to;
	size_t size = samples_size(points, count), i;

	for (i = 0; i < labels->count; i++) {
		reference = protobuf__put_varint(
			reference,
			symbols__find(symbols, labels->labels[i].name));
		reference = protobuf__put_varint(
			reference,
			symbols__find(symbols, labels->labels[i].value));
	}
	about = put_number(about, METADATA_TYPE, type_of(family));
	about = put_number(about, METADATA_HELP,
			   symbols__find(symbols, family->help));
	about = put_number(about, METADATA_UNIT,
			   symbols__find(symbols, family->unit));
	size += protobuf__bytes_size(reference - references) +
		protobuf__bytes_size(about - metadata);

	to = bytes__reserve(body, protobuf__bytes_size(size));
	if (!to)
		return;
	to = protobuf__put_head(to, SERIES_2, size);
	to = protobuf__put_bytes(to, REFERENCES, references,
				 reference - references);
	to = put_samples(to, points, count);
	to = protobuf__put_bytes(to, METADATA, metadata, about - metadata);
	body->length = to - body->data;
}

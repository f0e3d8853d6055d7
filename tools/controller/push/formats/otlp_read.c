// SPDX-License-Identifier: GPL-2.0-only
/* Reads messages and answers of OTLP/HTTP: see otlp_read.h and otlp_fields.h. */
#include "otlp_read.h"

#include <errno.h>
#include <xxhash.h>

#include "otlp_fields.h"
#include "pieces.h"

/* ---- series, for pieces */

/*
 * More than any message of an encoder becomes; a long resource that is repeated for each series
 * would make a short message as long as memory.
 */
#define SEPARATED_MAX (256U << 20)

/* Messages inside each other, the request first. */
enum level {
	LEVEL_REQUEST,
	LEVEL_RESOURCE,
	LEVEL_SCOPE,
	LEVEL_METRIC,
	LEVEL_DATA,
	LEVEL_COUNT,
};

/*
 * The series of a message share a resource and a metric.  Pieces need each of them for itself, so
 * the messages around it are repeated for each series.
 */
struct separation {
	struct pieces *pieces;
	/* Of the messages that are being read: their fields but for the messages inside. */
	struct bytes fields[LEVEL_COUNT];
	unsigned int inner[LEVEL_COUNT]; /* the field that the message is inside of the one before */
	struct protobuf_reader instance; /* of the resource */
	/* The series that is being written, in the bytes of the pieces. */
	bool is_open;
	size_t begin[LEVEL_COUNT];
	struct found_series found;
};

static bool is_bytes(const struct protobuf_field *field, unsigned int number)
{
	return field->number == number && field->type == PROTOBUF_BYTES;
}

static bool is_inner(enum level level, const struct protobuf_field *field)
{
	switch (level) {
	case LEVEL_REQUEST:
		return is_bytes(field, RESOURCE_METRICS);
	case LEVEL_RESOURCE:
		return is_bytes(field, SCOPE_METRICS);
	case LEVEL_SCOPE:
		return is_bytes(field, METRICS);
	case LEVEL_METRIC:
		return is_bytes(field, METRIC_OF_GAUGE) || is_bytes(field, METRIC_OF_SUM) ||
		       is_bytes(field, METRIC_OF_HISTOGRAM);
	default:
		return is_bytes(field, DATA_POINTS);
	}
}

static size_t length_of(const struct protobuf_reader *bytes)
{
	return bytes->end - bytes->at;
}

/* The text of an attribute, if it has this key. */
static bool read_attribute(struct protobuf_reader pair, const char *key,
			   struct protobuf_reader *text)
{
	struct protobuf_field field = {}, value = {};
	bool is_key = false;

	while (protobuf__read(&pair, &field)) {
		if (is_bytes(&field, PAIR_KEY))
			is_key = length_of(&field.bytes) == strlen(key) &&
				 !memcmp(field.bytes.at, key, strlen(key));
		else if (is_bytes(&field, PAIR_VALUE) && protobuf__read(&field.bytes, &value) &&
			 is_bytes(&value, VALUE_STRING))
			*text = value.bytes;
	}
	return is_key;
}

static struct protobuf_reader find_instance(struct protobuf_reader resource)
{
	struct protobuf_reader text = {};
	struct protobuf_field field = {};

	while (protobuf__read(&resource, &field))
		if (is_bytes(&field, RESOURCE_ATTRIBUTES) &&
		    read_attribute(field.bytes, INSTANCE_KEY, &text))
			return text;
	return (struct protobuf_reader){};
}

/* Keeps the fields of a message but for the messages inside.  Returns 0; -EINVAL; -ENOMEM. */
static int keep_fields(struct separation *separation, enum level level,
		       struct protobuf_reader message)
{
	struct bytes *fields = &separation->fields[level];
	struct protobuf_field field = {};
	const uint8_t *begin;

	bytes__empty(fields);
	if (level == LEVEL_RESOURCE)
		separation->instance = (struct protobuf_reader){};
	while (message.at < message.end) {
		begin = message.at;
		if (!protobuf__read(&message, &field))
			return -EINVAL;
		if (is_inner(level, &field))
			continue;
		bytes__put(fields, begin, message.at - begin);
		if (level == LEVEL_RESOURCE && is_bytes(&field, RESOURCE))
			separation->instance = find_instance(field.bytes);
	}
	return fields->has_failed ? -ENOMEM : 0;
}

/* The messages around a series. */
static int open_series(struct separation *separation)
{
	struct bytes *bytes = &separation->pieces->bytes;
	enum level level;

	for (level = LEVEL_RESOURCE; level < LEVEL_COUNT; level++) {
		separation->begin[level] = otlp__begin(bytes, separation->inner[level]);
		/* Of no bytes the address may be NULL. */
		if (separation->fields[level].length)
			bytes__put(bytes, separation->fields[level].data,
				   separation->fields[level].length);
	}
	separation->is_open = true;
	separation->found.samples = 0;
	separation->found.host = separation->instance.at;
	separation->found.host_length = length_of(&separation->instance);
	if (bytes->length > SEPARATED_MAX)
		return -EINVAL;
	return bytes->has_failed ? -ENOMEM : 0;
}

static int close_series(struct separation *separation)
{
	const struct bytes *bytes = &separation->pieces->bytes;
	enum level level;

	if (!separation->is_open)
		return 0;
	separation->is_open = false;
	if (bytes->has_failed)
		return -ENOMEM;
	if (bytes->length > SEPARATED_MAX)
		return -EINVAL;
	for (level = LEVEL_RESOURCE; level < LEVEL_COUNT; level++)
		otlp__end(&separation->pieces->bytes, separation->begin[level]);
	return pieces__add(separation->pieces, &separation->found,
			   bytes->data + separation->begin[LEVEL_RESOURCE],
			   bytes->data + bytes->length);
}

/* Reads the attributes of a point, as a hash, and the number of its samples. */
static int read_point(bool is_histogram, struct protobuf_reader point, uint64_t *hash,
		      uint32_t *samples)
{
	const unsigned int attributes = is_histogram ? HISTOGRAM_ATTRIBUTES : NUMBER_ATTRIBUTES;
	struct protobuf_field field = {};

	*samples = 1;
	while (point.at < point.end) {
		if (!protobuf__read(&point, &field))
			return -EINVAL;
		if (is_bytes(&field, attributes))
			*hash = XXH3_64bits_withSeed(field.bytes.at, length_of(&field.bytes),
						     *hash);
		else if (is_histogram && is_bytes(&field, HISTOGRAM_BUCKETS))
			*samples = length_of(&field.bytes) / sizeof(uint64_t);
	}
	return 0;
}

/* A point of the series that is open, or of the next one. */
static int take_point(struct separation *separation, const uint8_t *begin,
		      struct protobuf_reader point)
{
	const bool is_histogram = separation->inner[LEVEL_DATA] == METRIC_OF_HISTOGRAM;
	const struct bytes *about = &separation->fields[LEVEL_METRIC];
	const uint8_t *const end = point.end;
	uint64_t hash = XXH3_64bits(about->data, about->length);
	uint32_t samples;
	int ret;

	hash = XXH3_64bits_withSeed(separation->instance.at, length_of(&separation->instance),
				    hash);
	ret = read_point(is_histogram, point, &hash, &samples);
	if (!ret && (!separation->is_open || hash != separation->found.hash))
		ret = close_series(separation) ?: open_series(separation);
	if (ret)
		return ret;
	separation->found.hash = hash;
	separation->found.samples += samples;
	bytes__put(&separation->pieces->bytes, begin, end - begin);
	return 0;
}

/* Reads a message of a level, and those inside, which are LEVEL_COUNT deep. */
static int separate(struct separation *separation, enum level level, struct protobuf_reader message)
{
	struct protobuf_field field = {};
	const uint8_t *begin;
	int ret = keep_fields(separation, level, message);

	while (!ret && message.at < message.end) {
		begin = message.at;
		if (!protobuf__read(&message, &field))
			return -EINVAL;
		if (!is_inner(level, &field))
			continue;
		if (level == LEVEL_DATA) {
			ret = take_point(separation, begin, field.bytes);
		} else {
			separation->inner[level + 1] = field.number;
			ret = separate(separation, level + 1, field.bytes);
		}
	}
	return ret ?: close_series(separation);
}

int otlp__read(struct pieces *pieces)
{
	struct separation separation = { .pieces = pieces };
	struct bytes whole = pieces->bytes;
	const struct protobuf_reader request = {
		.at = whole.data,
		.end = whole.data + whole.length,
	};
	enum level level;
	int ret;

	pieces->bytes = (struct bytes){};
	ret = separate(&separation, LEVEL_REQUEST, request);
	for (level = 0; level < LEVEL_COUNT; level++)
		bytes__free(&separation.fields[level]);
	bytes__free(&whole);
	return ret;
}

/* ---- answers */

/*
 * Finds a text or a message inside of a message whose end may be missing; of a part the beginning
 * is enough.
 */
static bool find_bytes(struct protobuf_reader message, unsigned int number,
		       struct protobuf_reader *bytes)
{
	struct protobuf_field field = {};
	struct protobuf_reader rest;
	uint64_t tag, length;

	for (rest = message; protobuf__read(&message, &field); rest = message) {
		if (is_bytes(&field, number)) {
			*bytes = field.bytes;
			return true;
		}
	}
	*bytes = rest;
	return protobuf__read_varint(bytes, &tag) && tag == PROTOBUF_TAG(number, PROTOBUF_BYTES) &&
	       protobuf__read_varint(bytes, &length) && length > length_of(bytes);
}

/* A number below 0 counts as 0, as a missing one does. */
static uint64_t find_number(struct protobuf_reader message, unsigned int number)
{
	struct protobuf_field field = {};

	while (protobuf__read(&message, &field))
		if (field.number == number && field.type == PROTOBUF_VARINT)
			return field.value <= INT64_MAX ? field.value : 0;
	return 0;
}

void otlp__read_answer(struct answer *answer)
{
	const bool is_taken = answer->status / 100 == 2;
	struct protobuf_reader body = {
		.at = answer->body,
		.end = answer->body + answer->body_length,
	};
	struct protobuf_reader text;

	if (is_taken) {
		if (!find_bytes(body, ANSWER_PARTIAL_SUCCESS, &body))
			return;
		answer->rejected = find_number(body, PARTIAL_REJECTED);
	}
	if (find_bytes(body, is_taken ? PARTIAL_MESSAGE : STATUS_MESSAGE, &text))
		answer__set_text(answer, (const char *)text.at, length_of(&text));
}

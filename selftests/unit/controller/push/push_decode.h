/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of remote write as text: a line for each sample. */
#ifndef UNIT_PUSH_DECODE_H
#define UNIT_PUSH_DECODE_H

#include <inttypes.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/push/formats/message.h"
#include "tools/controller/push/formats/protobuf.h"

#define DECODE_SYMBOLS_MAX 65536

struct decoder {
	struct protobuf_reader symbols[DECODE_SYMBOLS_MAX];
	size_t symbol_count;
	char labels[4096];
	FILE *out;
};

static inline int text_length(const struct protobuf_reader *text)
{
	return text->end - text->at;
}

/* Asserts that names come in order. */
static inline void decode_label(struct decoder *decoder, struct protobuf_reader name,
				struct protobuf_reader value)
{
	char *const end = decoder->labels + strlen(decoder->labels);
	const char *before = strrchr(decoder->labels, ' ');
	char text[300];

	snprintf(text, sizeof(text), "%.*s=", text_length(&name), name.at);
	if (before)
		assert_true(strcmp(before + 1, text) < 0);
	assert_true(text_length(&value) > 0);
	sprintf(end, " %s%.*s", text, text_length(&value), value.at);
}

static inline void decode_sample(struct decoder *decoder, struct protobuf_reader sample)
{
	struct protobuf_field field = {};
	uint64_t value = 0, time_ms = 0;

	while (sample.at < sample.end) {
		assert_true(protobuf__read(&sample, &field));
		if (field.number == 1 && field.type == PROTOBUF_FIXED64)
			value = field.value;
		else if (field.number == 2 && field.type == PROTOBUF_VARINT)
			time_ms = field.value;
		else
			fail_msg("a sample has a field %u", field.number);
	}
	fprintf(decoder->out, "%" PRIu64 " %016" PRIx64 "%s\n", time_ms, value, decoder->labels);
}

static inline void decode_pair(struct decoder *decoder, struct protobuf_reader label)
{
	struct protobuf_field name = {}, value = {};

	assert_true(protobuf__read(&label, &name) && name.number == 1);
	assert_true(protobuf__read(&label, &value) && value.number == 2);
	assert_ptr_equal(label.at, label.end);
	decode_label(decoder, name.bytes, value.bytes);
}

static inline void decode_references(struct decoder *decoder, struct protobuf_reader references)
{
	uint64_t name, value;

	while (references.at < references.end) {
		assert_true(protobuf__read_varint(&references, &name));
		assert_true(protobuf__read_varint(&references, &value));
		assert_true(name < decoder->symbol_count && value < decoder->symbol_count);
		decode_label(decoder, decoder->symbols[name], decoder->symbols[value]);
	}
}

static inline void decode_series(struct decoder *decoder, bool is_second,
				 struct protobuf_reader series)
{
	struct protobuf_field field = {};

	decoder->labels[0] = '\0';
	while (series.at < series.end) {
		assert_true(protobuf__read(&series, &field));
		if (field.number == 1 && is_second)
			decode_references(decoder, field.bytes);
		else if (field.number == 1)
			decode_pair(decoder, field.bytes);
		else if (field.number == 2)
			decode_sample(decoder, field.bytes);
		else
			assert_true(is_second && field.number == 5);
	}
}

/* Decodes a body without compression; the caller frees the text. */
static inline char *decode_body(bool is_second, const void *body, size_t length)
{
	struct protobuf_reader whole = {
		.at = body,
		.end = (const uint8_t *)body + length,
	};
	struct decoder *decoder = calloc(1, sizeof(*decoder));
	struct protobuf_field field = {};
	size_t size;
	char *text;

	assert_non_null(decoder);
	decoder->out = open_memstream(&text, &size);
	while (whole.at < whole.end) {
		assert_true(protobuf__read(&whole, &field));
		assert_int_equal(field.type, PROTOBUF_BYTES);
		if (field.number == 4 && is_second) {
			assert_true(decoder->symbol_count < DECODE_SYMBOLS_MAX);
			decoder->symbols[decoder->symbol_count++] = field.bytes;
		} else {
			assert_int_equal(field.number, is_second ? 5 : 1);
			decode_series(decoder, is_second, field.bytes);
		}
	}
	if (is_second)
		assert_int_equal(text_length(decoder->symbols), 0);
	fclose(decoder->out);
	free(decoder);
	return text;
}

/* The same for the sent samples. */
static inline char *decode_compressed(bool is_second, const void *body, size_t length)
{
	size_t size;
	char *bytes, *text;

	assert_int_equal(snappy_uncompressed_length(body, length, &size), 0);
	bytes = malloc(size + 1);
	assert_non_null(bytes);
	assert_int_equal(snappy_uncompress(body, length, bytes, &size), 0);
	text = decode_body(is_second, bytes, size);
	free(bytes);
	return text;
}

#endif /* UNIT_PUSH_DECODE_H */

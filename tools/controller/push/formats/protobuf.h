/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wire format of Protocol Buffers, as far as remote write and OTLP need it
 * (https://protobuf.dev/programming-guides/encoding).
 *
 * It is written by hand instead of by protobuf-c: a request of remote write has four kinds of
 * messages with nine fields in all, and most of its bytes are labels that are copied from texts
 * which exist already. protobuf-c would need a tree of structures for each label and each sample
 * first, and walks it twice.  As it is, 200,000 samples a second cost 2 % of a CPU, compressed and
 * sent; lines for InfluxDB cost 9 % (Documentation/measurements.md).
 */
#ifndef CONTROLLER_PROTOBUF_H
#define CONTROLLER_PROTOBUF_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2, /* texts, messages, packed numbers */
	PROTOBUF_FIXED32 = 5,
};

/* The numbers of all fields here are below 16. */
#define PROTOBUF_TAG(field, type) ((field) << 3 | (type))

static inline size_t protobuf__varint_size(uint64_t number)
{
	return (64 - __builtin_clzll(number | 1) + 6) / 7;
}

/* Functions that write return the place after the last byte. */
static inline uint8_t *protobuf__put_varint(uint8_t *to, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*to++ = number | 0x80;
	*to++ = number;
	return to;
}

/* Tag and length of bytes that follow. */
static inline uint8_t *protobuf__put_head(uint8_t *to, unsigned int field, size_t length)
{
	*to++ = PROTOBUF_TAG(field, PROTOBUF_BYTES);
	return protobuf__put_varint(to, length);
}

static inline uint8_t *protobuf__put_bytes(uint8_t *to, unsigned int field, const void *bytes,
					   size_t length)
{
	to = protobuf__put_head(to, field, length);
	/* Of no bytes the address may be NULL. */
	if (length)
		memcpy(to, bytes, length);
	return to + length;
}

/* Of a field with so many bytes. */
static inline size_t protobuf__bytes_size(size_t length)
{
	return 1 + protobuf__varint_size(length) + length;
}

/* The rest of a message that is being read. */
struct protobuf_reader {
	const uint8_t *at;
	const uint8_t *end;
};

struct protobuf_field {
	unsigned int number;
	enum protobuf_type type;
	uint64_t value; /* not of bytes */
	struct protobuf_reader bytes;
};

static inline bool protobuf__read_varint(struct protobuf_reader *reader, uint64_t *number)
{
	unsigned int shift;

	*number = 0;
	for (shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		*number |= (uint64_t)(*reader->at & 0x7f) << shift;
		if (!(*reader->at++ & 0x80))
			return true;
	}
	return false;
}

/* False at the end of the message, or if its next bytes are not a field. */
static inline bool protobuf__read(struct protobuf_reader *reader, struct protobuf_field *field)
{
	uint64_t tag, length;

	if (!protobuf__read_varint(reader, &tag) || tag >> 32)
		return false;
	field->number = tag >> 3;
	field->type = tag & 7;
	switch (field->type) {
	case PROTOBUF_VARINT:
		return protobuf__read_varint(reader, &field->value);
	case PROTOBUF_FIXED64:
		if (reader->end - reader->at < 8)
			return false;
		memcpy(&field->value, reader->at, 8);
		field->value = le64toh(field->value);
		reader->at += 8;
		return true;
	case PROTOBUF_BYTES:
		if (!protobuf__read_varint(reader, &length) ||
		    length > (uint64_t)(reader->end - reader->at))
			return false;
		field->bytes.at = reader->at;
		field->bytes.end = reader->at + length;
		reader->at += length;
		return true;
	default:
		return false;
	}
}

#endif /* CONTROLLER_PROTOBUF_H */

// SPDX-License-Identifier: GPL-2.0-only
/* The series of messages: see pieces.h. */
#include "pieces.h"

#include <errno.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>

#include "influx.h"
#include "protobuf.h"

/* More than an encoder puts into a message. */
#define UNCOMPRESSED_MAX (64U << 20)
#define GZIP_WINDOW (15 + 16)

enum {
	SERIES_1 = 1,
	SYMBOLS = 4,
	SERIES_2 = 5,
	LABELS = 1,
	SAMPLES = 2,
};

/* What is known of a series while it is read. */
struct found {
	struct protobuf_reader host;
	uint64_t hash;
	uint32_t samples;
};

struct symbol_list {
	struct protobuf_reader *texts;
	size_t count, room;
};

static size_t length_of(const struct protobuf_reader *text)
{
	return text->end - text->at;
}

static void *grow(void *list, size_t *room, size_t size)
{
	const size_t more = *room ? 2 * *room : 64;
	void *grown = reallocarray(list, more, size);

	if (grown)
		*room = more;
	return grown;
}

static uint64_t add_label(uint64_t hash, const void *name, size_t name_length,
			  const void *value, size_t value_length)
{
	hash = XXH3_64bits_withSeed(name, name_length, hash);
	return XXH3_64bits_withSeed(value, value_length, hash);
}

uint64_t pieces__hash(const struct merged_labels *labels)
{
	const struct metric_label *label;
	uint64_t hash = 0;
	size_t i;

	for (i = 0; i < labels->count; i++) {
		label = labels->labels + i;
		hash = add_label(hash, label->name, strlen(label->name),
				 label->value, strlen(label->value));
	}
	return hash;
}

static void take_label(struct found *found, const struct protobuf_reader *name,
		       const struct protobuf_reader *value)
{
	found->hash = add_label(found->hash, name->at, length_of(name),
				value->at, length_of(value));
	if (length_of(name) == strlen(PIECES_HOST_LABEL) &&
	    !memcmp(name->at, PIECES_HOST_LABEL, length_of(name)))
		found->host = *value;
}

/* The host's index; that of the series before is the most likely one.  -ENOMEM. */
static int find_host(struct pieces *pieces, const struct protobuf_reader *name,
		     uint32_t *index)
{
	const size_t length = length_of(name);
	const uint64_t hash = XXH3_64bits(name->at, length);
	struct pieces_host *host;
	size_t i;

	for (i = pieces->host_count; i > 0; i--) {
		if (pieces->hosts[i - 1].hash == hash) {
			*index = i - 1;
			return 0;
		}
	}
	if (pieces->host_count == pieces->host_room) {
		host = grow(pieces->hosts, &pieces->host_room, sizeof(*host));
		if (!host)
			return -ENOMEM;
		pieces->hosts = host;
	}
	host = pieces->hosts + pieces->host_count;
	*host = (struct pieces_host){ .hash = hash };
	if (length)
		memcpy(host->name, name->at,
		       length < sizeof(host->name) ? length :
						     sizeof(host->name) - 1);
	*index = pieces->host_count++;
	return 0;
}

static int add_series(struct pieces *pieces, const struct found *found,
		      const uint8_t *begin, const uint8_t *end)
{
	struct pieces_series *series;
	uint32_t host;
	int ret = find_host(pieces, &found->host, &host);

	if (ret)
		return ret;
	if (pieces->count == pieces->room) {
		series = grow(pieces->series, &pieces->room, sizeof(*series));
		if (!series)
			return -ENOMEM;
		pieces->series = series;
	}
	pieces->series[pieces->count++] = (struct pieces_series){
		.begin = begin - pieces->bytes.data,
		.end = end - pieces->bytes.data,
		.samples = found->samples,
		.host = host,
		.hash = found->hash,
	};
	pieces->hosts[host].samples += found->samples;
	pieces->hosts[host].series++;
	return 0;
}

/* A label of 1.0. */
static int read_label(struct found *found, struct protobuf_reader label)
{
	struct protobuf_reader name = {}, value = {};
	struct protobuf_field field = {};

	while (label.at < label.end) {
		if (!protobuf__read(&label, &field))
			return -EINVAL;
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == 1)
			name = field.bytes;
		else if (field.number == 2)
			value = field.bytes;
	}
	take_label(found, &name, &value);
	return 0;
}

/* The labels of 2.0. */
static int read_references(struct found *found,
			   const struct symbol_list *symbols,
			   struct protobuf_reader references)
{
	uint64_t name, value;

	while (references.at < references.end) {
		if (!protobuf__read_varint(&references, &name) ||
		    !protobuf__read_varint(&references, &value) ||
		    name >= symbols->count || value >= symbols->count)
			return -EINVAL;
		take_label(found, symbols->texts + name,
			   symbols->texts + value);
	}
	return 0;
}

/* @symbols: of 2.0. */
static int read_series(struct found *found, const struct symbol_list *symbols,
		       struct protobuf_reader series)
{
	struct protobuf_field field = {};
	int ret = 0;

	while (!ret && series.at < series.end) {
		if (!protobuf__read(&series, &field))
			return -EINVAL;
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == SAMPLES)
			found->samples++;
		else if (field.number == LABELS)
			ret = symbols ? read_references(found, symbols,
							field.bytes) :
					read_label(found, field.bytes);
	}
	return ret;
}

static struct protobuf_reader whole_of(const struct pieces *pieces)
{
	return (struct protobuf_reader){
		.at = pieces->bytes.data,
		.end = pieces->bytes.data + pieces->bytes.length,
	};
}

/* All symbols, which may lie behind series, and what pieces have in common. */
static int read_symbols(struct pieces *pieces, struct symbol_list *symbols)
{
	struct protobuf_reader whole = whole_of(pieces), *texts;
	struct protobuf_field field = {};
	const uint8_t *begin;

	while (whole.at < whole.end) {
		begin = whole.at;
		if (!protobuf__read(&whole, &field))
			return -EINVAL;
		if (field.number != SYMBOLS || field.type != PROTOBUF_BYTES)
			continue;
		bytes__put(&pieces->common, begin, whole.at - begin);
		if (symbols->count == symbols->room) {
			texts = grow(symbols->texts, &symbols->room,
				     sizeof(*texts));
			if (!texts)
				return -ENOMEM;
			symbols->texts = texts;
		}
		symbols->texts[symbols->count++] = field.bytes;
	}
	return pieces->common.has_failed ? -ENOMEM : 0;
}

static int read_all(struct pieces *pieces, unsigned int number,
		    const struct symbol_list *symbols)
{
	struct protobuf_reader whole = whole_of(pieces);
	struct protobuf_field field = {};
	const uint8_t *begin;
	struct found found;
	int ret = 0;

	while (!ret && whole.at < whole.end) {
		begin = whole.at;
		if (!protobuf__read(&whole, &field))
			return -EINVAL;
		if (field.number != number || field.type != PROTOBUF_BYTES)
			continue;
		found = (struct found){};
		ret = read_series(&found, symbols, field.bytes) ?:
			      add_series(pieces, &found, begin, whole.at);
	}
	return ret;
}

static int read_second(struct pieces *pieces)
{
	struct symbol_list symbols = {};
	int ret = read_symbols(pieces, &symbols) ?:
			  read_all(pieces, SERIES_2, &symbols);

	free(symbols.texts);
	return ret;
}

/* The value of the tag, with its escapes; tags end at a blank without a backslash before. */
static struct protobuf_reader find_tag(const uint8_t *line, const uint8_t *end)
{
	static const char tag[] = "," PIECES_HOST_LABEL "=";
	const size_t length = sizeof(tag) - 1;
	struct protobuf_reader value = {};
	const uint8_t *at;

	for (at = line; at < end && *at != ' '; at++) {
		if (*at == '\\' && end - at > 1) {
			at++;
		} else if (*at == ',') {
			if (value.at)
				break;
			if ((size_t)(end - at) > length &&
			    !memcmp(at, tag, length))
				value.at = at + length;
		}
	}
	value.end = value.at ? at : NULL;
	return value;
}

static int read_lines(struct pieces *pieces)
{
	const uint8_t *at = pieces->bytes.data, *line_end;
	const uint8_t *const end = at + pieces->bytes.length;
	struct found found;
	int ret = 0;

	while (!ret && at < end) {
		line_end = memchr(at, '\n', end - at);
		line_end = line_end ? line_end + 1 : end;
		found = (struct found){
			.host = find_tag(at, line_end),
			.hash = XXH3_64bits(at, line_end - at),
			.samples = 1,
		};
		ret = add_series(pieces, &found, at, line_end);
		at = line_end;
	}
	return ret;
}

static int uncompress_snappy(const struct message *message, struct bytes *bytes)
{
	const char *body = (const char *)message->body;
	size_t length;

	if (snappy_uncompressed_length(body, message->length, &length) ||
	    length > UNCOMPRESSED_MAX)
		return -EINVAL;
	if (!bytes__reserve(bytes, length + 1))
		return -ENOMEM;
	if (snappy_uncompress(body, message->length, (char *)bytes->data,
			      &length))
		return -EINVAL;
	bytes->length = length;
	return 0;
}

static int uncompress_gzip(const struct message *message, struct bytes *bytes)
{
	z_stream stream = {
		.next_in = (Bytef *)message->body,
		.avail_in = message->length,
	};
	int status = Z_OK, ret = 0;

	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	while (status == Z_OK && !ret) {
		stream.next_out = bytes__reserve(bytes, 65536);
		stream.avail_out = 65536;
		if (!stream.next_out) {
			ret = -ENOMEM;
			break;
		}
		status = inflate(&stream, Z_NO_FLUSH);
		bytes->length += 65536 - stream.avail_out;
		if (bytes->length > UNCOMPRESSED_MAX)
			ret = -EINVAL;
	}
	inflateEnd(&stream);
	return ret ?: status == Z_STREAM_END ? 0 : -EINVAL;
}

int pieces__open(const struct message *message, struct pieces *pieces)
{
	int ret;

	*pieces = (struct pieces){ .format = message->format };
	ret = message->format == MESSAGE_INFLUX ?
		      uncompress_gzip(message, &pieces->bytes) :
		      uncompress_snappy(message, &pieces->bytes);
	if (ret)
		return ret;
	switch (message->format) {
	case MESSAGE_REMOTE_WRITE_1:
		return read_all(pieces, SERIES_1, NULL);
	case MESSAGE_REMOTE_WRITE_2:
		return read_second(pieces);
	case MESSAGE_INFLUX:
		break;
	}
	return read_lines(pieces);
}

void pieces__clear(struct pieces *pieces)
{
	bytes__free(&pieces->bytes);
	bytes__free(&pieces->common);
	free(pieces->series);
	free(pieces->hosts);
	*pieces = (struct pieces){};
}

static int make_message(const struct pieces *pieces, struct bytes *bytes,
			uint32_t samples, struct message **message)
{
	struct bytes whole = {};
	int ret;

	if (bytes->has_failed)
		return -ENOMEM;
	if (pieces->format != MESSAGE_INFLUX)
		return message__compress(pieces->format, samples, bytes->data,
					 bytes->length, message);
	ret = influx__compress(bytes, &whole);
	if (!ret) {
		*message = message__new(pieces->format, samples, whole.data,
					whole.length);
		ret = *message ? 0 : -ENOMEM;
	}
	bytes__free(&whole);
	return ret;
}

/* The series of the first half, or of the second. */
static int make_half(const struct pieces *pieces, bool is_second,
		     struct message **message)
{
	const struct pieces_series *series;
	struct bytes bytes = {};
	uint32_t samples = 0;
	bool is_of_second;
	size_t i;
	int ret;

	bytes__put(&bytes, pieces->common.data, pieces->common.length);
	for (i = 0; i < pieces->count; i++) {
		series = pieces->series + i;
		is_of_second = pieces->host_count > 1 ?
				       series->host >= pieces->host_count / 2 :
				       i % 2;
		if (is_of_second != is_second)
			continue;
		bytes__put(&bytes, pieces->bytes.data + series->begin,
			   series->end - series->begin);
		samples += series->samples;
	}
	ret = make_message(pieces, &bytes, samples, message);
	bytes__free(&bytes);
	return ret;
}

int pieces__split(const struct pieces *pieces, struct message **first,
		  struct message **second)
{
	int ret;

	if (!pieces__are_several(pieces))
		return -EINVAL;
	ret = make_half(pieces, false, first);
	if (ret)
		return ret;
	ret = make_half(pieces, true, second);
	if (ret)
		free(*first);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes 1.0 of a message of remote write 2.0: see remote_write.h.  Messages wait, in memory
 * or in a spool, while it is not known yet that the receiver takes only 1.0.
 */
#include <errno.h>
#include <limits.h>

#include "protobuf.h"
#include "remote_write.h"

/*
 * More than any message of an encoder becomes; texts that are named again and again would
 * make a short message as long as memory.
 */
#define CONVERTED_MAX (256U << 20)

struct conversion {
	struct protobuf_reader *symbols;
	size_t count, room;
	struct bytes labels;	/* of one series */
	struct bytes *body;
};

static int add_symbol(struct conversion *conversion,
		      struct protobuf_reader text)
{
	const size_t room = conversion->room ? 2 * conversion->room : 256;
	struct protobuf_reader *symbols;

	if (conversion->count == conversion->room) {
		symbols = realloc(conversion->symbols, room * sizeof(*symbols));
		if (!symbols)
			return -ENOMEM;
		conversion->symbols = symbols;
		conversion->room = room;
	}
	conversion->symbols[conversion->count++] = text;
	return 0;
}

static size_t length_of(const struct protobuf_reader *text)
{
	return text->end - text->at;
}

static int read_symbol(struct conversion *conversion,
		       struct protobuf_reader *references,
		       struct protobuf_reader *text)
{
	uint64_t index;

	if (!protobuf__read_varint(references, &index) ||
	    index >= conversion->count)
		return -EINVAL;
	*text = conversion->symbols[index];
	return 0;
}

/* The field "labels" for each pair of references. */
static int convert_labels(struct conversion *conversion,
			  struct protobuf_reader references)
{
	struct protobuf_reader name, value;
	size_t size;
	uint8_t *to;

	while (references.at < references.end) {
		if (read_symbol(conversion, &references, &name) ||
		    read_symbol(conversion, &references, &value))
			return -EINVAL;
		size = protobuf__bytes_size(length_of(&name)) +
		       protobuf__bytes_size(length_of(&value));
		if (conversion->labels.length + conversion->body->length +
			    size > CONVERTED_MAX)
			return -EINVAL;
		to = bytes__reserve(&conversion->labels,
				    protobuf__bytes_size(size));
		if (!to)
			return -ENOMEM;
		to = protobuf__put_head(to, 1, size);
		to = protobuf__put_bytes(to, 1, name.at, length_of(&name));
		to = protobuf__put_bytes(to, 2, value.at, length_of(&value));
		conversion->labels.length = to - conversion->labels.data;
	}
	return 0;
}

/* Samples are the same in both, the field's number included. */
static int convert_series(struct conversion *conversion,
			  struct protobuf_reader series)
{
	struct bytes *labels = &conversion->labels;
	struct protobuf_field field = {};
	uint8_t *to;
	int ret = 0;

	bytes__empty(labels);
	while (!ret && series.at < series.end) {
		if (!protobuf__read(&series, &field))
			return -EINVAL;
		if (field.number == 1 && field.type == PROTOBUF_BYTES) {
			ret = convert_labels(conversion, field.bytes);
		} else if (field.number == 2 && field.type == PROTOBUF_BYTES) {
			to = bytes__reserve(labels, protobuf__bytes_size(
						length_of(&field.bytes)));
			if (!to)
				return -ENOMEM;
			to = protobuf__put_bytes(to, 2, field.bytes.at,
						 length_of(&field.bytes));
			labels->length = to - labels->data;
		}
	}
	if (ret)
		return ret;
	to = bytes__reserve(conversion->body,
			    protobuf__bytes_size(labels->length));
	if (!to)
		return -ENOMEM;
	to = protobuf__put_bytes(to, 1, labels->data, labels->length);
	conversion->body->length = to - conversion->body->data;
	return 0;
}

/* All fields of one number, as symbols may lie behind series. */
static int convert_fields(struct conversion *conversion,
			  struct protobuf_reader message, unsigned int number,
			  int (*take)(struct conversion *conversion,
				      struct protobuf_reader bytes))
{
	struct protobuf_field field = {};
	int ret = 0;

	while (!ret && message.at < message.end) {
		if (!protobuf__read(&message, &field))
			return -EINVAL;
		if (field.number == number && field.type == PROTOBUF_BYTES)
			ret = take(conversion, field.bytes);
	}
	return ret;
}

int remote_write__convert(const void *message, size_t length,
			  struct bytes *body)
{
	struct conversion conversion = { .body = body };
	const struct protobuf_reader whole = {
		.at = message,
		.end = (const uint8_t *)message + length,
	};
	int ret;

	ret = convert_fields(&conversion, whole, 4, add_symbol) ?:
		      convert_fields(&conversion, whole, 5, convert_series);
	free(conversion.symbols);
	bytes__free(&conversion.labels);
	return ret;
}

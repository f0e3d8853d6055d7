// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes 1.0 of a message of remote write 2.0: see remote_write.h.  Messages wait, in memory
 * or in a spool, while it is not known yet that the receiver takes only 1.0.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "label_set.h"
#include "protobuf.h"
#include "remote_write.h"
#include "tools/controller/metrics/labels/label_names.h"

/*
 * More than any message of an encoder becomes; texts that are named again and again would
 * make a short message as long as memory.
 */
#define CONVERTED_MAX (256U << 20)
#define CONVERTED_LABELS_MAX (SERIES_LABELS_MAX + LABEL_SET_MAX)

struct conversion {
	struct protobuf_reader *symbols;
	size_t count, room;
	struct bytes labels;	/* of one series */
	struct named_label *renamed; /* room for them; NULL: not needed so far */
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

static int read_symbol(const struct conversion *conversion,
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

/* The field "labels" of one label. */
static int put_label(struct conversion *conversion, const void *name, size_t name_length,
		     const void *value, size_t value_length)
{
	const size_t size = protobuf__bytes_size(name_length) +
			    protobuf__bytes_size(value_length);
	uint8_t *to;

	if (conversion->labels.length + conversion->body->length + size > CONVERTED_MAX)
		return -EINVAL;
	to = bytes__reserve(&conversion->labels, protobuf__bytes_size(size));
	if (!to)
		return -ENOMEM;
	to = protobuf__put_head(to, 1, size);
	to = protobuf__put_bytes(to, 1, name, name_length);
	to = protobuf__put_bytes(to, 2, value, value_length);
	conversion->labels.length = to - conversion->labels.data;
	return 0;
}

static int put_labels(struct conversion *conversion, struct protobuf_reader references)
{
	struct protobuf_reader name, value;
	int ret = 0;

	while (!ret && references.at < references.end) {
		if (read_symbol(conversion, &references, &name) ||
		    read_symbol(conversion, &references, &value))
			return -EINVAL;
		ret = put_label(conversion, name.at, length_of(&name), value.at,
				length_of(&value));
	}
	return ret;
}

static int compare_own(const void *one, const void *other)
{
	return strcmp(((const struct named_label *)one)->own,
		      ((const struct named_label *)other)->own);
}

/* Names and values as texts, which free_texts() frees.  Returns 0; -EINVAL; -ENOMEM. */
static int read_texts(const struct conversion *conversion, struct protobuf_reader references,
		      struct named_label labels[static CONVERTED_LABELS_MAX], size_t *count)
{
	struct protobuf_reader name, value;

	for (*count = 0; references.at < references.end; ++*count) {
		if (*count == CONVERTED_LABELS_MAX ||
		    read_symbol(conversion, &references, &name) ||
		    read_symbol(conversion, &references, &value))
			return -EINVAL;
		labels[*count].given = strndup((const char *)name.at, length_of(&name));
		labels[*count].value = strndup((const char *)value.at, length_of(&value));
		if (!labels[*count].given || !labels[*count].value) {
			++*count;
			return -ENOMEM;
		}
	}
	return 0;
}

static void free_texts(struct named_label *labels, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free((char *)labels[i].given);
		free((char *)labels[i].value);
	}
}

/* The same with plain names, which 1.0 demands, and in their order. */
static int put_renamed(struct conversion *conversion, struct protobuf_reader references)
{
	struct named_label *labels = conversion->renamed;
	size_t count, i;
	int ret;

	if (!labels)
		labels = calloc(CONVERTED_LABELS_MAX, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	conversion->renamed = labels;
	ret = read_texts(conversion, references, labels, &count);
	if (!ret) {
		label_names__choose(NULL, LABEL_NAMES_PLAIN, labels, count);
		qsort(labels, count, sizeof(*labels), compare_own);
	}
	for (i = 0; !ret && i < count; i++) {
		if (*labels[i].own)
			ret = put_label(conversion, labels[i].own, strlen(labels[i].own),
					labels[i].value, strlen(labels[i].value));
	}
	free_texts(labels, count);
	return ret;
}

static bool is_plain(const struct protobuf_reader *name)
{
	char text[LABELS_NAME_MAX + 1];

	if (length_of(name) >= sizeof(text))
		return false;
	memcpy(text, name->at, length_of(name));
	text[length_of(name)] = '\0';
	return labels__is_plain_name(text);
}

/* The field "labels" for each pair of references. */
static int convert_labels(struct conversion *conversion,
			  struct protobuf_reader references)
{
	struct protobuf_reader pairs = references, name, value;

	while (pairs.at < pairs.end) {
		if (read_symbol(conversion, &pairs, &name) ||
		    read_symbol(conversion, &pairs, &value))
			return -EINVAL;
		if (!is_plain(&name))
			return put_renamed(conversion, references);
	}
	return put_labels(conversion, references);
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
	free(conversion.renamed);
	bytes__free(&conversion.labels);
	return ret;
}

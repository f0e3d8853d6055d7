// SPDX-License-Identifier: GPL-2.0-only
/* Reads messages of remote write, and makes 1.0 of 2.0: see remote_write_read.h. */
#include "remote_write_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pieces.h"
#include "protobuf.h"
#include "remote_write_fields.h"
#include "symbols.h"
#include "tools/controller/metrics/labels/label_collisions.h"

/*
 * More than any message of an encoder becomes; texts that are named again and again would
 * make a short message as long as memory.
 */
#define CONVERTED_MAX (256U << 20)
#define CONVERTED_LABELS_MAX (SERIES_LABELS_MAX + LABEL_SET_MAX)

/* The texts of a message of 2.0, by their numbers. */
struct symbol_list {
	struct protobuf_reader *texts;
	size_t count, room;
};

static int symbol_list__add(struct symbol_list *symbols, struct protobuf_reader text)
{
	const size_t room = symbols->room ? 2 * symbols->room : 256;
	struct protobuf_reader *texts;

	if (symbols->count == symbols->room) {
		texts = reallocarray(symbols->texts, room, sizeof(*texts));
		if (!texts)
			return -ENOMEM;
		symbols->texts = texts;
		symbols->room = room;
	}
	symbols->texts[symbols->count++] = text;
	return 0;
}

static size_t length_of(const struct protobuf_reader *text)
{
	return text->end - text->at;
}

/* Takes the next two references, to the name and the value of a label.  Returns 0 or -EINVAL. */
static int read_label(const struct symbol_list *symbols, struct protobuf_reader *references,
		      struct protobuf_reader *name, struct protobuf_reader *value)
{
	uint64_t of_name, of_value;

	if (!protobuf__read_varint(references, &of_name) ||
	    !protobuf__read_varint(references, &of_value) || of_name >= symbols->count ||
	    of_value >= symbols->count)
		return -EINVAL;
	*name = symbols->texts[of_name];
	*value = symbols->texts[of_value];
	return 0;
}

/*
 * Calls take() for each field @number of @message, which is a text or a message itself; the field
 * begins at @begin, with its head, and ends where @bytes does.  Returns 0; -EINVAL if @message is
 * not a message; or the error of take().
 */
static int read_fields(struct protobuf_reader message, unsigned int number,
		       int (*take)(void *data, const uint8_t *begin, struct protobuf_reader bytes),
		       void *data)
{
	struct protobuf_field field = {};
	const uint8_t *begin;
	int ret = 0;

	while (!ret && message.at < message.end) {
		begin = message.at;
		if (!protobuf__read(&message, &field))
			return -EINVAL;
		if (field.number == number && field.type == PROTOBUF_BYTES)
			ret = take(data, begin, field.bytes);
	}
	return ret;
}

/* ---- series, for pieces */

struct reading {
	struct pieces *pieces;
	const struct symbol_list *symbols; /* NULL: the message is 1.0 */
};

/* A label of 1.0. */
static int take_label(struct found_series *found, struct protobuf_reader label)
{
	struct protobuf_reader name = {}, value = {};
	struct protobuf_field field = {};

	while (label.at < label.end) {
		if (!protobuf__read(&label, &field))
			return -EINVAL;
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == LABEL_NAME)
			name = field.bytes;
		else if (field.number == LABEL_VALUE)
			value = field.bytes;
	}
	found_series__take_label(found, name.at, length_of(&name), value.at, length_of(&value));
	return 0;
}

/* All labels of 2.0. */
static int take_references(struct found_series *found, const struct symbol_list *symbols,
			   struct protobuf_reader references)
{
	struct protobuf_reader name, value;

	while (references.at < references.end) {
		if (read_label(symbols, &references, &name, &value))
			return -EINVAL;
		found_series__take_label(found, name.at, length_of(&name), value.at,
					 length_of(&value));
	}
	return 0;
}

static int read_series(void *data, const uint8_t *begin, struct protobuf_reader series)
{
	const struct reading *reading = data;
	const uint8_t *const end = series.end;
	struct protobuf_field field = {};
	struct found_series found = {};
	int ret = 0;

	while (!ret && series.at < series.end) {
		if (!protobuf__read(&series, &field))
			return -EINVAL;
		if (field.type != PROTOBUF_BYTES)
			continue;
		if (field.number == SAMPLE)
			found.samples++;
		else if (field.number == LABEL)
			ret = reading->symbols ?
				      take_references(&found, reading->symbols, field.bytes) :
				      take_label(&found, field.bytes);
	}
	return ret ?: pieces__add(reading->pieces, &found, begin, end);
}

static struct protobuf_reader whole_of(const struct pieces *pieces)
{
	return (struct protobuf_reader){
		.at = pieces->bytes.data,
		.end = pieces->bytes.data + pieces->bytes.length,
	};
}

int remote_write_1__read(struct pieces *pieces)
{
	struct reading reading = { .pieces = pieces };

	return read_fields(whole_of(pieces), SERIES_1, read_series, &reading);
}

struct common {
	struct symbol_list symbols;
	struct bytes *bytes; /* of the symbols' fields; NULL: nobody needs them */
};

static int take_symbol(void *data, const uint8_t *begin, struct protobuf_reader text)
{
	struct common *common = data;

	if (common->bytes) {
		bytes__put(common->bytes, begin, text.end - begin);
		if (common->bytes->has_failed)
			return -ENOMEM;
	}
	return symbol_list__add(&common->symbols, text);
}

int remote_write_2__read(struct pieces *pieces)
{
	struct common common = { .bytes = &pieces->common };
	struct reading reading = { .pieces = pieces, .symbols = &common.symbols };
	/* Symbols may come after the series that name them. */
	int ret = read_fields(whole_of(pieces), SYMBOLS_FIELD, take_symbol, &common) ?:
			  read_fields(whole_of(pieces), SERIES_2, read_series, &reading);

	free(common.symbols.texts);
	return ret;
}

/* ---- 2.0 as 1.0 */

struct conversion {
	struct common common;
	struct bytes series; /* of the series that is being converted */
	struct named_label *renamed; /* room for its labels; NULL: not needed so far */
	struct bytes *body;
};

/* Adds the field "labels" for one label. */
static int put_label(struct conversion *conversion, const void *name, size_t name_length,
		     const void *value, size_t value_length)
{
	const size_t size = protobuf__bytes_size(name_length) + protobuf__bytes_size(value_length);
	uint8_t *to;

	if (conversion->series.length + conversion->body->length + size > CONVERTED_MAX)
		return -EINVAL;
	to = bytes__reserve(&conversion->series, protobuf__bytes_size(size));
	if (!to)
		return -ENOMEM;
	to = protobuf__put_head(to, LABEL, size);
	to = protobuf__put_bytes(to, LABEL_NAME, name, name_length);
	to = protobuf__put_bytes(to, LABEL_VALUE, value, value_length);
	conversion->series.length = to - conversion->series.data;
	return 0;
}

static int put_labels(struct conversion *conversion, struct protobuf_reader references)
{
	struct protobuf_reader name, value;
	int ret = 0;

	while (!ret && references.at < references.end) {
		if (read_label(&conversion->common.symbols, &references, &name, &value))
			return -EINVAL;
		ret = put_label(conversion, name.at, length_of(&name), value.at, length_of(&value));
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
		    read_label(&conversion->common.symbols, &references, &name, &value))
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
static int convert_labels(struct conversion *conversion, struct protobuf_reader references)
{
	struct protobuf_reader pairs = references, name, value;

	while (pairs.at < pairs.end) {
		if (read_label(&conversion->common.symbols, &pairs, &name, &value))
			return -EINVAL;
		if (!is_plain(&name))
			return put_renamed(conversion, references);
	}
	return put_labels(conversion, references);
}

static int put_bytes(struct bytes *bytes, unsigned int field, const void *data, size_t length)
{
	uint8_t *to = bytes__reserve(bytes, protobuf__bytes_size(length));

	if (!to)
		return -ENOMEM;
	to = protobuf__put_bytes(to, field, data, length);
	bytes->length = to - bytes->data;
	return 0;
}

static int convert_series(void *data, const uint8_t *begin, struct protobuf_reader series)
{
	struct conversion *conversion = data;
	struct bytes *converted = &conversion->series;
	struct protobuf_field field = {};
	int ret = 0;

	bytes__empty(converted);
	while (!ret && series.at < series.end) {
		if (!protobuf__read(&series, &field))
			return -EINVAL;
		if (field.number == REFERENCES && field.type == PROTOBUF_BYTES)
			ret = convert_labels(conversion, field.bytes);
		else if (field.number == SAMPLE && field.type == PROTOBUF_BYTES)
			ret = put_bytes(converted, SAMPLE, field.bytes.at, length_of(&field.bytes));
	}
	return ret ?: put_bytes(conversion->body, SERIES_1, converted->data, converted->length);
}

int remote_write_2__convert(const void *message, size_t length, struct bytes *body)
{
	struct conversion conversion = { .body = body };
	const struct protobuf_reader whole = {
		.at = message,
		.end = (const uint8_t *)message + length,
	};
	int ret;

	ret = read_fields(whole, SYMBOLS_FIELD, take_symbol, &conversion.common) ?:
		      read_fields(whole, SERIES_2, convert_series, &conversion);
	free(conversion.common.symbols.texts);
	free(conversion.renamed);
	bytes__free(&conversion.series);
	return ret;
}

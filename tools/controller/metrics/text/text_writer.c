// SPDX-License-Identifier: GPL-2.0-only
/* Prints families and points in the text formats. */
#include "text_writer.h"

#include <stdlib.h>
#include <string.h>

#include "tools/controller/base/number_text.h"

#define TOTAL "_total"

/* Makes room for @more bytes and a NUL; NULL if memory ran out. */
static char *text_writer__reserve(struct text_writer *writer, size_t more)
{
	size_t room = writer->room ?: 65536;
	char *larger;

	if (writer->has_failed)
		return NULL;
	while (room - writer->length <= more) {
		if (room > SIZE_MAX / 2) {
			writer->has_failed = true;
			return NULL;
		}
		room *= 2;
	}
	if (room != writer->room) {
		larger = realloc(writer->text, room);
		if (!larger) {
			writer->has_failed = true;
			return NULL;
		}
		writer->text = larger;
		writer->room = room;
	}
	return writer->text + writer->length;
}

static void text_writer__put(struct text_writer *writer, const char *text, size_t length)
{
	char *to = text_writer__reserve(writer, length);

	if (!to)
		return;
	memcpy(to, text, length);
	writer->length += length;
}

static void text_writer__print(struct text_writer *writer, const char *text)
{
	text_writer__put(writer, text, strlen(text));
}

static bool text_writer__is_open(const struct text_writer *writer)
{
	return writer->format == METRIC_TEXT_OPENMETRICS;
}

/* Writes a backslash before each byte that must be escaped. */
static void text_writer__print_help(struct text_writer *writer, const char *help)
{
	for (; *help; help++) {
		if (*help == '\n')
			text_writer__print(writer, "\\n");
		else if (*help == '\\' || (*help == '"' && text_writer__is_open(writer)))
			text_writer__put(writer, (char[]){ '\\', *help }, 2);
		else
			text_writer__put(writer, help, 1);
	}
}

static const char *type_name(enum metric_type type, bool is_open)
{
	switch (type) {
	case METRIC_COUNTER:
		return "counter";
	case METRIC_GAUGE:
		return "gauge";
	case METRIC_HISTOGRAM:
		return "histogram";
	case METRIC_UNTYPED:
		break;
	}
	return is_open ? "unknown" : "untyped";
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	const size_t size = strlen(end);

	return length >= size && !memcmp(text + length - size, end, size);
}

/* A family with the name and type that the format prints. */
struct printed {
	const char *name; /* name in the metadata */
	size_t length;
	enum metric_type type;
};

/*
 * In OpenMetrics, the name of a counter's family is the name of its samples without "_total". If
 * another family uses this name already, prints the counter with unknown type.
 */
static struct printed text_writer__choose_name(const struct text_writer *writer,
					       const struct metric_family *family)
{
	struct printed printed = {
		.name = family->name,
		.length = strlen(family->name),
		.type = family->type,
	};
	char name[1024];
	size_t length;

	if (!text_writer__is_open(writer) || family->type != METRIC_COUNTER)
		return printed;
	length = printed.length - strlen(TOTAL);
	if (!ends_with(printed.name, printed.length, TOTAL) || !length || length >= sizeof(name)) {
		printed.type = METRIC_UNTYPED;
		return printed;
	}
	memcpy(name, printed.name, length);
	name[length] = '\0';
	if (text_index__find(&writer->families, name) == TEXT_INDEX_NONE)
		printed.length = length;
	else
		printed.type = METRIC_UNTYPED;
	return printed;
}

static void text_writer__print_line(struct text_writer *writer, const char *what,
				    const struct printed *printed)
{
	text_writer__print(writer, what);
	text_writer__put(writer, printed->name, printed->length);
	text_writer__put(writer, " ", 1);
}

/* True if the name ends with the unit, as OpenMetrics demands. */
static bool has_unit(const struct printed *printed, const char *unit)
{
	const size_t length = strlen(unit);

	return length && printed->length > length + 1 &&
	       printed->name[printed->length - length - 1] == '_' &&
	       ends_with(printed->name, printed->length, unit);
}

void text_writer__print_family(struct text_writer *writer, const struct metric_family *family)
{
	const struct printed printed = text_writer__choose_name(writer, family);

	if (*family->help) {
		text_writer__print_line(writer, "# HELP ", &printed);
		text_writer__print_help(writer, family->help);
		text_writer__put(writer, "\n", 1);
	}
	text_writer__print_line(writer, "# TYPE ", &printed);
	text_writer__print(writer, type_name(printed.type, text_writer__is_open(writer)));
	text_writer__put(writer, "\n", 1);
	if (text_writer__is_open(writer) && has_unit(&printed, family->unit)) {
		text_writer__print_line(writer, "# UNIT ", &printed);
		text_writer__print(writer, family->unit);
		text_writer__put(writer, "\n", 1);
	}
	if (text_index__add(&writer->families, family->name, 0))
		writer->has_failed = true;
}

/* Prints the time in seconds, or in the older format in milliseconds. */
static size_t print_time(const struct text_writer *writer, int64_t time_ns,
			 char text[static NUMBER_TEXT_MAX])
{
	if (text_writer__is_open(writer))
		return number_text__print_decimal(time_ns, 9, text);
	return number_text__print_decimal(time_ns / 1000000, 0, text);
}

static char *put(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	return to + length;
}

void text_writer__print_point(struct text_writer *writer, const char *labels, size_t labels_length,
			      const char *name, const char *text, const struct metric_point *point)
{
	const size_t name_length = strlen(name);
	const size_t text_length = strlen(text);
	char number[NUMBER_TEXT_MAX];
	char *to = text_writer__reserve(writer, name_length + labels_length + text_length +
							2 * NUMBER_TEXT_MAX + 8);

	if (!to)
		return;
	to = put(to, name, name_length);
	if (labels_length || text_length) {
		*to++ = '{';
		to = put(to, labels, labels_length);
		if (labels_length && text_length)
			*to++ = ',';
		to = put(to, text, text_length);
		*to++ = '}';
	}
	*to++ = ' ';
	to = put(to, number, number_text__print(point->value, number));
	if (writer->has_times) {
		*to++ = ' ';
		to = put(to, number, print_time(writer, point->time_ns, number));
	}
	*to++ = '\n';
	writer->length = to - writer->text;
}

void text_writer__print_end(struct text_writer *writer)
{
	if (text_writer__is_open(writer))
		text_writer__print(writer, "# EOF\n");
}

char *text_writer__take(struct text_writer *writer, size_t *length)
{
	char *text;

	text_writer__put(writer, "", 1);
	if (writer->has_failed)
		return NULL;
	text = writer->text;
	*length = writer->length - 1;
	writer->text = NULL;
	writer->length = 0;
	writer->room = 0;
	return text;
}

void text_writer__clear(struct text_writer *writer)
{
	free(writer->text);
	text_index__free(&writer->families);
	*writer = (struct text_writer){};
}

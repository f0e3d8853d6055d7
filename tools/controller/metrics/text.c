// SPDX-License-Identifier: GPL-2.0-only
/* Prints points in the text formats, the families of all targets merged. */
#include "text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "number_text.h"
#include "text_index.h"

#define TOTAL "_total"

struct writer {
	enum metric_text_format format;
	bool has_times;
	bool has_failed; /* out of memory */
	char *text;
	size_t length;
	size_t room;
	struct text_index families; /* that were printed */
};

/* Room for @more bytes and a NUL; NULL if out of memory. */
static char *writer__reserve(struct writer *writer, size_t more)
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

static void writer__put(struct writer *writer, const char *text, size_t length)
{
	char *to = writer__reserve(writer, length);

	if (!to)
		return;
	memcpy(to, text, length);
	writer->length += length;
}

static void writer__print(struct writer *writer, const char *text)
{
	writer__put(writer, text, strlen(text));
}

static bool writer__is_open(const struct writer *writer)
{
	return writer->format == METRIC_TEXT_OPENMETRICS;
}

/* A backslash before the bytes that need one. */
static void writer__print_help(struct writer *writer, const char *help)
{
	for (; *help; help++) {
		if (*help == '\n')
			writer__print(writer, "\\n");
		else if (*help == '\\' ||
			 (*help == '"' && writer__is_open(writer)))
			writer__put(writer, (char[]){ '\\', *help }, 2);
		else
			writer__put(writer, help, 1);
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

/* A family as it is printed. */
struct printed {
	const char *name; /* of metadata */
	size_t length;
	enum metric_type type;
};

/*
 * In OpenMetrics a counter's family has the name of its samples without "_total".  If
 * another family has that name, the counter is one of unknown type.
 */
static struct printed writer__choose_name(const struct writer *writer,
					  const struct metric_family *family)
{
	struct printed printed = {
		.name = family->name,
		.length = strlen(family->name),
		.type = family->type,
	};
	char name[1024];
	size_t length;

	if (!writer__is_open(writer) || family->type != METRIC_COUNTER)
		return printed;
	length = printed.length - strlen(TOTAL);
	if (!ends_with(printed.name, printed.length, TOTAL) || !length ||
	    length >= sizeof(name)) {
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

static void writer__print_line(struct writer *writer, const char *what,
			       const struct printed *printed)
{
	writer__print(writer, what);
	writer__put(writer, printed->name, printed->length);
	writer__put(writer, " ", 1);
}

/* The unit of OpenMetrics is the end of the name. */
static bool has_unit(const struct printed *printed, const char *unit)
{
	const size_t length = strlen(unit);

	return length && printed->length > length + 1 &&
	       printed->name[printed->length - length - 1] == '_' &&
	       ends_with(printed->name, printed->length, unit);
}

static void writer__print_family(struct writer *writer,
				 const struct metric_family *family)
{
	const struct printed printed = writer__choose_name(writer, family);

	if (*family->help) {
		writer__print_line(writer, "# HELP ", &printed);
		writer__print_help(writer, family->help);
		writer__put(writer, "\n", 1);
	}
	writer__print_line(writer, "# TYPE ", &printed);
	writer__print(writer, type_name(printed.type, writer__is_open(writer)));
	writer__put(writer, "\n", 1);
	if (writer__is_open(writer) && has_unit(&printed, family->unit)) {
		writer__print_line(writer, "# UNIT ", &printed);
		writer__print(writer, family->unit);
		writer__put(writer, "\n", 1);
	}
	if (text_index__add(&writer->families, family->name, 0))
		writer->has_failed = true;
}

/* Seconds, or in the older format milliseconds. */
static size_t print_time(const struct writer *writer, int64_t time_ns,
			 char text[static NUMBER_TEXT_MAX])
{
	if (writer__is_open(writer))
		return number_text__print_decimal(time_ns, 9, text);
	return number_text__print_decimal(time_ns / 1000000, 0, text);
}

static char *put(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	return to + length;
}

/* NAME{LABELS} VALUE TIME */
static void writer__print_point(struct writer *writer, const char *labels,
				size_t labels_length,
				const struct metric_series *series,
				const struct metric_point *point)
{
	const size_t name_length = strlen(series->name);
	const size_t text_length = strlen(series->text);
	char number[NUMBER_TEXT_MAX];
	char *to = writer__reserve(writer, name_length + labels_length +
						   text_length +
						   2 * NUMBER_TEXT_MAX + 8);

	if (!to)
		return;
	to = put(to, series->name, name_length);
	if (labels_length || text_length) {
		*to++ = '{';
		to = put(to, labels, labels_length);
		if (labels_length && text_length)
			*to++ = ',';
		to = put(to, series->text, text_length);
		*to++ = '}';
	}
	*to++ = ' ';
	to = put(to, number, number_text__print(point->value, number));
	if (writer->has_times) {
		*to++ = ' ';
		to = put(to, number,
			 print_time(writer, point->time_ns, number));
	}
	*to++ = '\n';
	writer->length = to - writer->text;
}

/* The points of a family that a target has; the first brings the metadata. */
static void writer__print_series(struct writer *writer,
				 const struct metric_text_target *target,
				 const struct metric_family *family,
				 bool *is_begun)
{
	const struct metric_plan *plan = target->plan;
	const size_t length = strlen(target->labels);
	uint32_t i, at;

	for (i = 0; i < family->series_count; i++) {
		at = family->first_series + i;
		if (plan->listing)
			at = plan->listing[at];
		if (!target->points[at].time_ns)
			continue;
		if (!*is_begun)
			writer__print_family(writer, family);
		*is_begun = true;
		writer__print_point(writer, target->labels, length,
				    &plan->series[at], &target->points[at]);
	}
}

static const struct metric_family *
family_at(const struct metric_text_target *target, uint32_t at)
{
	return at < target->plan->family_count ? &target->plan->families[at] :
						 NULL;
}

/* The first by name of those that the targets are at; NULL at the end of all. */
static const struct metric_family *
first_family(const struct metric_text_target *targets, size_t count,
	     const uint32_t *at)
{
	const struct metric_family *first = NULL, *family;
	size_t i;

	for (i = 0; i < count; i++) {
		family = family_at(&targets[i], at[i]);
		/* Named families of all targets have the same text. */
		if (family &&
		    (!first || (family->name != first->name &&
				strcmp(family->name, first->name) < 0)))
			first = family;
	}
	return first;
}

static void writer__merge(struct writer *writer,
			  const struct metric_text_target *targets,
			  size_t count, uint32_t *at)
{
	const struct metric_family *first, *family;
	bool is_begun;
	size_t i;

	while ((first = first_family(targets, count, at)) &&
	       !writer->has_failed) {
		is_begun = false;
		for (i = 0; i < count; i++) {
			family = family_at(&targets[i], at[i]);
			if (!family || (family->name != first->name &&
					strcmp(family->name, first->name)))
				continue;
			at[i]++;
			if (family->type == first->type)
				writer__print_series(writer, &targets[i],
						     family, &is_begun);
		}
	}
}

int metric_text__print(const struct metric_text_target *targets, size_t count,
		       enum metric_text_format format, bool has_times,
		       char **text, size_t *length)
{
	struct writer writer = { .format = format, .has_times = has_times };
	uint32_t *at = calloc(count + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	writer__merge(&writer, targets, count, at);
	if (format == METRIC_TEXT_OPENMETRICS)
		writer__print(&writer, "# EOF\n");
	writer__put(&writer, "", 1);
	free(at);
	text_index__free(&writer.families);
	if (writer.has_failed) {
		free(writer.text);
		return -ENOMEM;
	}
	*text = writer.text;
	*length = writer.length - 1;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Prints points in the text formats, and merges the families of all targets. */
#include "text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text_writer.h"

struct metric_text_stream {
	const struct metric_text_target *targets;
	size_t count;
	struct text_writer writer;
	uint32_t *at; /* index of each target's next family */
	/* The family in progress, with the target and its series where the last piece ended. */
	const struct metric_family *first;
	bool is_mixed; /* targets have it with different types */
	bool are_buckets; /* of a mixed family: histograms, which come last, are printed now */
	size_t target;
	uint32_t series;
	bool is_begun; /* the family's metadata is printed */
	bool is_done;
};

const char *metric_text__type(enum metric_text_format format, bool is_utf8)
{
	if (format == METRIC_TEXT_OPENMETRICS)
		return is_utf8 ?
			       "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8" :
			       "application/openmetrics-text; version=1.0.0; charset=utf-8";
	return is_utf8 ? "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8" :
			 "text/plain; version=0.0.4; charset=utf-8";
}

static const struct metric_family *family_at(const struct metric_text_target *target, uint32_t at)
{
	return at < target->plan->family_count ? &target->plan->families[at] : NULL;
}

/*
 * Chooses the next family by name among the current families of all targets, and notes whether they
 * agree on its type: no target may hide the series of others by another type.
 */
static void choose_family(struct metric_text_stream *stream)
{
	const struct metric_family *first = NULL, *family;
	int order;
	size_t i;

	for (i = 0; i < stream->count; i++) {
		family = family_at(&stream->targets[i], stream->at[i]);
		if (!family)
			continue;
		/* Named families of all targets use the same text. */
		order = 0;
		if (first && family->name != first->name)
			order = strcmp(family->name, first->name);
		if (!first || order < 0) {
			first = family;
			stream->is_mixed = false;
		} else if (!order) {
			stream->is_mixed |= family->type != first->type;
		}
	}
	stream->first = first;
	stream->target = 0;
	stream->is_begun = false;
	stream->are_buckets = false;
}

/* Prints the metadata of the family in progress; one of several types has none of them. */
static void print_metadata(struct metric_text_stream *stream, const struct metric_family *family)
{
	struct metric_family printed = *family;

	if (stream->is_mixed)
		printed.type = METRIC_UNTYPED;
	text_writer__print_family(&stream->writer, &printed);
	stream->is_begun = true;
}

/*
 * Prints the points of a family of one target, until @bytes are written; the first point brings the
 * metadata. Returns whether all are printed.
 */
static bool print_series(struct metric_text_stream *stream, const struct metric_text_target *target,
			 const struct metric_family *family, size_t bytes)
{
	const struct metric_plan *plan = target->plan;
	struct text_writer *writer = &stream->writer;
	const size_t length = strlen(target->labels);
	uint32_t at;

	for (; stream->series < family->series_count; stream->series++) {
		if (writer->length >= bytes)
			return false;
		at = family->first_series + stream->series;
		if (plan->listing)
			at = plan->listing[at];
		if (!target->points[at].time_ns)
			continue;
		if (!stream->is_begun)
			print_metadata(stream, family);
		text_writer__print_point(writer, target->labels, length, plan->series[at].name,
					 plan->series[at].text, &target->points[at]);
	}
	stream->series = 0;
	return true;
}

/*
 * Readers of OpenMetrics take the buckets of a family without a type for another family, whose
 * samples must follow each other.
 */
static bool is_later(const struct metric_text_stream *stream, const struct metric_family *family)
{
	return stream->is_mixed && !stream->are_buckets && family->type == METRIC_HISTOGRAM;
}

/*
 * Prints the family of the targets, from the target where the last piece ended.  Returns whether it
 * is printed of all.
 */
static bool print_targets(struct metric_text_stream *stream, size_t bytes)
{
	const struct metric_family *first = stream->first, *family;
	uint32_t *at;

	for (; stream->target < stream->count; stream->target++) {
		at = &stream->at[stream->target];
		family = family_at(&stream->targets[stream->target], *at);
		if (!family || (family->name != first->name && strcmp(family->name, first->name)) ||
		    is_later(stream, family))
			continue;
		if (!print_series(stream, &stream->targets[stream->target], family, bytes))
			return false;
		++*at;
	}
	return true;
}

static void print_family(struct metric_text_stream *stream, size_t bytes)
{
	if (!print_targets(stream, bytes))
		return;
	if (stream->is_mixed && !stream->are_buckets) {
		stream->are_buckets = true;
		stream->target = 0;
		return;
	}
	stream->first = NULL;
}

struct metric_text_stream *metric_text_stream__new(const struct metric_text_target *targets,
						   size_t count, enum metric_text_format format,
						   bool has_times)
{
	struct metric_text_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->targets = targets;
	stream->count = count;
	stream->writer.format = format;
	stream->writer.has_times = has_times;
	stream->at = calloc(count + 1, sizeof(*stream->at));
	if (stream->at)
		return stream;
	free(stream);
	return NULL;
}

int metric_text_stream__next(struct metric_text_stream *stream, size_t bytes, const char **text,
			     size_t *length)
{
	struct text_writer *writer = &stream->writer;

	writer->length = 0;
	while (!stream->is_done && !writer->has_failed && writer->length < bytes) {
		if (!stream->first)
			choose_family(stream);
		if (stream->first) {
			print_family(stream, bytes);
		} else {
			text_writer__print_end(writer);
			stream->is_done = true;
		}
	}
	*text = writer->text;
	*length = writer->length;
	return writer->has_failed ? -ENOMEM : 0;
}

void metric_text_stream__free(struct metric_text_stream *stream)
{
	if (!stream)
		return;
	text_writer__clear(&stream->writer);
	free(stream->at);
	free(stream);
}

int metric_text__print(const struct metric_text_target *targets, size_t count,
		       enum metric_text_format format, bool has_times, char **text, size_t *length)
{
	struct metric_text_stream *stream =
		metric_text_stream__new(targets, count, format, has_times);
	const char *all;

	if (!stream)
		return -ENOMEM;
	*text = NULL;
	if (!metric_text_stream__next(stream, SIZE_MAX, &all, length))
		*text = text_writer__take(&stream->writer, length);
	metric_text_stream__free(stream);
	return *text ? 0 : -ENOMEM;
}

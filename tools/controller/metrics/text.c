// SPDX-License-Identifier: GPL-2.0-only
/* Prints points in the text formats, the families of all targets merged. */
#include "text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text_writer.h"

const char *metric_text__type(enum metric_text_format format, bool is_utf8)
{
	if (format == METRIC_TEXT_OPENMETRICS)
		return is_utf8 ?
			       "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8" :
			       "application/openmetrics-text; version=1.0.0; charset=utf-8";
	return is_utf8 ? "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8" :
			 "text/plain; version=0.0.4; charset=utf-8";
}

/* The points of a family that a target has; the first brings the metadata. */
static void print_series(struct text_writer *writer,
			 const struct metric_text_target *target,
			 const struct metric_family *family, bool *is_begun)
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
			text_writer__print_family(writer, family);
		*is_begun = true;
		text_writer__print_point(writer, target->labels, length,
					 plan->series[at].name,
					 plan->series[at].text,
					 &target->points[at]);
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

static void merge(struct text_writer *writer,
		  const struct metric_text_target *targets, size_t count,
		  uint32_t *at)
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
				print_series(writer, &targets[i], family,
					     &is_begun);
		}
	}
}

int metric_text__print(const struct metric_text_target *targets, size_t count,
		       enum metric_text_format format, bool has_times,
		       char **text, size_t *length)
{
	struct text_writer writer = { .format = format,
				      .has_times = has_times };
	uint32_t *at = calloc(count + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	merge(&writer, targets, count, at);
	text_writer__print_end(&writer);
	free(at);
	*text = text_writer__take(&writer, length);
	text_writer__clear(&writer);
	return *text ? 0 : -ENOMEM;
}

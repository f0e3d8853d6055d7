// SPDX-License-Identifier: GPL-2.0-only
/* Invents plans: see invented_plan.h. */
#include <stdlib.h>
#include <string.h>

#include "invented_made.h"
#include "invented_plan.h"

static int compare(const void *one, const void *other)
{
	const struct row *a = one, *b = other;

	return strcmp(a->family, b->family) ?: strcmp(a->name, b->name) ?: strcmp(a->text, b->text);
}

static void set_plan(struct invented_plan *invented, struct made *made)
{
	struct metric_family *family = NULL;
	const struct row *row;
	size_t i;

	for (i = 0; i < made->count; i++) {
		row = &made->rows[i];
		if (!family || strcmp(family->name, row->family)) {
			family = &made->families[invented->plan.family_count++];
			*family = (struct metric_family){ row->family, row->help, row->unit,
							  row->type,   i,	  0 };
		}
		family->series_count++;
		made->series[i] = (struct metric_series){
			.family = family - made->families,
			.label_count = row->label_count,
			.name = row->name,
			.labels = row->labels,
			.text = row->text,
		};
		invented->motions[i] = row->motion;
	}
	invented->plan.families = made->families;
	invented->plan.series = made->series;
	invented->plan.series_count = made->count;
	invented->made = made;
}

struct invented_plan *invented_plan__new(const struct invented_size *size)
{
	struct invented_plan *invented = calloc(1, sizeof(*invented));
	struct made *made = calloc(1, sizeof(*made));

	if (!invented || !made)
		goto err;
	atomic_init(&invented->references, 1);
	invented->cpus = size->cpus;
	made__fill(made, size);
	qsort(made->rows, made->count, sizeof(*made->rows), compare);
	made->families = calloc(made->count, sizeof(*made->families));
	made->series = calloc(made->count, sizeof(*made->series));
	invented->motions = calloc(made->count, sizeof(*invented->motions));
	if (made->has_failed || !made->families || !made->series || !invented->motions)
		goto err;
	set_plan(invented, made);
	return invented;

err:
	if (made)
		made__free(made);
	if (invented)
		free(invented->motions);
	free(invented);
	return NULL;
}

/* In place of the controller's operations. */
struct metric_plan *metric_plan__get(struct metric_plan *plan)
{
	((struct invented_plan *)plan)->references++;
	return plan;
}

void metric_plan__put(struct metric_plan *plan)
{
	struct invented_plan *invented = (struct invented_plan *)plan;

	if (--invented->references)
		return;
	made__free(invented->made);
	free(invented->motions);
	free(invented);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Labels of targets and of their series: see label_set.h. */
#include "label_set.h"

#include <stdlib.h>
#include <string.h>

#include "tools/controller/metrics/label_names.h"

#define NAME_LABEL "__name__"

static int compare_labels(const void *one, const void *other)
{
	return strcmp(((const struct metric_label *)one)->name,
		      ((const struct metric_label *)other)->name);
}

/* One object of all labels by their own names; NULL if out of memory. */
static json_t *collect(const struct target_settings *target, const json_t *own)
{
	json_t *all = json_object(), *targets = NULL;
	bool has_all;

	/* It was written by labels__text(). */
	if (target->labels)
		targets = json_loads(target->labels->text, 0, NULL);
	has_all = all && (targets || !target->labels) &&
		  !json_object_set_new(all, "instance",
				       json_string(target->name)) &&
		  !json_object_set_new(all, "job", json_string("dart")) &&
		  (!own || !json_object_update(all, (json_t *)own)) &&
		  (!targets || !json_object_update(all, targets));
	json_decref(targets);
	if (has_all)
		return all;
	json_decref(all);
	return NULL;
}

/* The same by their names beside series of @plan; NULL if out of memory. */
static json_t *rename_labels(json_t *all, const struct metric_plan *plan)
{
	json_t *renamed = json_object(), *value;
	bool is_whole = all && renamed;
	char own[LABEL_NAMES_MAX];
	const char *name;

	json_object_foreach(all, name, value) {
		label_names__of_target(plan, name, own);
		if (json_object_set(renamed, own, value))
			is_whole = false;
	}
	json_decref(all);
	if (is_whole)
		return renamed;
	json_decref(renamed);
	return NULL;
}

struct label_set *label_set__new(const struct target_settings *target,
				 const json_t *own,
				 const struct metric_plan *plan)
{
	struct label_set *set = calloc(1, sizeof(*set));
	const char *name;
	json_t *value;

	if (!set)
		return NULL;
	set->texts = rename_labels(collect(target, own), plan);
	if (!set->texts) {
		free(set);
		return NULL;
	}
	atomic_init(&set->holders, 1);
	set->source = shared_text__hold(target->labels);
	set->labels[set->count++].name = NAME_LABEL;
	json_object_foreach(set->texts, name, value) {
		/* Names that begin with two underscores are reserved. */
		if (!strncmp(name, "__", 2) || !json_string_length(value) ||
		    set->count == LABEL_SET_MAX)
			continue;
		set->labels[set->count].name = name;
		set->labels[set->count++].value = json_string_value(value);
	}
	qsort(set->labels, set->count, sizeof(*set->labels), compare_labels);
	return set;
}

struct label_set *label_set__hold(struct label_set *set)
{
	atomic_fetch_add(&set->holders, 1);
	return set;
}

void label_set__release(struct label_set *set)
{
	if (!set || atomic_fetch_sub(&set->holders, 1) != 1)
		return;
	shared_text__release(set->source);
	json_decref(set->texts);
	free(set);
}

bool label_set__equal(const struct label_set *one,
		      const struct label_set *other)
{
	return json_equal(one->texts, other->texts);
}

bool label_set__merge(const struct label_set *set,
		      const struct metric_series *series,
		      struct merged_labels *merged)
{
	const struct metric_label *own = series->labels;
	const struct metric_label *const own_end = own + series->label_count;
	const struct metric_label *other = set->labels;
	const struct metric_label *const other_end = other + set->count;
	struct metric_label *to = merged->labels;
	int order;

	if (series->label_count > SERIES_LABELS_MAX)
		return false;
	while (own < own_end || other < other_end) {
		order = own == own_end	   ? 1 :
			other == other_end ? -1 :
					     strcmp(own->name, other->name);
		if (order > 0) {
			*to = *other++;
			if (!to->value)
				to->value = series->name;
		} else {
			*to = *own++;
			other += !order;
		}
		to++;
	}
	merged->count = to - merged->labels;
	return true;
}

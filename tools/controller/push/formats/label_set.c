// SPDX-License-Identifier: GPL-2.0-only
/* Labels of targets and of their series: see label_set.h. */
#include "label_set.h"

#include <stdlib.h>
#include <string.h>

#include "tools/controller/metrics/labels/label_collisions.h"

static int compare_labels(const void *one, const void *other)
{
	return strcmp(((const struct metric_label *)one)->name,
		      ((const struct metric_label *)other)->name);
}

/* The labels that the rules of its series leave to a target; NULL if out of memory. */
static json_t *labels_left(const struct target_labels *labels)
{
	const struct metric_label *left;
	const uint32_t count = target_labels__utf8(labels, &left);
	json_t *all = json_object();
	uint32_t i;

	for (i = 0; all && i < count; i++) {
		if (json_object_set_new(all, left[i].name, json_string(left[i].value))) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

/*
 * One object of all labels of series that have rules.  The default job must not stand beside one
 * that a rule makes.
 */
static json_t *collect_left(const struct target_settings *target,
			    const struct target_labels *labels, const json_t *own)
{
	json_t *all = json_object(), *left = labels_left(labels);
	bool has_all;

	has_all = all && left &&
		  (relabel_rules__touch(target->metric_relabel, "job") ||
		   !json_object_set_new(all, "job", json_string("dart"))) &&
		  (!own || !json_object_update(all, (json_t *)own)) &&
		  !json_object_update(all, left);
	json_decref(left);
	if (has_all)
		return all;
	json_decref(all);
	return NULL;
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
		  !json_object_set_new(all, "instance", json_string(target->name)) &&
		  !json_object_set_new(all, "job", json_string("dart")) &&
		  (!own || !json_object_update(all, (json_t *)own)) &&
		  (!targets || !json_object_update(all, targets));
	json_decref(targets);
	if (has_all)
		return all;
	json_decref(all);
	return NULL;
}

/* A label with an empty text counts as absent; names that begin with "__" are reserved. */
static bool is_sent(const char *name, const json_t *value)
{
	return strncmp(name, "__", 2) && json_string_length(value);
}

/* The labels of @all that are sent, as many as @count says; NULL if out of memory. */
static struct named_label *list_labels(json_t *all, size_t *count)
{
	struct named_label *labels = calloc(json_object_size(all) + 1, sizeof(*labels));
	const char *name;
	json_t *value;

	*count = 0;
	if (!labels)
		return NULL;
	json_object_foreach(all, name, value) {
		if (is_sent(name, value))
			labels[(*count)++] = (struct named_label){
				.given = name,
				.value = json_string_value(value),
			};
	}
	return labels;
}

/* Of labels with chosen names; NULL if out of memory. */
static struct label_set *make_set(const struct target_settings *target,
				  const struct named_label *labels, size_t count)
{
	struct label_set *set = calloc(1, sizeof(*set));
	const char *name;
	json_t *value;
	size_t i;

	if (!set)
		return NULL;
	atomic_init(&set->holders, 1);
	set->source = shared_text__hold(target->labels);
	set->texts = json_object();
	for (i = 0; i < count; i++) {
		if (*labels[i].own &&
		    json_object_set_new(set->texts, labels[i].own, json_string(labels[i].value))) {
			label_set__release(set);
			return NULL;
		}
	}
	set->labels[set->count++].name = LABEL_SET_NAME;
	json_object_foreach(set->texts, name, value) {
		if (set->count == LABEL_SET_MAX)
			break;
		set->labels[set->count].name = name;
		set->labels[set->count++].value = json_string_value(value);
	}
	qsort(set->labels, set->count, sizeof(*set->labels), compare_labels);
	return set;
}

static bool is_plain(const struct named_label *labels, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (*labels[i].own && !labels__is_plain_name(labels[i].own))
			return false;
	}
	return true;
}

/*
 * Removes the labels that @rules touch under the names that they have now; returns how many stay.
 */
static size_t leave_out(struct named_label *labels, size_t count, const struct relabel_rules *rules)
{
	size_t kept = 0, i;

	for (i = 0; i < count; i++)
		if (!*labels[i].own || !relabel_rules__touch(rules, labels[i].own))
			labels[kept++] = labels[i];
	return kept;
}

struct label_set *label_set__new(const struct target_settings *target,
				 const struct target_labels *labels_of_series, const json_t *own,
				 const struct metric_plan *plan, const struct relabel_rules *rules)
{
	json_t *all = labels_of_series && !relabel_rules__is_empty(target->metric_relabel) ?
			      collect_left(target, labels_of_series, own) :
			      collect(target, own);
	struct named_label *labels = NULL;
	struct label_set *set = NULL;
	size_t count;

	if (all)
		labels = list_labels(all, &count);
	if (labels) {
		label_names__choose(plan, LABEL_NAMES_UTF8, labels, count);
		if (rules)
			count = leave_out(labels, count, rules);
		set = make_set(target, labels, count);
		if (set && !is_plain(labels, count)) {
			label_names__choose(plan, LABEL_NAMES_PLAIN, labels, count);
			set->plain = make_set(target, labels, count);
			if (!set->plain) {
				label_set__release(set);
				set = NULL;
			}
		}
	}
	free(labels);
	json_decref(all);
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
	label_set__release(set->plain);
	shared_text__release(set->source);
	json_decref(set->texts);
	free(set);
}

bool label_set__equal(const struct label_set *one, const struct label_set *other)
{
	return json_equal(one->texts, other->texts) &&
	       json_equal(label_set__plain(one)->texts, label_set__plain(other)->texts);
}

bool label_set__merge(const struct label_set *set, const struct metric_series *series,
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

const char *merged_labels__name(const struct merged_labels *labels)
{
	size_t i;

	for (i = 0; i < labels->count; i++) {
		if (!strcmp(labels->labels[i].name, LABEL_SET_NAME))
			return labels->labels[i].value;
	}
	return "";
}

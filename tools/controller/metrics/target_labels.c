// SPDX-License-Identifier: GPL-2.0-only
/* Takes the labels of a target from its settings. */
#include "target_labels.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "label_names.h"

/* A list of any length, so that none of LABELS_MAX is left out. */
struct list {
	struct metric_label labels[LABELS_MAX + 1];
	char names[LABELS_MAX + 1][LABEL_NAMES_MAX];
	size_t count;
};

static void list__add(struct list *list, const struct metric_plan *plan,
		      const char *name, const char *value)
{
	char *own = list->names[list->count];

	if (!*value || list->count > LABELS_MAX)
		return;
	label_names__of_target(plan, name, own);
	list->labels[list->count++] = (struct metric_label){ own, value };
}

static int compare_labels(const void *a, const void *b)
{
	const struct metric_label *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static int target_labels__copy(struct target_labels *labels, struct list *list)
{
	struct label_sets sets = { .arena = &labels->arena };
	struct label_list all = { .count = 0 };
	uint32_t number;
	size_t i;

	qsort(list->labels, list->count, sizeof(*list->labels), compare_labels);
	for (i = 0; i < list->count; i++)
		label_list__add(&all, list->labels[i].name,
				list->labels[i].value);
	number = label_sets__find(&sets, &all);
	if (number != TEXT_INDEX_NONE)
		labels->set = sets.sets[number];
	label_sets__free(&sets);
	return number == TEXT_INDEX_NONE ? -ENOMEM : 0;
}

static int target_labels__make(struct target_labels *labels,
			       const struct target_settings *target,
			       const struct metric_plan *plan)
{
	json_t *object = NULL, *value;
	struct list list = {};
	const char *name;
	int ret;

	if (target->labels) {
		object = json_loads(target->labels->text, 0, NULL);
		if (!object)
			return -ENOMEM;
	}
	if (!json_object_get(object, "instance"))
		list__add(&list, plan, "instance", target->name);
	json_object_foreach(object, name, value)
		list__add(&list, plan, name, json_string_value(value) ?: "");
	ret = target_labels__copy(labels, &list);
	json_decref(object);
	return ret;
}

struct target_labels *target_labels__new(const struct target_settings *target,
					 const struct metric_plan *plan)
{
	struct target_labels *labels = calloc(1, sizeof(*labels));

	if (!labels)
		return NULL;
	atomic_init(&labels->holders, 1);
	labels->source = shared_text__hold(target->labels);
	if (!target_labels__make(labels, target, plan))
		return labels;
	target_labels__put(labels);
	return NULL;
}

struct target_labels *target_labels__get(struct target_labels *labels)
{
	atomic_fetch_add(&labels->holders, 1);
	return labels;
}

void target_labels__put(struct target_labels *labels)
{
	if (!labels || atomic_fetch_sub(&labels->holders, 1) != 1)
		return;
	shared_text__release(labels->source);
	arena__free(&labels->arena);
	free(labels);
}

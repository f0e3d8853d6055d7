// SPDX-License-Identifier: GPL-2.0-only
/* Takes the labels of a target from its settings. */
#include "target_labels.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "label_collisions.h"

/* The labels of the settings, and "instance". */
#define COUNT_MAX (LABELS_MAX + 1)

struct list {
	size_t count;
	struct named_label labels[COUNT_MAX];
};

/* Skips labels without a text, and names that start with two underscores, which are reserved. */
static void list__add(struct list *list, const char *name, const char *value)
{
	if (!*value || !strncmp(name, "__", 2) || list->count == COUNT_MAX)
		return;
	list->labels[list->count++] = (struct named_label){ .given = name, .value = value };
}

/* Chooses names in @form; false if memory ran out. */
static bool make_set(struct label_sets *sets, struct list *list, const struct metric_plan *plan,
		     enum label_names_form form, uint32_t *number, uint32_t *collided)
{
	struct label_list all = { .count = 0 };
	size_t i;

	*collided = label_names__choose(plan, form, list->labels, list->count);
	for (i = 0; i < list->count; i++) {
		if (*list->labels[i].own)
			label_list__add(&all, list->labels[i].own, list->labels[i].value);
	}
	*number = label_sets__find(sets, &all);
	return *number != TEXT_INDEX_NONE;
}

/* Removes the labels that @rules touch under the names that they have now. */
static void list__leave_out(struct list *list, const struct relabel_rules *rules)
{
	size_t kept = 0, i;

	for (i = 0; i < list->count; i++)
		if (!*list->labels[i].own || !relabel_rules__touch(rules, list->labels[i].own))
			list->labels[kept++] = list->labels[i];
	list->count = kept;
}

static int make_sets(struct target_labels *labels, struct list *list,
		     const struct metric_plan *plan, const struct relabel_rules *rules)
{
	struct label_sets sets = { .arena = &labels->arena };
	uint32_t plain, utf8, up_plain, up_utf8, ignored;
	int ret = -ENOMEM;

	if (make_set(&sets, list, plan, LABEL_NAMES_UTF8, &up_utf8, &ignored) &&
	    make_set(&sets, list, plan, LABEL_NAMES_PLAIN, &up_plain, &labels->collided) &&
	    make_set(&sets, list, plan, LABEL_NAMES_UTF8, &utf8, &ignored)) {
		list__leave_out(list, rules);
		if (make_set(&sets, list, plan, LABEL_NAMES_UTF8, &utf8, &ignored) &&
		    make_set(&sets, list, plan, LABEL_NAMES_PLAIN, &plain, &ignored)) {
			labels->set = sets.sets[plain];
			labels->utf8 = sets.sets[utf8];
			labels->up_set = sets.sets[up_plain];
			labels->up_utf8 = sets.sets[up_utf8];
			ret = 0;
		}
	}
	label_sets__free(&sets);
	return ret;
}

static int target_labels__make(struct target_labels *labels, const struct target_settings *target,
			       const struct metric_plan *plan)
{
	json_t *object = NULL, *value;
	struct list *list = calloc(1, sizeof(*list));
	const char *name;
	int ret = -ENOMEM;

	if (target->labels)
		object = json_loads(target->labels->text, 0, NULL);
	if (list && (object || !target->labels)) {
		if (!json_object_get(object, "instance"))
			list__add(list, "instance", target->name);
		json_object_foreach(object, name, value)
			list__add(list, name, json_string_value(value) ?: "");
		ret = make_sets(labels, list, plan, target->metric_relabel);
	}
	json_decref(object);
	free(list);
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

uint32_t target_labels__utf8(const struct target_labels *labels, const struct metric_label **list)
{
	*list = labels->utf8.labels;
	return labels->utf8.count;
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

// SPDX-License-Identifier: GPL-2.0-only
/* Finds targets with equal labels by sorting, and gives them other labels. */
#include "equal_labels.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/settings/labels.h"

#define INSTANCE "instance"
#define PREFIX "target_"

/* A target and its instance: a part of the JSON text of its labels, or its name. */
struct named {
	const char *instance;
	size_t length;
	size_t index; /* in the list */
	char *key; /* see make_key(); NULL if no other target shares the instance */
};

/* Finds the instance in a text of labels__text(), in which quotes inside strings are escaped. */
static bool find_instance(const char *text, struct named *named)
{
	static const char first[] = "{\"" INSTANCE "\":\"", later[] = ",\"" INSTANCE "\":\"";
	const char *at = strncmp(text, first, strlen(first)) ? strstr(text, later) : text;

	if (!at)
		return false;
	at += strlen(first);
	named->instance = at;
	while (*at && *at != '"')
		at += *at == '\\' && at[1] ? 2 : 1;
	named->length = at - named->instance;
	return true;
}

static int compare_instances(const void *a, const void *b)
{
	const struct named *one = a, *other = b;
	const size_t length = one->length < other->length ? one->length : other->length;

	return memcmp(one->instance, other->instance, length) ?:
		       (one->length > other->length) - (one->length < other->length);
}

static int compare_keys(const void *a, const void *b)
{
	const struct named *one = a, *other = b;

	return strcmp(one->key, other->key) ?:
		       (one->index > other->index) - (one->index < other->index);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "name=text", with the name as plain outputs spell it; NULL if out of memory. */
static char *print_label(const char *name, const char *text)
{
	char *printed, *at;

	if (asprintf(&printed, "%s=%s", name, text) < 0)
		return NULL;
	for (at = printed; at < printed + strlen(name); at++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", *at))
			*at = '_';
	}
	if (*printed >= '0' && *printed <= '9')
		*printed = '_';
	return printed;
}

/* Sorts @count texts, and joins them by a character that labels cannot contain; NULL: no memory. */
static char *join(char **texts, size_t count)
{
	size_t length = 1, i;
	char *key, *at;

	qsort(texts, count, sizeof(*texts), compare_texts);
	for (i = 0; i < count; i++)
		length += strlen(texts[i]) + 1;
	key = malloc(length);
	for (i = 0, at = key; key && i < count; i++)
		at += sprintf(at, "%s\n", texts[i]);
	if (key)
		*at = '\0';
	return key;
}

static json_t *labels_of(const struct target_settings *settings)
{
	return settings->labels ? json_loads(settings->labels->text, 0, NULL) : json_object();
}

/* A text that is equal for targets with equal labels, by rule 1; NULL if out of memory. */
static char *make_key(const struct target_settings *settings)
{
	/* Outputs add these labels to a target without labels of these names. */
	const char *const added[][2] = { { INSTANCE, settings->name }, { "job", "dart" } };
	char *texts[LABELS_MAX + 2];
	json_t *labels = labels_of(settings), *value;
	const char *name, *text;
	size_t count = 0, i;
	bool is_whole = labels;
	char *key = NULL;

	for (i = 0; labels && i < 2; i++) {
		if (json_object_get(labels, added[i][0]))
			continue;
		texts[count] = print_label(added[i][0], added[i][1]);
		is_whole = texts[count++] && is_whole;
	}
	json_object_foreach(labels, name, value) {
		text = json_string_value(value);
		if (!text || !*text || !strncmp(name, "__", 2) || count == LABELS_MAX + 2)
			continue;
		texts[count] = print_label(name, text);
		is_whole = texts[count++] && is_whole;
	}
	if (is_whole)
		key = join(texts, count);
	for (i = 0; i < count; i++)
		free(texts[i]);
	json_decref(labels);
	return key;
}

/* The new labels of a target, by rule 2; NULL if out of memory. */
static struct shared_text *make_labels(const struct target_settings *settings)
{
	char name[LABELS_NAME_MAX + 1] = PREFIX INSTANCE;
	json_t *labels = labels_of(settings), *given;
	struct shared_text *text = NULL;
	struct dart_error error;

	if (!labels)
		return NULL;
	given = json_incref(json_object_get(labels, INSTANCE));
	while (json_object_get(labels, name) && strlen(name) + strlen(PREFIX) < sizeof(name)) {
		memmove(name + strlen(PREFIX), name, strlen(name) + 1);
		memcpy(name, PREFIX, strlen(PREFIX));
	}
	if (!json_object_set_new(labels, INSTANCE, json_string(settings->name)) &&
	    !json_object_get(labels, name) && !json_object_set(labels, name, given) &&
	    labels__text(labels, NULL, &text, &error) == -EINVAL && !json_object_del(labels, name))
		labels__text(labels, NULL, &text, &error);
	json_decref(given);
	json_decref(labels);
	return text;
}

static int rename_target(struct target_list *list, size_t index)
{
	struct target_item *item = list->items[index], *renamed;
	struct shared_text *labels;
	struct named unused;

	/* A target that was given no "instance" already uses its name. */
	if (!item->settings.labels || !find_instance(item->settings.labels->text, &unused))
		return 0;
	labels = make_labels(&item->settings);
	renamed = labels ? target_item__with_labels(item, labels) : NULL;
	shared_text__release(labels);
	if (!renamed)
		return -ENOMEM;
	list->items[index] = renamed;
	target_item__release(item);
	return 0;
}

/* Separates the @size targets of @group, which share an instance. */
static int separate_group(struct target_list *list, struct named *group, size_t size, size_t *count,
			  struct dart_error *example)
{
	size_t i, end;
	int err = 0;

	for (i = 0; i < size; i++) {
		group[i].key = make_key(&list->items[group[i].index]->settings);
		if (!group[i].key)
			return -ENOMEM;
	}
	qsort(group, size, sizeof(*group), compare_keys);
	for (i = 0; i < size && !err; i = end) {
		end = i + 1;
		while (end < size && !strcmp(group[i].key, group[end].key))
			end++;
		if (end == i + 1)
			continue;
		if (!*count)
			dart_error__set(example, EEXIST, "%s and %s",
					list->items[group[i].index]->settings.name,
					list->items[group[i + 1].index]->settings.name);
		*count += end - i;
		for (; i < end && !err; i++)
			err = rename_target(list, group[i].index);
	}
	return err;
}

int equal_labels__separate(struct target_list *list, size_t *count, struct dart_error *example)
{
	struct named *all = calloc(list->count + 1, sizeof(*all));
	const struct target_settings *settings;
	size_t i, end;
	int err = 0;

	*count = 0;
	if (!all)
		return -ENOMEM;
	for (i = 0; i < list->count; i++) {
		settings = &list->items[i]->settings;
		all[i].index = i;
		if (settings->labels && find_instance(settings->labels->text, &all[i]))
			continue;
		all[i].instance = settings->name;
		all[i].length = strlen(settings->name);
	}
	qsort(all, list->count, sizeof(*all), compare_instances);
	for (i = 0; i < list->count && !err; i = end) {
		end = i + 1;
		while (end < list->count && !compare_instances(&all[i], &all[end]))
			end++;
		if (end > i + 1)
			err = separate_group(list, &all[i], end - i, count, example);
	}
	for (i = 0; i < list->count; i++)
		free(all[i].key);
	free(all);
	return err;
}

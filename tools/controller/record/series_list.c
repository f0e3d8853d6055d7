// SPDX-License-Identifier: GPL-2.0-only
/* Numbers and sorts series: see series_list.h. */
#include "series_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less than all characters of names and labels, so a prefix sorts before longer texts. */
#define SEPARATOR '\1'

static const char *copy(struct series_list *list, const char *text)
{
	return arena__copy(&list->arena, text, strlen(text));
}

/* Makes room for one more element; false if out of memory. */
static bool make_room(void **elements, uint32_t count, uint32_t *room, size_t size)
{
	const uint32_t wanted = *room ? 2 * *room : 1024;
	void *larger;

	if (count < *room)
		return true;
	larger = wanted > *room ? reallocarray(*elements, wanted, size) : NULL;
	if (!larger)
		return false;
	*elements = larger;
	*room = wanted;
	return true;
}

static const struct metric_family *add_family(struct series_list *list,
					      const struct metric_family *family)
{
	struct metric_family *own = arena__take(&list->arena, sizeof(*own));

	if (!own)
		return NULL;
	*own = (struct metric_family){
		.name = copy(list, family->name),
		.help = copy(list, family->help),
		.unit = copy(list, family->unit),
		.type = family->type,
	};
	if (!own->name || !own->help || !own->unit ||
	    !make_room((void **)&list->families, list->family_count, &list->family_room,
		       sizeof(*list->families)) ||
	    text_index__add(&list->family_by_name, own->name, list->family_count))
		return NULL;
	list->families[list->family_count++] = own;
	return own;
}

/* Returns the first family of this name; NULL if out of memory. */
static const struct metric_family *find_family(struct series_list *list,
					       const struct metric_family *family)
{
	const uint32_t number = text_index__find(&list->family_by_name, family->name);

	return number == TEXT_INDEX_NONE ? add_family(list, family) : list->families[number];
}

/*
 * Returns FAMILY LABELS NAME TEXT; for a bucket its labels without "le" in place of NAME and TEXT.
 */
static char *make_key(const struct metric_family *family, const char *labels,
		      const struct metric_series *series)
{
	char *key = NULL;
	size_t length, i;
	FILE *out = open_memstream(&key, &length);

	if (!out)
		return NULL;
	fprintf(out, "%s%c%s%c", family->name, SEPARATOR, labels, SEPARATOR);
	if (family->type != METRIC_HISTOGRAM)
		fprintf(out, "%s%c%s", series->name, SEPARATOR, series->text);
	for (i = 0; family->type == METRIC_HISTOGRAM && i < series->label_count; i++)
		if (strcmp(series->labels[i].name, "le"))
			fprintf(out, "%s=%s%c", series->labels[i].name, series->labels[i].value,
				SEPARATOR);
	if (fclose(out)) {
		free(key);
		return NULL;
	}
	return key;
}

/* Adds a group with @key, which must be new. */
static int add_group(struct series_list *list, const char *key, const struct metric_family *family,
		     const char *labels)
{
	struct listed_group group = {
		.family = family,
		.labels = copy(list, labels),
		.key = copy(list, key),
	};

	if (!group.labels || !group.key || list->group_count == TEXT_INDEX_NONE - 1 ||
	    !make_room((void **)&list->groups, list->group_count, &list->group_room,
		       sizeof(*list->groups)) ||
	    text_index__add(&list->by_key, group.key, list->group_count))
		return -ENOMEM;
	list->groups[list->group_count++] = group;
	return 0;
}

static int find_member(struct series_list *list, struct listed_group *group,
		       const struct metric_series *series, uint32_t *member)
{
	struct listed_series **at = &group->members, *own;

	for (; *at; at = &(*at)->next) {
		if (strcmp((*at)->text, series->text) || strcmp((*at)->name, series->name))
			continue;
		*member = (*at)->member;
		return 0;
	}
	own = arena__take(&list->arena, sizeof(*own));
	if (!own)
		return -ENOMEM;
	*own = (struct listed_series){
		.name = copy(list, series->name),
		.text = copy(list, series->text),
		.member = group->member_count,
	};
	if (!own->name || !own->text)
		return -ENOMEM;
	*at = own;
	*member = group->member_count++;
	return 0;
}

int series_list__find(struct series_list *list, const struct metric_plan *plan, uint32_t at,
		      const char *labels, struct series_place *place)
{
	const struct metric_series *series = &plan->series[at];
	const struct metric_family *of = &plan->families[series->family];
	const struct metric_family *family = find_family(list, of);
	int err = 0;
	char *key;

	place->group = TEXT_INDEX_NONE;
	if (!family)
		return -ENOMEM;
	if (family->type != of->type) {
		list->left_out++;
		return 0;
	}
	key = make_key(family, labels, series);
	if (!key)
		return -ENOMEM;
	place->group = text_index__find(&list->by_key, key);
	if (place->group == TEXT_INDEX_NONE) {
		place->group = list->group_count;
		err = add_group(list, key, family, labels);
	}
	free(key);
	return err ?: find_member(list, &list->groups[place->group], series, &place->member);
}

static int compare_groups(const void *a, const void *b, void *data)
{
	const struct listed_group *groups = data;

	return strcmp(groups[*(const uint32_t *)a].key, groups[*(const uint32_t *)b].key);
}

int series_list__rank(struct series_list *list)
{
	const uint32_t count = list->group_count;
	uint32_t *ranks, *by_rank, i;

	if (list->ranked_count == count)
		return 0;
	ranks = reallocarray(list->ranks, count, sizeof(*ranks));
	list->ranks = ranks ?: list->ranks;
	by_rank = reallocarray(list->by_rank, count, sizeof(*by_rank));
	list->by_rank = by_rank ?: list->by_rank;
	if (!ranks || !by_rank)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		by_rank[i] = i;
	qsort_r(by_rank, count, sizeof(*by_rank), compare_groups, list->groups);
	for (i = 0; i < count; i++)
		ranks[by_rank[i]] = i;
	list->ranked_count = count;
	return 0;
}

void series_list__clear(struct series_list *list)
{
	arena__free(&list->arena);
	text_index__free(&list->by_key);
	text_index__free(&list->family_by_name);
	free(list->families);
	free(list->groups);
	free(list->ranks);
	free(list->by_rank);
	*list = (struct series_list){};
}

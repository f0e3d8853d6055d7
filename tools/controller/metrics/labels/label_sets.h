/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of labels, each held once: the thousands of series of a target have few different
 * ones.
 */
#ifndef CONTROLLER_LABEL_SETS_H
#define CONTROLLER_LABEL_SETS_H

#include "tools/controller/base/arena.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/metrics/text/text_index.h"

#define LABEL_LIST_MAX 80

/* Labels of a series in the making; their texts are the caller's. */
struct label_list {
	struct metric_label labels[LABEL_LIST_MAX];
	uint32_t count;
};

/* A list may be large, and has few. */
static inline void label_list__copy(struct label_list *to, const struct label_list *from)
{
	uint32_t i;

	for (i = 0; i < from->count; i++)
		to->labels[i] = from->labels[i];
	to->count = from->count;
}

/* In its place by strcmp(); not if @value is "", @name is there, or there is no room. */
void label_list__add(struct label_list *list, const char *name, const char *value);

struct label_set {
	const struct metric_label *labels;
	const char *text; /* as in struct metric_series */
	uint32_t count;
};

struct label_sets {
	struct arena *arena; /* of all that sets have */
	struct label_set *sets;
	uint32_t count;
	uint32_t room;
	struct text_index by_text;
	struct text_index values; /* and names, in the arena once each */
	const char **texts;
	uint32_t text_count;
	uint32_t text_room;
	char *text; /* of the set that is looked for */
	size_t text_size;
};

/* The number of the set with these labels, or TEXT_INDEX_NONE if out of memory. */
uint32_t label_sets__find(struct label_sets *sets, const struct label_list *list);
/* All but what is in the arena. */
void label_sets__free(struct label_sets *sets);

#endif /* CONTROLLER_LABEL_SETS_H */

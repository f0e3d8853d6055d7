/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of labels, each stored once: the thousands of series of a target share few different sets.
 */
#ifndef CONTROLLER_LABEL_SETS_H
#define CONTROLLER_LABEL_SETS_H

#include "tools/controller/base/arena.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/metrics/text/text_index.h"

#define LABEL_LIST_MAX 80

/* Labels of a series while it is built; their texts are the caller's. */
struct label_list {
	struct metric_label labels[LABEL_LIST_MAX];
	uint32_t count;
};

/* Copies only the labels in use, because most lists are short and the struct is large. */
static inline void label_list__copy(struct label_list *to, const struct label_list *from)
{
	uint32_t i;

	for (i = 0; i < from->count; i++)
		to->labels[i] = from->labels[i];
	to->count = from->count;
}

/*
 * Inserts the label in the order of strcmp(); ignores it if @value is "", if the list contains
 * @name, or if the list is full.
 */
void label_list__add(struct label_list *list, const char *name, const char *value);

struct label_set {
	const struct metric_label *labels;
	const char *text; /* in the form of struct metric_series */
	uint32_t count;
};

struct label_sets {
	struct arena *arena; /* memory of all sets and texts */
	struct label_set *sets;
	uint32_t count;
	uint32_t room;
	struct text_index by_text;
	struct text_index values; /* names and values, each once in the arena */
	const char **texts;
	uint32_t text_count;
	uint32_t text_room;
	char *text; /* buffer for the set in search */
	size_t text_size;
};

/* Returns the number of the set with these labels, or TEXT_INDEX_NONE if memory ran out. */
uint32_t label_sets__find(struct label_sets *sets, const struct label_list *list);
/* Frees everything outside the arena. */
void label_sets__free(struct label_sets *sets);

#endif /* CONTROLLER_LABEL_SETS_H */

// SPDX-License-Identifier: GPL-2.0-only
/* Lists the running outputs: see output_list.h. */
#include "output_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void output_list__open(struct output_list *list)
{
	*list = (struct output_list){};
	pthread_mutex_init(&list->lock, NULL);
}

void output_list__close(struct output_list *list)
{
	free(list->items);
	pthread_mutex_destroy(&list->lock);
}

int output_list__add(struct output_list *list, output_list_fill *fill, void *data)
{
	struct output_list_item *items;

	pthread_mutex_lock(&list->lock);
	items = reallocarray(list->items, list->count + 1, sizeof(*items));
	if (items) {
		list->items = items;
		items[list->count++] = (struct output_list_item){ fill, data };
	}
	pthread_mutex_unlock(&list->lock);
	return items ? 0 : -ENOMEM;
}

void output_list__remove(struct output_list *list, const void *data)
{
	size_t i, kept = 0;

	pthread_mutex_lock(&list->lock);
	for (i = 0; i < list->count; i++) {
		if (list->items[i].data != data)
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
	pthread_mutex_unlock(&list->lock);
}

int output_list__read(struct output_list *list, struct output_figures **figures, size_t *count)
{
	bool has_failed = false;
	size_t i;

	pthread_mutex_lock(&list->lock);
	*count = list->count;
	*figures = calloc(list->count + 1, sizeof(**figures));
	for (i = 0; *figures && i < list->count; i++) {
		list->items[i].fill(list->items[i].data, *figures + i);
		has_failed |= (*figures)[i].has_failed;
	}
	pthread_mutex_unlock(&list->lock);
	if (!*figures)
		return -ENOMEM;
	if (!has_failed)
		return 0;
	output_list__free(*figures, *count);
	return -ENOMEM;
}

void output_list__free(struct output_figures *figures, size_t count)
{
	size_t i;

	for (i = 0; figures && i < count; i++)
		output_figures__clear(figures + i);
	free(figures);
}

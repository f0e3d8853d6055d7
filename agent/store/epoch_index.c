// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the list of a folder's files, see epoch_index.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libdart/clock.h>

#include "epoch_index.h"

/*
 * File systems take the time of a change from a clock of the kernel's ticks, so a second change
 * within a tick, at most 10 ms, may have the same time.  Some keep whole seconds only, such as ext4
 * with inodes of 128 bytes, or every other second.
 */
#define TICK_NS INT64_C(100000000)
#define SECONDS_NS INT64_C(2100000000)

static int64_t ns_of(const struct timespec *time)
{
	return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

/* How long a second change may have the time of the first one. */
static int64_t tick_of(const struct timespec *changed)
{
	return changed->tv_nsec ? TICK_NS : SECONDS_NS;
}

/* When the folder changed last; zeros if there is none. */
static struct timespec change_of(const struct epoch_folder *folder)
{
	struct stat status;

	return stat(folder->path, &status) ? (struct timespec){ 0 } : status.st_mtim;
}

void epoch_index__close(struct epoch_index *index)
{
	free(index->list.items);
	free(index->reach);
	index->list = (struct epoch_list){ .count = 0 };
	index->reach = NULL;
	index->is_exact = false;
}

/* The caller frees it; NULL if out of memory. */
static uint64_t *reach_of(const struct epoch_list *list)
{
	uint64_t *reach = calloc(list->count + 1, sizeof(*reach)), latest_ns = 0;
	size_t i;

	for (i = 0; reach && i < list->count; i++) {
		if (list->items[i].until_ns > latest_ns)
			latest_ns = list->items[i].until_ns;
		reach[i] = latest_ns;
	}
	return reach;
}

int epoch_index__refresh(struct epoch_index *index, struct dart_error *error)
{
	const struct timespec changed = change_of(index->folder);
	const int64_t age = (int64_t)dart_clock__ns(CLOCK_REALTIME) - ns_of(&changed);
	struct epoch_list list;
	uint64_t *reach;
	int ret;

	if (index->is_exact && changed.tv_sec == index->changed.tv_sec &&
	    changed.tv_nsec == index->changed.tv_nsec)
		return 0;
	ret = epoch_folder__list(index->folder, &list, error);
	if (ret)
		return ret;
	reach = reach_of(&list);
	if (!reach) {
		free(list.items);
		return dart_error__no_memory(error);
	}
	free(index->list.items);
	free(index->reach);
	index->list = list;
	index->reach = reach;
	index->changed = changed;
	/* A folder that does not exist, and a clock that was set back, have no exact time. */
	index->is_exact = changed.tv_sec && age > tick_of(&changed);
	index->passes++;
	return 0;
}

size_t epoch_index__first(const struct epoch_index *index, uint64_t since_ns)
{
	size_t low = 0, high = index->list.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (index->reach[middle] > since_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int compare(const void *since_ns, const void *item)
{
	const uint64_t wanted = *(const uint64_t *)since_ns;
	const uint64_t found = ((const struct epoch_item *)item)->since_ns;

	return (wanted > found) - (wanted < found);
}

const struct epoch_item *epoch_index__find(const struct epoch_index *index, uint64_t since_ns)
{
	const struct epoch_list *list = &index->list;

	return list->count ?
		       bsearch(&since_ns, list->items, list->count, sizeof(*list->items), compare) :
		       NULL;
}

/* ---- selections */

/* Banks and files side by side, each in the order of their beginnings. */
struct selection {
	const struct epoch_item *banks;
	int order[DART_EPOCH_BANKS];
	uint32_t next; /* in @order */
	uint64_t since_ns, until_ns;
	epoch_index_take *take;
	void *argument;
};

static int take_one(const struct selection *selection, const struct epoch_item *item, int bank)
{
	if (!item->since_ns || item->since_ns > selection->until_ns ||
	    (item->until_ns && item->until_ns <= selection->since_ns))
		return 0;
	return selection->take(selection->argument, item, bank);
}

/* The banks whose epochs began at @last_ns at the latest. */
static int take_banks(struct selection *selection, uint64_t last_ns)
{
	int ret = 0, bank;

	for (; !ret && selection->next < DART_EPOCH_BANKS; selection->next++) {
		bank = selection->order[selection->next];
		if (selection->banks[bank].since_ns > last_ns)
			break;
		ret = take_one(selection, &selection->banks[bank], bank);
	}
	return ret;
}

static bool is_in_bank(const struct epoch_item banks[static DART_EPOCH_BANKS], uint64_t since_ns)
{
	return banks[0].since_ns == since_ns || banks[1].since_ns == since_ns;
}

int epoch_index__select(const struct epoch_index *index,
			const struct epoch_item banks[static DART_EPOCH_BANKS], uint64_t since_ns,
			uint64_t until_ns, epoch_index_take *take, void *argument)
{
	const bool is_swapped = banks[0].since_ns > banks[1].since_ns;
	struct selection selection = {
		.banks = banks,
		.order = { is_swapped, !is_swapped },
		.since_ns = since_ns,
		.until_ns = until_ns,
		.take = take,
		.argument = argument,
	};
	const struct epoch_item *item;
	int ret = 0;
	size_t i;

	for (i = epoch_index__first(index, since_ns); !ret && i < index->list.count; i++) {
		item = &index->list.items[i];
		ret = take_banks(&selection, item->since_ns);
		if (!ret && !is_in_bank(banks, item->since_ns))
			ret = take_one(&selection, item, -1);
		if (item->since_ns > until_ns)
			break;
	}
	return ret ?: take_banks(&selection, UINT64_MAX);
}

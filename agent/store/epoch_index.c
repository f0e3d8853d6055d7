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
 * within a tick, at most 10 ms, may have the same time.
 */
#define TICK_NS INT64_C(100000000)

static int64_t ns_of(const struct timespec *time)
{
	return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
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
	index->list = (struct epoch_list){ .count = 0 };
	index->is_exact = false;
}

int epoch_index__refresh(struct epoch_index *index, struct dart_error *error)
{
	const struct timespec changed = change_of(index->folder);
	const int64_t age = (int64_t)dart_clock__ns(CLOCK_REALTIME) - ns_of(&changed);
	struct epoch_list list;
	int ret;

	if (index->is_exact && changed.tv_sec == index->changed.tv_sec &&
	    changed.tv_nsec == index->changed.tv_nsec)
		return 0;
	ret = epoch_folder__list(index->folder, &list, error);
	if (ret)
		return ret;
	free(index->list.items);
	index->list = list;
	index->changed = changed;
	/* A folder that does not exist, and a clock that was set back, have no exact time. */
	index->is_exact = changed.tv_sec && age > TICK_NS;
	index->passes++;
	return 0;
}

size_t epoch_index__first(const struct epoch_index *index, uint64_t since_ns)
{
	size_t low = 0, high = index->list.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (index->list.items[middle].until_ns > since_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

const struct epoch_item *epoch_index__find(const struct epoch_index *index, uint64_t since_ns)
{
	const size_t i = epoch_index__first(index, since_ns);

	return i < index->list.count && index->list.items[i].since_ns == since_ns ?
		       &index->list.items[i] :
		       NULL;
}

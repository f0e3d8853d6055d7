// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mount_tables.h"

/* The mounts of a moment. */
struct mount_table {
	struct mounts mounts; /* first: see table_of() */
	unsigned int users; /* including the view, while it is the newest one */
};

static struct view {
	pthread_mutex_t lock; /* held while the mounts are read, so that one thread reads them */
	bool is_watched;
	int watch; /* poll(2) tells of changes, once */
	struct mount_table *newest; /* NULL: to be read */
} views[MOUNT_VIEWS] = {
	[MOUNTS_OF_DARTD] = { .lock = PTHREAD_MUTEX_INITIALIZER },
	[MOUNTS_OF_HOST] = { .lock = PTHREAD_MUTEX_INITIALIZER },
};

static struct mount_table *table_of(const struct mounts *mounts)
{
	return (struct mount_table *)mounts;
}

/* These are called with the lock of the view. */

static void release(struct mount_table *table)
{
	if (--table->users)
		return;
	mounts__free(&table->mounts);
	free(table);
}

static int watch(enum mount_view view)
{
	struct dart_error error;
	int fd;

	if (view == MOUNTS_OF_HOST)
		fd = mounts__watch(&error);
	else
		fd = mounts__watch_own(&error);
	if (fd < 0)
		return fd;
	views[view].watch = fd;
	views[view].is_watched = true;
	return 0;
}

/* Drops mounts that changed; threads that use them keep them. */
static void drop_old(struct view *view)
{
	struct pollfd change = { .fd = view->watch, .events = POLLPRI };

	if (poll(&change, 1, 0) <= 0 || !view->newest)
		return;
	release(view->newest);
	view->newest = NULL;
}

static int read_newest(enum mount_view view)
{
	struct mount_table *table = calloc(1, sizeof(*table));
	struct dart_error error;
	int ret;

	if (!table)
		return -ENOMEM;
	ret = view == MOUNTS_OF_HOST ? mounts__read(&table->mounts, &error) :
				       mounts__read_own(&table->mounts, &error);
	if (ret) {
		free(table);
		return ret;
	}
	table->users = 1;
	views[view].newest = table;
	return 0;
}

int mount_tables__take(enum mount_view view, const struct mounts **mounts)
{
	struct view *state = &views[view];
	int ret;

	pthread_mutex_lock(&state->lock);
	ret = state->is_watched ? 0 : watch(view);
	if (!ret) {
		/* First, so that a change during the reading is not missed. */
		drop_old(state);
		ret = state->newest ? 0 : read_newest(view);
	}
	if (!ret) {
		state->newest->users++;
		*mounts = &state->newest->mounts;
	}
	pthread_mutex_unlock(&state->lock);
	return ret;
}

void mount_tables__give(enum mount_view view, const struct mounts *mounts)
{
	pthread_mutex_lock(&views[view].lock);
	release(table_of(mounts));
	pthread_mutex_unlock(&views[view].lock);
}

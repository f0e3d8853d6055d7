/* SPDX-License-Identifier: GPL-2.0-only */
/* Watchers of the table: connections whose peers are told that the table is another one. */
#ifndef TABLE_WATCH_H
#define TABLE_WATCH_H

#include <stddef.h>
#include <sys/queue.h>

/* Embedded in a connection. */
struct table_watcher {
	LIST_ENTRY(table_watcher) link;
	/* The table has another generation.  May let this watcher leave, and no other. */
	void (*changed)(struct table_watcher *watcher); /* NULL: did not join */
};

struct table_watchers {
	LIST_HEAD(, table_watcher) members;
};

static inline void table_watchers__open(struct table_watchers *watchers)
{
	LIST_INIT(&watchers->members);
}

static inline void table_watchers__join(struct table_watchers *watchers,
					struct table_watcher *watcher,
					void (*changed)(struct table_watcher *watcher))
{
	watcher->changed = changed;
	LIST_INSERT_HEAD(&watchers->members, watcher, link);
}

/* Does nothing for a watcher that did not join. */
static inline void table_watchers__leave(struct table_watcher *watcher)
{
	if (watcher->changed)
		LIST_REMOVE(watcher, link);
	watcher->changed = NULL;
}

static inline void table_watchers__tell(struct table_watchers *watchers)
{
	struct table_watcher *watcher = LIST_FIRST(&watchers->members), *next;

	for (; watcher; watcher = next) {
		next = LIST_NEXT(watcher, link);
		watcher->changed(watcher);
	}
}

#endif /* TABLE_WATCH_H */

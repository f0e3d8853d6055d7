/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_NAMESPACE_H
#define DART_ZERO_NAMESPACE_H

#include <linux/list.h>

#include "event.h"

struct dart_percpu;
struct dart_source;
struct dart_zero_window;
struct net;

/* A region that wants to know when network namespaces come and go. */
struct dart_namespace_watch {
	struct list_head link;
	struct dart_events *events;
	struct dart_event event;
};

int dart_namespace_init(void);
void dart_namespace_exit(void);

/*
 * Calls @borrow for the namespace that @window selects, which does not end
 * meanwhile, and returns what it returns; or ERR_PTR().
 */
struct dart_percpu *
dart_namespace_borrow(const struct dart_source *source,
		      const struct dart_zero_window *window,
		      struct dart_percpu *(*borrow)(const struct dart_source *,
						    const struct dart_zero_window *,
						    struct net *));

/* Its counters: opens @source of <linux/snmp.h>. */
struct dart_percpu *dart_namespace_open(const struct dart_source *source,
					const struct dart_zero_window *window);

void dart_namespace_watch_init(struct dart_namespace_watch *watch,
			       struct dart_events *events);
void dart_namespace_watch_stop(struct dart_namespace_watch *watch);

/*
 * Starts or stops @watch.  What has changed since @change, which is what
 * dart_namespace_list() said, is told; what has not, no longer.
 */
void dart_namespace_watch_since(struct dart_namespace_watch *watch, u64 change,
				bool is_watched);

/*
 * Copies the inode numbers of all namespaces to @inodes, which has room for
 * @room.  Returns 0, or -ENOSPC if they do not fit; *@count says how many there
 * are in both cases.
 */
int dart_namespace_list(u32 *inodes, u32 room, u32 *count, u64 *change);

#endif /* DART_ZERO_NAMESPACE_H */

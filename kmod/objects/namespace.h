/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_NAMESPACE_H
#define DART_ZERO_NAMESPACE_H

#include <linux/list.h>

#include "kmod/base/event.h"
#include "source.h"

/* Tells a region that the list of network namespaces changed. */
struct dart_namespace_watch {
	struct list_head link;
	struct dart_events *events;
	struct dart_event event;
};

struct net;

/* A network namespace, which the reference does not keep from ending. */
struct dart_namespace_reference {
	struct list_head link;
	/* NULL once it has ended.  The namespace stays for the rest of an RCU read section. */
	struct net __rcu *net;
};

int dart_namespace_init(void);
void dart_namespace_exit(void);

/* Calls source->borrow() for the namespace that @window selects. */
struct dart_percpu *dart_namespace_open(const struct dart_source *source,
					const struct dart_zero_window *window);
/*
 * Refers to the namespace that @window selects, and sets *@payer to the user whose quota it takes.
 * Errors: as dart_namespace_open().
 */
int dart_namespace_refer(struct dart_namespace_reference *reference,
			 const struct dart_zero_window *window, u64 *payer);
void dart_namespace_forget(struct dart_namespace_reference *reference);

/* The user whose quota the counters of @net and its devices take: dart_percpu.payer. */
u64 dart_namespace_payer(const struct net *net);

/* Borrows counters that are numbered in <linux/snmp.h>. */
struct dart_percpu *dart_namespace_borrow(const struct dart_source *source,
					  const struct dart_zero_window *window, struct net *net);

void dart_namespace_watch_init(struct dart_namespace_watch *watch, struct dart_events *events);

/*
 * Starts or stops @watch.  Starting it tells the region if namespaces have
 * changed since dart_namespace_list() returned @change; it cancels an older event.
 */
void dart_namespace_watch_set(struct dart_namespace_watch *watch, bool is_watched, u64 change);

/*
 * Copies the inode numbers of all namespaces to @inodes, which has room for
 * @room.  Returns 0, or -ENOSPC if they do not fit; sets *@count to their
 * number in both cases.
 */
int dart_namespace_list(u32 *inodes, u32 room, u32 *count, u64 *change);

#endif /* DART_ZERO_NAMESPACE_H */

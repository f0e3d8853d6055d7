/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets that a source names, sorted by name, each name once.  Lists share items, which are
 * reference-counted and do not change.  Pure code: any thread may make a list, and one thread at a
 * time may use it.
 */
#ifndef CONTROLLER_TARGET_LIST_H
#define CONTROLLER_TARGET_LIST_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tools/controller/settings/shard.h"
#include "tools/controller/settings/settings.h"

/*
 * A target with the settings that are wanted, including an interval.  The index is set by the one
 * that starts the target, and means nothing in a list.
 */
struct target_item {
	struct target_settings settings; /* first */
	atomic_uint holders;
};

struct target_list {
	struct target_item **items;
	size_t count;
};

/* An unsorted list, to which a source is still adding targets. */
struct target_list_builder {
	struct target_list list;
	const struct target_defaults *defaults; /* with an interval and a transport */
	struct shared_text *source;
};

/* NULL is allowed. */
struct target_item *target_item__hold(struct target_item *item);
void target_item__release(struct target_item *item);
/*
 * Copies @item with other labels, or without if they are NULL.  The caller becomes the first
 * holder.  NULL if out of memory.
 */
struct target_item *target_item__with_labels(const struct target_item *item,
					     struct shared_text *labels);
/* Copies @item as a target for which this controller stands by.  Likewise. */
struct target_item *target_item__on_standby(const struct target_item *item, uint64_t standby_ns);
/*
 * True if both would connect to the same target; the sources that named them may differ, and one of
 * them may be on standby.
 */
bool target_item__equal(const struct target_item *one, const struct target_item *other);

/*
 * Adds a target with the defaults except their labels.  The list owns the item; the caller may
 * change its members until the list is finished.  Returns 0; -EINVAL if @port is 0 or @host is
 * not printable ASCII of at most 253 characters; -E2BIG beyond SETTINGS_TARGETS_MAX; or -ENOMEM.
 */
int target_list__add(struct target_list_builder *builder, const char *host, uint16_t port,
		     struct target_item **item);
/* Moves the targets to @list, sorted; if several share a name, only the first one is kept. */
void target_list__finish(struct target_list_builder *builder, struct target_list *list);
/* Releases all items, also of a list that is not finished. */
void target_list__clear(struct target_list *list);

/*
 * Makes a list of the targets of @settings.  A target without an interval or entries of its own
 * gets the general ones.  Returns 0 or -ENOMEM.
 */
int target_list__of_settings(const struct settings *settings, struct target_list *list);

/*
 * Unites the targets of @lists; if several lists name a target, the item of the first list is
 * taken.  Returns 0; -E2BIG if there are more than SETTINGS_TARGETS_MAX, which is found without
 * comparing all of them; or -ENOMEM.
 */
int target_list__unite(const struct target_list *const *lists, size_t count,
		       struct target_list *all);
/*
 * Keeps the targets that the own member of @membership scrapes, and with @stands_by the ones for
 * which it stands by, and counts @parts.  Returns 0 or -ENOMEM: then targets are missing for which
 * it would stand by.
 */
int target_list__share(struct target_list *list, const struct membership *membership,
		       uint64_t now_ns, bool stands_by, struct shard_parts *parts);
/* True if both lists name the same targets, from the same sources. */
bool target_list__equal(const struct target_list *one, const struct target_list *other);

#endif /* CONTROLLER_TARGET_LIST_H */

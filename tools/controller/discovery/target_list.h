/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets that a source names, in the order of their names, each name once.  Lists share
 * their items, which are counted and do not change.  Pure code: any thread may make a list,
 * and one at a time uses it.
 */
#ifndef CONTROLLER_TARGET_LIST_H
#define CONTROLLER_TARGET_LIST_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tools/controller/settings/settings.h"

/*
 * A target as it is wanted.  The interval is set.  The index is of whoever starts the
 * target, and has no meaning in a list.
 */
struct target_item {
	struct target_settings settings; /* first */
	atomic_uint holders;
};

struct target_list {
	struct target_item **items;
	size_t count;
};

/* What a source has named until now; without order. */
struct target_list_builder {
	struct target_list list;
	const struct target_defaults *defaults; /* with an interval and a transport */
	struct shared_text *source;
};

/* NULL is allowed. */
struct target_item *target_item__hold(struct target_item *item);
void target_item__release(struct target_item *item);
/* The same with other labels, which may be NULL.  The caller is the first holder; NULL: no memory. */
struct target_item *target_item__with_labels(const struct target_item *item,
					     struct shared_text *labels);
/* Would a target be the same one, whichever source has named it? */
bool target_item__equal(const struct target_item *one, const struct target_item *other);

/*
 * Adds a target with the defaults, whose labels are not taken.  The item stays the list's;
 * its members may be changed until the list is finished.  Returns 0; -EINVAL if @host is
 * not printable ASCII of at most 253 characters; -E2BIG beyond SETTINGS_TARGETS_MAX; or
 * -ENOMEM.
 */
int target_list__add(struct target_list_builder *builder, const char *host,
		     uint16_t port, struct target_item **item);
/* Sorts; of several targets of one name the first one counts. */
void target_list__finish(struct target_list_builder *builder, struct target_list *list);
/* Also of a list that is not finished. */
void target_list__clear(struct target_list *list);

/* The targets of @settings; those without an interval or entries get those of all. */
int target_list__of_settings(const struct settings *settings, struct target_list *list);

/*
 * All targets of @lists; of several of one name that of the first list counts.  Returns 0;
 * -E2BIG if there are more than SETTINGS_TARGETS_MAX, which is found without looking at all
 * of them; or -ENOMEM.
 */
int target_list__unite(const struct target_list *const *lists, size_t count,
		       struct target_list *all);
/* The same targets of the same sources. */
bool target_list__equal(const struct target_list *one, const struct target_list *other);

#endif /* CONTROLLER_TARGET_LIST_H */

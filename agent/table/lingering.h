/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries that linger: their objects have ended, but the table lists them with their final bytes
 * until every connected controller has had the time to read these: two intervals of the slowest
 * controller, and at least a lease.  So controllers see objects that live for less than their
 * interval, such as functions that run for some milliseconds.
 *
 * Lingering entries have a budget, of all and of each user: beyond it the oldest leave early.
 * The registry takes entries out of the table; the functions here choose which, and when.
 */
#ifndef LINGERING_H
#define LINGERING_H

#include <systemd/sd-event.h>

#include "agent/base/audience.h"
#include "agent/base/counts.h"
#include "agent/base/entry_index.h"
#include "entry.h"
#include "quota.h"

/*
 * Entries, their bytes of memory and memory regions that linger at a time, of all users.  More
 * entries than these make scrapes slow while slices come and go in a loop: pair/slices missed 127
 * of 142 scrapes with 4,096 slices that lay in a page each.
 */
#define LINGERING_ENTRIES_MAX 1024
#define LINGERING_BYTES_MAX (16U << 20)
#define LINGERING_REGIONS_MAX 32768
/* A user's entries may linger up to this part of the entries that he may have. */
#define LINGERING_USER_SHARE 4
/* However rarely a controller reads. */
#define LINGERING_MAX_MS 600000U

struct lingering {
	struct entries entries; /* the one that ended first comes first */
	struct entry_index names;
	uint64_t bytes; /* of all */
	uint64_t memory_regions;
	const struct audience *audience;
	struct table_counts *counts;
	sd_event_source *timer;
	sd_event_source *gathering; /* the final bytes of slices are to be copied */
};

/*
 * Calls @on_due with @owner when lingering__due() may return an entry, and @on_gathering some time
 * after slices began to linger.  Returns 0 or -errno.
 */
int lingering__open(struct lingering *lingering, sd_event *loop, const struct audience *audience,
		    struct table_counts *counts, sd_event_time_handler_t on_due,
		    sd_event_time_handler_t on_gathering, void *owner);
/* No entry lingers any more. */
void lingering__close(struct lingering *lingering);

/* How long an entry lingers that ends now, in ms. */
uint32_t lingering__duration_ms(const struct lingering *lingering);

/*
 * Adds @entry, which has ended and is listed in the published table, at @bytes of memory.  Returns
 * 0; -EFBIG: it is too large to linger; -ENOMEM.
 */
int lingering__add(struct lingering *lingering, struct entry *entry, uint64_t bytes);
void lingering__remove(struct lingering *lingering, struct entry *entry);
/* @entry, at @bytes of memory, lingers instead of @former, which has the same name. */
int lingering__replace(struct lingering *lingering, struct entry *former, struct entry *entry,
		       uint64_t bytes);
/* NULL: no entry of this name lingers. */
struct entry *lingering__find(const struct lingering *lingering, const char *name);

/*
 * The entry that must leave early, because all entries or the entries of @user, who may have
 * @user_most entries in the table, exceed the budget; or NULL.  Counts and logs it.
 */
struct entry *lingering__surplus(struct lingering *lingering, const struct quota_user *user,
				 uint32_t user_most);
/* Notes that an entry leaves early for the reason @why, as lingering__surplus() does. */
void lingering__cut_short(struct lingering *lingering, const char *why);
/* The next entry that has lingered long enough, or NULL.  Then the timer is set for the others. */
struct entry *lingering__due(struct lingering *lingering);

#endif /* LINGERING_H */

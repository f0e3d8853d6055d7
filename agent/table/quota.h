/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quotas: the most entries, and the most memory of slabs, for each user but root, entries on lease
 * included.
 */
#ifndef QUOTA_H
#define QUOTA_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <libdart/error.h>

/* The entries and arenas of a user; freed when there are none. */
struct quota_user {
	SLIST_ENTRY(quota_user) link;
	uid_t uid;
	uint32_t entries;
	uint32_t lingering;	/* entries of these, see lingering.h */
	uint64_t bytes;		/* of arenas */
};

struct quotas {
	SLIST_HEAD(, quota_user) users;
	uint32_t entries_most;
	uint64_t bytes_most;
	uint64_t total;		/* entries of all users */
	uint64_t total_most;	/* 0: no limit */
	const char *remedy;	/* "unregister some" */
};

void quotas__open(struct quotas *quotas);
/* From now on; 0 for the defaults. */
void quotas__limit(struct quotas *quotas, uint32_t entries, uint32_t mib);
void quotas__close(struct quotas *quotas);

/* -EDQUOT: @entries more entries, or @bytes more of arenas, exceed the quota of @uid. */
int quotas__check(const struct quotas *quotas, uid_t uid, uint32_t entries, uint64_t bytes,
		  struct dart_error *error);
/*
 * Charges entries or bytes to @uid, who has passed the check; quotas__release() takes
 * that back.  NULL: root, or out of memory.
 */
struct quota_user *quotas__charge(struct quotas *quotas, uid_t uid,
				  uint32_t entries, uint64_t bytes);
void quotas__release(struct quotas *quotas, struct quota_user *user,
		     uint32_t entries, uint64_t bytes);

#endif /* QUOTA_H */

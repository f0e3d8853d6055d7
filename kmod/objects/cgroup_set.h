/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_CGROUP_SET_H
#define DART_ZERO_CGROUP_SET_H

#include <linux/cgroup-defs.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

/* All members of struct cgroup_base_stat are times of 8 bytes. */
#define DART_CGROUP_TIMES (sizeof(struct cgroup_base_stat) / sizeof(u64))

/* A cgroup whose times are summed, for one or more records. */
struct dart_cgroup_member {
	struct rb_node node;		/* in dart_cgroup_set.members */
	struct list_head link;		/* in dart_cgroup_set.leaving */
	struct cgroup *cgroup;		/* with a reference */
	u32 users;			/* guarded by the lock of the gathering */

	/* Result of the last sum: */
	struct dart_cgroup_member *above; /* the nearest member above, or NULL */
	u64 seen;			/* number of the last walk that came here */
	u64 arrived[DART_CGROUP_TIMES];
	u64 below[DART_CGROUP_TIMES];	/* still at CPUs and cgroups below */
	u64 previous[DART_CGROUP_TIMES];

	u64 times[DART_CGROUP_TIMES];	/* of the cgroup and all below it */
};

/*
 * The cgroups of all records that are gathered together, and their times.  The caller holds the
 * lock of the gathering during all calls except dart_cgroup_set_sum(), which runs without a lock
 * between dart_cgroup_set_begin() and dart_cgroup_set_end(), however many cgroups there are.
 * Records that join or leave meanwhile wait in the lists.
 */
struct dart_cgroup_set {
	struct list_head joining;	/* dart_cgroup_user.link */
	struct list_head leaving;
	bool is_summing;

	/* Owned by the sum that is running. */
	struct rb_root members;		/* by serial number: parents before children */
	bool has_changed;
	struct cgroup *top;		/* lowest cgroup above all, or a member */
	u64 walks;
};

/* Membership of a record in a set. */
struct dart_cgroup_user {
	struct list_head link;
	struct dart_cgroup_set *set;
	struct dart_cgroup_member *member;
};

void dart_cgroup_set_init(struct dart_cgroup_set *set);

/* Allocates memory for @cgroup, which the caller holds.  -ENOMEM. */
int dart_cgroup_user_init(struct dart_cgroup_user *user, struct cgroup *cgroup);
/* For a user that is in no set: it has not joined, it has left, or its initialization failed. */
void dart_cgroup_user_free(struct dart_cgroup_user *user);
/* The next sum includes the cgroup. */
void dart_cgroup_user_join(struct dart_cgroup_user *user, struct dart_cgroup_set *set);
void dart_cgroup_user_leave(struct dart_cgroup_user *user);
/* The DART_CGROUP_TIMES times of the last sum; NULL if that sum did not include the cgroup. */
const u64 *dart_cgroup_user_times(const struct dart_cgroup_user *user);

/*
 * Returns false if there is nothing to sum; then the caller calls neither of the next two
 * functions.
 */
bool dart_cgroup_set_begin(struct dart_cgroup_set *set);
/*
 * Sums the times of all members.  Returns the number of visits to a cgroup: one for each CPU
 * at which it has times that the kernel has not moved yet.  May sleep.
 */
u64 dart_cgroup_set_sum(struct dart_cgroup_set *set);
void dart_cgroup_set_end(struct dart_cgroup_set *set);

/* Sums the times of one cgroup that is in no set.  May sleep. */
void dart_cgroup_sum(struct cgroup *cgroup, u64 *times);

#endif /* DART_ZERO_CGROUP_SET_H */

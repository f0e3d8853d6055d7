// SPDX-License-Identifier: GPL-2.0-only
/* Sums the CPU times of many cgroups, each with its descendants, in one walk. */
#include "cgroup_set.h"

#include <linux/build_bug.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cgroup_time.h"
#include "kmod/base/compat.h"

static_assert(sizeof(struct cgroup_base_stat) % sizeof(u64) == 0);
static_assert(DART_CGROUP_TIMES <= DART_CGROUP_TIMES_MAX);

/* Maximum number of sums in one pass, if the kernel moves times during each. */
#define ATTEMPTS 3
/* Visits between two readings of the clock, and the longest time without other tasks. */
#define VISITS_BETWEEN 16
#define SECTION_NS (100 * NSEC_PER_USEC)

/* A sum of all members of a set. */
struct summing {
	struct dart_cgroup_set *set;
	u64 visits;
	bool is_disturbed;		/* the kernel moved times meanwhile */
	u64 section;			/* CLOCK_MONOTONIC, ns: when other tasks could run last */
};

void dart_cgroup_set_init(struct dart_cgroup_set *set)
{
	*set = (struct dart_cgroup_set){ .members = RB_ROOT };
	INIT_LIST_HEAD(&set->joining);
	INIT_LIST_HEAD(&set->leaving);
}

/* Serial numbers are never reused, and a parent has a lower number than its children. */
static u64 serial_of(const struct dart_cgroup_member *member)
{
	return member->cgroup->self.serial_nr;
}

static struct dart_cgroup_member *member_of(struct rb_node *node)
{
	return rb_entry_safe(node, struct dart_cgroup_member, node);
}

static struct dart_cgroup_member *member_first(const struct dart_cgroup_set *set)
{
	return member_of(rb_first(&set->members));
}

static struct dart_cgroup_member *member_next(struct dart_cgroup_member *member)
{
	return member_of(rb_next(&member->node));
}

static struct dart_cgroup_member *member_find(const struct dart_cgroup_set *set,
					      const struct cgroup *cgroup)
{
	struct rb_node *node = set->members.rb_node;
	const u64 serial = cgroup->self.serial_nr;
	struct dart_cgroup_member *member;

	while (node) {
		member = member_of(node);
		if (member->cgroup == cgroup)
			return member;
		node = serial < serial_of(member) ? node->rb_left : node->rb_right;
	}
	return NULL;
}

static void member_insert(struct dart_cgroup_set *set, struct dart_cgroup_member *added)
{
	struct rb_node **place = &set->members.rb_node, *parent = NULL;

	while (*place) {
		parent = *place;
		place = serial_of(added) < serial_of(member_of(parent)) ?
				&parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&added->node, parent, place);
	rb_insert_color(&added->node, &set->members);
	set->has_changed = true;
}

static void member_free(struct dart_cgroup_member *member)
{
	cgroup_put(member->cgroup);
	kfree(member);
}

/* Frees the members without users. */
static void free_leaving(struct dart_cgroup_set *set)
{
	struct dart_cgroup_member *member, *next;

	list_for_each_entry_safe(member, next, &set->leaving, link) {
		rb_erase(&member->node, &set->members);
		set->has_changed = true;
		member_free(member);
	}
	INIT_LIST_HEAD(&set->leaving);
}

int dart_cgroup_user_init(struct dart_cgroup_user *user, struct cgroup *cgroup)
{
	struct dart_cgroup_member *member;

	member = kzalloc(sizeof(*member), GFP_KERNEL_ACCOUNT);
	if (!member)
		return -ENOMEM;
	cgroup_get(cgroup);
	member->cgroup = cgroup;
	member->users = 1;
	INIT_LIST_HEAD(&user->link);
	user->set = NULL;
	user->member = member;
	return 0;
}

void dart_cgroup_user_free(struct dart_cgroup_user *user)
{
	if (user->member)
		member_free(user->member);
}

void dart_cgroup_user_join(struct dart_cgroup_user *user, struct dart_cgroup_set *set)
{
	user->set = set;
	list_add_tail(&user->link, &set->joining);
}

void dart_cgroup_user_leave(struct dart_cgroup_user *user)
{
	struct dart_cgroup_member *member = user->member;
	struct dart_cgroup_set *set = user->set;

	if (!list_empty(&user->link)) {
		list_del_init(&user->link);
		return;
	}
	user->member = NULL;
	if (--member->users)
		return;
	list_add(&member->link, &set->leaving);
	if (!set->is_summing)
		free_leaving(set);
}

const u64 *dart_cgroup_user_times(const struct dart_cgroup_user *user)
{
	return list_empty(&user->link) ? user->member->times : NULL;
}

bool dart_cgroup_set_begin(struct dart_cgroup_set *set)
{
	struct dart_cgroup_user *user, *next;
	struct dart_cgroup_member *member;

	list_for_each_entry_safe(user, next, &set->joining, link) {
		list_del_init(&user->link);
		member = member_find(set, user->member->cgroup);
		if (!member) {
			member_insert(set, user->member);
			continue;
		}
		member->users++;
		member_free(user->member);
		user->member = member;
	}
	set->is_summing = !RB_EMPTY_ROOT(&set->members);
	return set->is_summing;
}

void dart_cgroup_set_end(struct dart_cgroup_set *set)
{
	set->is_summing = false;
	free_leaving(set);
}

/* Finds the nearest member above each member, and the common ancestor of all. */
static void set_arrange(struct dart_cgroup_set *set)
{
	struct dart_cgroup_member *member;
	struct cgroup *cgroup, *top;

	top = member_first(set)->cgroup;
	for (member = member_first(set); member; member = member_next(member))
		while (!cgroup_is_descendant(member->cgroup, top))
			top = cgroup_parent(top);
	set->top = top;
	for (member = member_first(set); member; member = member_next(member)) {
		member->above = NULL;
		cgroup = member->cgroup;
		while (!member->above && cgroup != top) {
			cgroup = cgroup_parent(cgroup);
			member->above = member_find(set, cgroup);
			cond_resched();
		}
	}
	set->has_changed = false;
}

/*
 * Lets other tasks run if it is time to.  That ends the RCU section, so @cgroup is held meanwhile;
 * if @cgroup has ended and cannot be held, the section goes on until a later visit.
 */
static void pause_at(struct summing *summing, struct cgroup *cgroup)
{
	if (summing->visits % VISITS_BETWEEN ||
	    (!need_resched() && ktime_get_ns() - summing->section < SECTION_NS) ||
	    !css_tryget(&cgroup->self))
		return;
	rcu_read_unlock();
	cond_resched();
	summing->section = ktime_get_ns();
	rcu_read_lock();
	css_put(&cgroup->self);
}

#ifdef DART_HAS_RSTAT_BASE_CPU

/*
 * Since 6.16 modules cannot read a list of the cgroups with times at a CPU, so this visits all of
 * them.
 */
static void add_cgroup(struct cgroup *cgroup, struct dart_cgroup_member *owner)
{
	const struct cgroup_rstat_base_cpu *times;
	u64 arrived[DART_CGROUP_TIMES];
	unsigned int cpu;

	if (owner->cgroup != cgroup) {
		dart_cgroup_read(arrived, &cgroup->bstat, DART_CGROUP_TIMES);
		dart_cgroup_add_remaining(owner->below, arrived, &cgroup->last_bstat,
					  DART_CGROUP_TIMES);
	}
	for_each_possible_cpu(cpu) {
		times = per_cpu_ptr(dart_cgroup_rstat(cgroup), cpu);
		dart_cgroup_add_cpu(owner->below, &times->bstat,
				    &times->last_bstat, DART_CGROUP_TIMES);
	}
}

static void add_subtree(struct summing *summing, struct dart_cgroup_member *top)
{
	struct dart_cgroup_member *owner = top, *member;
	struct cgroup_subsys_state *state;
	struct cgroup *cgroup;

	rcu_read_lock();
	css_for_each_descendant_pre(state, &top->cgroup->self) {
		cgroup = container_of(state, struct cgroup, self);
		member = member_find(summing->set, cgroup);
		while (!member && !cgroup_is_descendant(cgroup, owner->cgroup))
			owner = owner->above;
		if (member)
			owner = member;
		summing->visits++;
		add_cgroup(cgroup, owner);
		pause_at(summing, cgroup);
	}
	rcu_read_unlock();
}

static void add_all(struct summing *summing)
{
	struct dart_cgroup_member *member = member_first(summing->set);

	for (; member; member = member_next(member))
		if (!member->above)
			add_subtree(summing, member);
}

#else

/* Levels below the top on which a walk notices that a list has changed. */
#define LEVELS 64

/*
 * A walk of the cgroups, from the top down, that have times at one CPU.  The kernel links them
 * in a tree, which a flush takes apart, under a lock that modules cannot take.  So a cgroup
 * can leave its list while the walk is there, and join it again, always at the head: its link
 * then leads to cgroups that the walk has visited.  But it is another link than before, and
 * the walk then leaves this list.  A cgroup that the walk meets stays allocated until the end
 * of the RCU section: the kernel takes a cgroup out of all lists before it waits for such
 * sections and frees the cgroup.
 */
struct walk {
	struct summing *summing;
	unsigned int cpu;
	u64 number;
	u64 visits_left;
	struct dart_cgroup_member *owner;	/* nearest member at or above the place */
	const struct cgroup *links[LEVELS];	/* of the place, and of the places above it */
};

static struct cgroup_rstat_cpu *at_cpu(const struct cgroup *cgroup, unsigned int cpu)
{
	return per_cpu_ptr(dart_cgroup_rstat(cgroup), cpu);
}

/* Has a walk of an earlier CPU met @cgroup, and added the times that wait in it? */
static bool was_visited(const struct cgroup *cgroup, unsigned int cpu)
{
	unsigned int before;

	for_each_possible_cpu(before) {
		if (before == cpu)
			break;
		if (READ_ONCE(at_cpu(cgroup, before)->updated_next))
			return true;
	}
	return false;
}

/* Adds the times that wait in @cgroup, not a member, for a move to its parent. */
static void add_moving(struct walk *walk, struct cgroup *cgroup, const u64 *arrived)
{
	u64 remaining[DART_CGROUP_TIMES] = { };
	u32 i;

	dart_cgroup_add_remaining(remaining, arrived, &cgroup->last_bstat, DART_CGROUP_TIMES);
	if (!memchr_inv(remaining, 0, sizeof(remaining)) || was_visited(cgroup, walk->cpu))
		return;
	for (i = 0; i < DART_CGROUP_TIMES; i++)
		walk->owner->below[i] += remaining[i];
}

static bool walk_enter(struct walk *walk, struct cgroup *cgroup)
{
	struct cgroup_rstat_cpu *times = at_cpu(cgroup, walk->cpu);
	const u32 level = cgroup->level - walk->summing->set->top->level;
	const struct cgroup *link = READ_ONCE(times->updated_next);
	struct dart_cgroup_member *member;
	u64 arrived[DART_CGROUP_TIMES];

	if (level < LEVELS)
		walk->links[level] = link;
	member = member_find(walk->summing->set, cgroup);
	if (member)
		walk->owner = member;
	walk->summing->visits++;
	walk->visits_left--;
	if (!link || !walk->visits_left || (member && member->seen == walk->number)) {
		if (level < LEVELS)
			walk->links[level] = NULL;
		walk->summing->is_disturbed = true;
		return false;
	}
	if (member)
		member->seen = walk->number;
	if (!walk->owner)
		return true;
	if (!member)
		dart_cgroup_read(arrived, &cgroup->bstat, DART_CGROUP_TIMES);
	smp_rmb();	/* read the times of the cgroup before the times that left its CPUs */
	dart_cgroup_add_cpu(walk->owner->below, &times->bstat,
			    &times->last_bstat, DART_CGROUP_TIMES);
	/* Times of members are read with the sum: see add_to_above(). */
	if (!member)
		add_moving(walk, cgroup, arrived);
	return true;
}

/* The next cgroup in the list of @cgroup; NULL: this was the last, or the list is lost. */
static struct cgroup *walk_leave(struct walk *walk, struct cgroup *cgroup)
{
	const u32 level = cgroup->level - walk->summing->set->top->level;
	struct cgroup *next = READ_ONCE(at_cpu(cgroup, walk->cpu)->updated_next);

	if (walk->owner && walk->owner->cgroup == cgroup)
		walk->owner = walk->owner->above;
	if (!next || (level < LEVELS && next != walk->links[level])) {
		walk->summing->is_disturbed = true;
		return NULL;
	}
	return next == cgroup_parent(cgroup) ? NULL : next;
}

static void walk_cpu(struct walk *walk)
{
	struct cgroup *top = walk->summing->set->top;
	struct cgroup *place = top, *below, *next;
	struct cgroup_rstat_cpu *times;

	rcu_read_lock();
	if (!READ_ONCE(at_cpu(top, walk->cpu)->updated_next))
		goto out;
	do {
		below = place;
		if (walk_enter(walk, place)) {
			pause_at(walk->summing, place);
			times = at_cpu(place, walk->cpu);
			below = READ_ONCE(times->updated_children);
		}
		if (below != place) {
			place = below;
			continue;
		}
		while (place != top) {
			next = walk_leave(walk, place);
			place = next ?: cgroup_parent(place);
			if (next)
				break;
		}
	} while (place != top && walk->visits_left);
out:
	rcu_read_unlock();
}

static void add_all(struct summing *summing)
{
	struct dart_cgroup_set *set = summing->set;
	struct walk walk = { .summing = summing };

	/* A CPU that is offline keeps its times until the kernel moves them. */
	for_each_possible_cpu(walk.cpu) {
		walk.number = ++set->walks;
		walk.owner = NULL;
		walk.visits_left = (u64)READ_ONCE(set->top->nr_descendants) +
				   READ_ONCE(set->top->nr_dying_descendants) + LEVELS;
		walk_cpu(&walk);
	}
}

#endif

static void set_read_arrived(struct dart_cgroup_set *set)
{
	struct dart_cgroup_member *member;

	for (member = member_first(set); member; member = member_next(member)) {
		dart_cgroup_read(member->arrived, &member->cgroup->bstat, DART_CGROUP_TIMES);
		memset(member->below, 0, sizeof(member->below));
	}
	smp_rmb();	/* read the times of a cgroup before the times that left its children */
}

static void add_to_above(struct dart_cgroup_member *member)
{
	u32 i;

	dart_cgroup_add_remaining(member->above->below, member->arrived,
				  &member->cgroup->last_bstat, DART_CGROUP_TIMES);
	for (i = 0; i < DART_CGROUP_TIMES; i++)
		member->above->below[i] += member->below[i];
}

/*
 * Reads all times once, parents before children, and adds them up, children before parents.
 * Sets @summing->is_disturbed if the kernel has moved times meanwhile, as far as that shows.
 */
static void sum_once(struct summing *summing)
{
	struct dart_cgroup_set *set = summing->set;
	struct dart_cgroup_member *member;
	u64 arrived[DART_CGROUP_TIMES];
	struct rb_node *node;
	u32 i;

	summing->is_disturbed = false;
	set_read_arrived(set);
	add_all(summing);
	for (node = rb_last(&set->members); node; node = rb_prev(node)) {
		member = member_of(node);
		if (member->above)
			add_to_above(member);
		dart_cgroup_read(arrived, &member->cgroup->bstat, DART_CGROUP_TIMES);
		if (memcmp(arrived, member->arrived, sizeof(arrived)))
			summing->is_disturbed = true;
		for (i = 0; i < DART_CGROUP_TIMES; i++)
			member->times[i] = member->arrived[i] + member->below[i];
	}
}

/*
 * A sum during which the kernel has moved times can miss some, so it is repeated.  If the kernel
 * disturbs all attempts, each time is the lower value of the last two sums: a time that was counted
 * twice in only one sum is not shown, and times that both sums missed come with a later pass.
 */
static u64 set_sum(struct dart_cgroup_set *set)
{
	struct summing summing = { .set = set, .section = ktime_get_ns() };
	struct dart_cgroup_member *member;
	u32 attempt, i;

	for (attempt = 1;; attempt++) {
		sum_once(&summing);
		if (!summing.is_disturbed)
			return summing.visits;
		for (member = member_first(set); member; member = member_next(member))
			for (i = 0; i < DART_CGROUP_TIMES; i++) {
				if (attempt == ATTEMPTS)
					member->times[i] = min(member->times[i],
							       member->previous[i]);
				member->previous[i] = member->times[i];
			}
		if (attempt == ATTEMPTS)
			return summing.visits;
		cond_resched();
	}
}

u64 dart_cgroup_set_sum(struct dart_cgroup_set *set)
{
	if (set->has_changed)
		set_arrange(set);
	return set_sum(set);
}

void dart_cgroup_sum(struct cgroup *cgroup, u64 *times)
{
	struct dart_cgroup_member member = { .cgroup = cgroup };
	struct dart_cgroup_set set;

	dart_cgroup_set_init(&set);
	member_insert(&set, &member);
	dart_cgroup_set_sum(&set);
	memcpy(times, member.times, sizeof(member.times));
}

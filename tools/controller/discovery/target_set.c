// SPDX-License-Identifier: GPL-2.0-only
/* Compares running targets with wanted ones, and starts and ends targets. */
#include "target_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct member {
	char *name;
	struct target_item *wanted; /* NULL: not wanted any more */
	struct target_item *running; /* the item that the target was started with */
	struct target *target; /* NULL: does not run */
	size_t index; /* of the target */
	uint64_t standby_ns; /* of the target, now */
	bool is_ending;
	bool is_due; /* in target_set.due */
	TAILQ_ENTRY(member) place;
};

struct target_set {
	const struct target_set_operations *operations;
	void *data;
	/* Sorted by name.  target_set__want() frees members that neither run nor are wanted. */
	struct member **members;
	size_t count;
	size_t running;
	size_t ending; /* running targets that are being ended */
	TAILQ_HEAD(, member) due; /* members to compare: they may not run as wanted */
	struct member *slots[SETTINGS_TARGETS_MAX]; /* by index; NULL: free */
	size_t slot_end; /* see target_set__end_index() */
	size_t slot_free; /* all slots below are used */
};

struct target_set *target_set__new(const struct target_set_operations *operations, void *data)
{
	struct target_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->operations = operations;
	set->data = data;
	TAILQ_INIT(&set->due);
	return set;
}

static struct member *member__new(const char *name)
{
	struct member *member = calloc(1, sizeof(*member));

	if (member)
		member->name = strdup(name);
	if (member && member->name)
		return member;
	free(member);
	return NULL;
}

static void member__free(struct member *member)
{
	target_item__release(member->wanted);
	target_item__release(member->running);
	free(member->name);
	free(member);
}

void target_set__free(struct target_set *set)
{
	size_t i;

	if (!set)
		return;
	for (i = 0; i < set->count; i++)
		member__free(set->members[i]);
	free(set->members);
	free(set);
}

/* True if the target runs with the wanted settings, or neither runs nor is wanted. */
static bool member__is_settled(const struct member *member)
{
	if (!member->target || !member->wanted)
		return !member->target && !member->wanted;
	return !member->is_ending && target_item__equal(member->wanted, member->running) &&
	       member->wanted->settings.standby_ns == member->standby_ns;
}

static void target_set__make_due(struct target_set *set, struct member *member)
{
	if (member->is_due || member__is_settled(member))
		return;
	member->is_due = true;
	TAILQ_INSERT_TAIL(&set->due, member, place);
}

/* From now on @member is wanted with the settings of @item; NULL: not wanted. */
static void target_set__take(struct target_set *set, struct member *member,
			     struct target_item *item)
{
	target_item__release(member->wanted);
	member->wanted = target_item__hold(item);
	target_set__make_due(set, member);
}

static bool member__has_gone(const struct member *member)
{
	return !member->wanted && !member->target && !member->is_due;
}

/* Merges members and @list in one pass, since both are sorted by name. */
int target_set__want(struct target_set *set, const struct target_list *list)
{
	struct member **members, *member;
	size_t old = 0, next = 0, count = 0;
	struct target_item *item;
	int order, err = 0;

	members = calloc(set->count + list->count + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	while (old < set->count || next < list->count) {
		member = old < set->count ? set->members[old] : NULL;
		item = next < list->count ? list->items[next] : NULL;
		order = member && item ? strcmp(member->name, item->settings.name) :
					 (item ? 1 : -1);
		old += order <= 0;
		next += order >= 0;
		if (order > 0)
			member = member__new(item->settings.name);
		if (!member) {
			err = -ENOMEM;
		} else if (order < 0 && member__has_gone(member)) {
			member__free(member);
		} else {
			members[count++] = member;
			target_set__take(set, member, order < 0 ? NULL : item);
		}
	}
	free(set->members);
	set->members = members;
	set->count = count;
	return err;
}

static int target_set__start(struct target_set *set, struct member *member)
{
	size_t index = set->slot_free;
	int err;

	while (index < SETTINGS_TARGETS_MAX && set->slots[index])
		index++;
	/* If all slots are used, target_set__ended() of another target makes this one due again. */
	set->slot_free = index;
	if (index == SETTINGS_TARGETS_MAX)
		return 0;
	member->wanted->settings.index = index;
	err = set->operations->start(set->data, &member->wanted->settings, &member->target);
	if (err)
		return err;
	member->running = target_item__hold(member->wanted);
	member->standby_ns = member->wanted->settings.standby_ns;
	member->index = index;
	set->slots[index] = member;
	set->running++;
	if (index >= set->slot_end)
		set->slot_end = index + 1;
	return 0;
}

static int target_set__settle(struct target_set *set, struct member *member)
{
	if (!member->target)
		return member->wanted ? target_set__start(set, member) : 0;
	if (member->is_ending || member__is_settled(member))
		return 0;
	if (member->wanted && target_item__equal(member->wanted, member->running)) {
		member->standby_ns = member->wanted->settings.standby_ns;
		set->operations->change(set->data, member->target, member->standby_ns);
		return 0;
	}
	member->is_ending = true;
	set->ending++;
	set->operations->end(set->data, member->target);
	return 0;
}

int target_set__work(struct target_set *set, unsigned int limit)
{
	struct member *member;
	int err = 0;

	while (!err && limit-- && (member = TAILQ_FIRST(&set->due))) {
		TAILQ_REMOVE(&set->due, member, place);
		member->is_due = false;
		err = target_set__settle(set, member);
	}
	return err ?: !TAILQ_EMPTY(&set->due);
}

void target_set__ended(struct target_set *set, size_t index)
{
	struct member *member = set->slots[index];
	size_t i;

	member->target = NULL;
	set->ending -= member->is_ending;
	member->is_ending = false;
	target_item__release(member->running);
	member->running = NULL;
	set->running--;
	set->slots[index] = NULL;
	if (set->slot_free == SETTINGS_TARGETS_MAX) {
		/* All slots were used, so other members may wait for one. */
		for (i = 0; i < set->count; i++)
			target_set__make_due(set, set->members[i]);
	}
	if (index < set->slot_free)
		set->slot_free = index;
	target_set__make_due(set, member);
}

size_t target_set__running(const struct target_set *set)
{
	return set->running;
}

bool target_set__is_settled(const struct target_set *set)
{
	return TAILQ_EMPTY(&set->due) && !set->ending;
}

size_t target_set__end_index(const struct target_set *set)
{
	return set->slot_end;
}

struct target *target_set__target(const struct target_set *set, size_t index)
{
	return set->slots[index] ? set->slots[index]->target : NULL;
}

const char *target_set__source(const struct target_set *set, size_t index)
{
	const struct member *member = set->slots[index];
	const struct target_item *item = member->wanted ?: member->running;

	return item->settings.source ? item->settings.source->text : NULL;
}

bool target_set__is_ending(const struct target_set *set, size_t index)
{
	return set->slots[index] && set->slots[index]->is_ending;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Entries of cgroups, their quotas, and the places of missing cgroups in tallies. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup_followers.h"

/* ---- places in the tallies of the followers */

/* NULL: out of memory. */
static struct cgroup_place *place_of(struct cgroup_places *places, struct cgroup_follower *member)
{
	struct cgroup_place *place;

	SLIST_FOREACH(place, places, link)
		if (place->member == member)
			return place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->member = member;
	SLIST_INSERT_HEAD(places, place, link);
	return place;
}

void cgroup_places__free(struct cgroup_places *places)
{
	struct cgroup_place *place;

	while ((place = SLIST_FIRST(places))) {
		SLIST_REMOVE_HEAD(places, link);
		follower__forget(&place->member->follower, &place->place);
		free(place);
	}
}

void cgroup_places__forget(struct cgroup_places *places, const struct cgroup_follower *member)
{
	struct cgroup_place *place;

	SLIST_FOREACH(place, places, link)
		if (place->member == member)
			break;
	if (!place)
		return;
	SLIST_REMOVE(places, place, cgroup_place, link);
	follower__forget(&place->member->follower, &place->place);
	free(place);
}

void cgroup_followers__miss(struct cgroup_followers *all, struct cgroup_places *places,
			    uint64_t count, enum coverage_reason reason, const char *name,
			    const struct dart_error *why)
{
	struct cgroup_follower *member;
	struct cgroup_place *place;

	TAILQ_FOREACH(member, &all->list, link) {
		place = place_of(places, member);
		if (place) {
			follower__forget(&member->follower, &place->place);
			place->place.more = count - 1;
		}
		follower__fail(&member->follower, place ? &place->place : NULL, reason, name, why);
	}
}

static void left_out__free(struct cgroups_left_out *left_out)
{
	cgroup_places__free(&left_out->places);
	free(left_out);
}

void cgroup__include_all(struct cgroup *cgroup)
{
	struct cgroups_left_out *left_out;

	while ((left_out = SLIST_FIRST(&cgroup->left_out))) {
		SLIST_REMOVE_HEAD(&cgroup->left_out, link);
		left_out__free(left_out);
	}
}

void cgroup_followers__leave_out(struct cgroup_followers *all, struct cgroup *cgroup, uint64_t more,
				 enum coverage_reason reason, const char *path,
				 const struct dart_error *why)
{
	struct cgroups_left_out *left_out;

	SLIST_FOREACH(left_out, &cgroup->left_out, link)
		if (left_out->reason == reason)
			break;
	if (!left_out) {
		left_out = calloc(1, sizeof(*left_out) + strlen(path) + 1);
		/* Out of memory: it counts at the next attempt. */
		if (!left_out)
			return;
		left_out->reason = reason;
		left_out->why = *why;
		strcpy(left_out->example, path);
		SLIST_INIT(&left_out->places);
		SLIST_INSERT_HEAD(&cgroup->left_out, left_out, link);
	}
	left_out->count += more;
	cgroup_followers__miss(all, &left_out->places, left_out->count, reason, left_out->example,
			       why);
}

bool cgroup_followers__include_one(struct cgroup_followers *all, struct cgroup *cgroup)
{
	struct cgroups_left_out *left_out = SLIST_FIRST(&cgroup->left_out);

	if (!left_out)
		return false;
	/* Perhaps it was the last one: the kernel knows. */
	if (left_out->count == 1)
		return true;
	left_out->count--;
	cgroup_followers__miss(all, &left_out->places, left_out->count, left_out->reason,
			       left_out->example, &left_out->why);
	return false;
}

/* ---- entries of a cgroup */

static struct entry *find_entry(const struct cgroup_follower *member, const struct cgroup *cgroup)
{
	const struct follower *follower = &member->follower;
	const struct selector_key key = {
		.source = follower->source->id,
		.gather_ms = follower->gather_ms,
		.object = cgroup->inode,
	};
	struct entry *entry =
		inventory__find_source(&follower->followers->registry->inventory, &key);

	return entry && entry->group == &follower->group ? entry : NULL;
}

static void register_one(struct cgroup_followers *all, struct cgroup_follower *member,
			 struct cgroup *cgroup, int fd)
{
	struct follower *follower = &member->follower;
	struct cgroup_place *place = place_of(&cgroup->places, member);
	struct selector selector;
	char whole[PATH_MAX];
	struct dart_error error;
	int ret;

	if (!place) {
		dart_error__no_memory(&error);
		follower__fail(follower, NULL, COVERAGE_MEMORY, cgroup->path, &error);
		return;
	}
	if (find_entry(member, cgroup)) {
		if (coverage_place__is_missing(&place->place))
			coverage_tally__stage(&follower->tally, &place->place, cgroup->path);
		return;
	}
	if (cgroup__join_path(whole, all->path, cgroup->path))
		ret = dart_error__set(&error, ENAMETOOLONG, "path is too long");
	else
		ret = selector__cgroup(&selector, follower->source, fd, whole, &error);
	if (!ret && all->is_full)
		ret = dart_error__set(
			&error, ENOSPC,
			"the table has no room for more cgroups (unregister something)");
	if (ret) {
		follower__fail(follower, &place->place, coverage__reason_of(-ret), cgroup->path,
			       &error);
		return;
	}
	selector.delegated_to = cgroup->user;
	follower__register(follower, &selector, &place->place, cgroup->path);
	selector__close(&selector);
}

void cgroup_followers__register(struct cgroup_followers *all, struct cgroup *cgroup, int fd)
{
	struct cgroup_follower *member;

	TAILQ_FOREACH(member, &all->list, link)
		register_one(all, member, cgroup, fd);
}

void cgroup_followers__end_entries(struct cgroup_followers *all, const struct cgroup *cgroup)
{
	const struct cgroup_follower *member;
	struct entry *entry;

	TAILQ_FOREACH(member, &all->list, link) {
		entry = find_entry(member, cgroup);
		if (entry)
			registry__entry_ended(all->followers->registry, entry);
	}
}

void cgroup_followers__discharge(struct cgroup_followers *all, struct cgroup *cgroup, uint32_t left)
{
	quotas__release(&all->followers->registry->inventory.delegated, cgroup->charged,
			cgroup->charge - left, 0);
	cgroup->charge = left;
}

void cgroup_followers__charge(struct cgroup_followers *all, struct cgroup *cgroup)
{
	struct inventory *inventory = &all->followers->registry->inventory;
	const struct cgroup_follower *member;
	struct entry *entry;

	quotas__release(&inventory->delegated, cgroup->charged, cgroup->charge, 0);
	cgroup->charged = quotas__charge(&inventory->delegated, cgroup->user, cgroup->charge, 0);
	TAILQ_FOREACH(member, &all->list, link) {
		entry = find_entry(member, cgroup);
		if (entry)
			inventory__delegate(inventory, entry, cgroup->user);
	}
}

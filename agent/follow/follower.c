// SPDX-License-Identifier: GPL-2.0-only
/* The list of followers, and the code that all kinds of followers share. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/changes.h"
#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "follower.h"

/* Until the first attempt, and the most between two. */
#define RETRY_FIRST_S 2
#define RETRY_MOST_S 60

static void followers__arm(struct followers *followers, unsigned int seconds)
{
	followers->retry_s = seconds;
	loop_timer__start(followers->retry, seconds * UINT64_C(1000000));
}

static bool followers__is_armed(const struct followers *followers)
{
	int enabled;

	return sd_event_source_get_enabled(followers->retry, &enabled) > 0;
}

void followers__retry_later(struct followers *followers)
{
	if (!followers__is_armed(followers))
		followers__arm(followers, RETRY_FIRST_S);
}

void follower__look_again(struct follower *follower)
{
	follower->looks_again = true;
	followers__retry_later(follower->followers);
}

void followers__record_gone(struct followers *followers)
{
	struct follower *follower;

	TAILQ_FOREACH(follower, &followers->list, link) {
		if (follower->source->selector == SOURCE_SELECTOR_FILESYSTEM)
			follower__look_again(follower);
	}
}

static void follower__retry(struct follower *follower)
{
	follower->looks_again = false;
	coverage_tally__forget_unplaced(&follower->tally);
	follower->operations->retry(follower);
	if (follower->is_incomplete && !coverage_tally__missing(&follower->tally)) {
		follower->is_incomplete = false;
		log__peer_info("%s: none is left out any more", follower->group.name);
	}
}

static int on_retry(sd_event_source *source, uint64_t time, void *userdata)
{
	struct followers *followers = userdata;
	unsigned int next = followers->retry_s * 2;
	struct followers_retry *other;
	struct follower *follower;
	bool is_complete = true;

	TAILQ_FOREACH(follower, &followers->list, link) {
		if (follower->looks_again || coverage_tally__passing(&follower->tally))
			follower__retry(follower);
		is_complete &= !follower->looks_again && !coverage_tally__passing(&follower->tally);
	}
	TAILQ_FOREACH(other, &followers->retries, link) {
		if (other->is_needed(other))
			other->retry(other);
		is_complete &= !other->is_needed(other);
	}
	if (is_complete)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	else
		followers__arm(followers, next < RETRY_MOST_S ? next : RETRY_MOST_S);
	return 0;
}

int followers__open(struct followers *followers, struct registry *registry,
		    const struct region *region, struct file_watches *file_watches,
		    const struct changes *changes, sd_event *loop, struct dart_error *error)
{
	int ret;

	*followers = (struct followers){
		.registry = registry,
		.region = region,
		.file_watches = file_watches,
		.changes = changes,
		.loop = loop,
	};
	TAILQ_INIT(&followers->list);
	TAILQ_INIT(&followers->retries);
	LIST_INIT(&followers->cgroup_trees);
	ret = loop_timer__add(loop, &followers->retry, CLOCK_MONOTONIC, on_retry, followers);
	if (ret < 0) {
		sd_event_source_disable_unref(followers->retry);
		return dart_error__system(error, -ret, "cannot create a timer");
	}
	return 0;
}

void followers__drop(struct followers *followers, struct follower *follower)
{
	TAILQ_REMOVE(&followers->list, follower, link);
	coverage_watch__recount(followers->coverage);
	inventory__remove_group(&followers->registry->inventory, &follower->group);
	follower->operations->free(follower);
}

void followers__close(struct followers *followers)
{
	struct follower *follower;

	while ((follower = TAILQ_FIRST(&followers->list)))
		followers__drop(followers, follower);
	sd_event_source_disable_unref(followers->retry);
}

static json_t *describe(const struct entry_group *group)
{
	const struct follower *follower = entry_group__follower(group);

	return json_pack("{s:s, s:s, s:s*, s:I, s:I, s:I, s:i, s:I}", "name", group->name, "kind",
			 "follow", "part_of", group->part_of ? group->part_of->name : NULL,
			 "entries", (json_int_t)group->entry_count, "failures",
			 (json_int_t)coverage_tally__missing(&follower->tally), "lacking",
			 (json_int_t)follower->tally.lacking, "owner", 0, "age_s",
			 (json_int_t)clock__age_s(group->registered));
}

static int unregister(struct entry_group *group, struct dart_error *error)
{
	struct follower *follower = entry_group__follower(group);
	const struct follower_operations *operations = follower->operations;
	struct followers *followers = follower->followers;
	int ret;

	registry__begin(followers->registry);
	registry__withdraw_group(followers->registry, group, false);
	ret = registry__end(followers->registry, error);
	if (ret)
		return ret;
	changes__announce(followers->changes, "removed", "follower", group->name);
	followers__drop(followers, follower);
	if (operations->unregistered)
		operations->unregistered(followers);
	return 0;
}

static void follower__retry_later(struct follower *follower)
{
	if (coverage_tally__passing(&follower->tally))
		followers__retry_later(follower->followers);
}

static void settle(struct entry_group *group, int end, const struct dart_error *why)
{
	struct follower *follower = entry_group__follower(group);

	if (TAILQ_EMPTY(&follower->tally.staged))
		return;
	coverage_watch__touch(follower->followers->coverage);
	if (!end) {
		coverage_tally__publish(&follower->tally);
		return;
	}
	coverage_tally__withdraw(&follower->tally, coverage__reason_of(-end), why);
	follower__retry_later(follower);
}

static const struct entry_group_operations group_operations = {
	.describe = describe,
	.unregister = unregister,
	.settle = settle,
};

void follower__ended(struct follower *follower)
{
	struct registry *registry = follower->followers->registry;

	log__info("%s no longer exists", follower->group.name);
	registry__begin(registry);
	registry__withdraw_group(registry, &follower->group, true);
	registry__end_or_log(registry);
	changes__announce(follower->followers->changes, "ended", "follower", follower->group.name);
	followers__drop(follower->followers, follower);
}

void follower__fail(struct follower *follower, struct coverage_place *place,
		    enum coverage_reason reason, const char *name, const struct dart_error *error)
{
	coverage_tally__miss(&follower->tally, place, reason, name, error);
	coverage_watch__touch(follower->followers->coverage);
	follower__retry_later(follower);
	if (follower->is_incomplete)
		return;
	follower->is_incomplete = true;
	log__peer_warning("%s: one is left out, perhaps more will be: %s",
			  follower->group.name, error->text);
}

/* An entry that this batch takes out of the table can come back after its end. */
static void follower__wait(struct follower *follower, struct coverage_place *place,
			   const char *name, const struct dart_error *error)
{
	coverage_tally__miss(&follower->tally, place, COVERAGE_OTHER, name, error);
	coverage_watch__touch(follower->followers->coverage);
	follower__retry_later(follower);
}

void follower__forget(struct follower *follower, struct coverage_place *place)
{
	coverage_tally__forget(&follower->tally, place);
	coverage_watch__touch(follower->followers->coverage);
}

/* Not missing: most kinds of network devices do not count by CPU, and most are not of RDMA. */
static void follower__lack(struct follower *follower, struct coverage_place *place,
			   const char *name, const struct dart_error *why)
{
	coverage_tally__lack(&follower->tally, place);
	coverage_watch__touch(follower->followers->coverage);
	if (follower->tells_lacking)
		return;
	follower->tells_lacking = true;
	log__peer_info("%s: %s has no such values, perhaps more will have none: %s",
		       follower->group.name, name, why->text);
}

void follower__register(struct follower *follower, struct selector *selector,
			struct coverage_place *place, const char *name)
{
	struct entry *entry;
	struct dart_error error;
	int ret;

	selector->is_deferrable = follower->is_deferrable;
	ret = selector__gather(selector, follower->gather_ms, &error) ?:
		      registry__add_source(follower->followers->registry, selector,
					   &follower->group, &entry, &error);
	if (ret == -ENOENT || ret == -ENODEV)
		follower__forget(follower, place);
	else if (ret == -ENODATA)
		follower__lack(follower, place, name, &error);
	else if (ret == -EBUSY)
		follower__wait(follower, place, name, &error);
	else if (ret &&
		 !inventory__find_source(&follower->followers->registry->inventory, &selector->key))
		follower__fail(follower, place, coverage__reason_of(-ret), name, &error);
	else
		coverage_tally__stage(&follower->tally, place, name);
}

void follower__begin(struct follower *follower)
{
	registry__begin(follower->followers->registry);
}

int follower__end_with(struct follower *follower, int ret, struct dart_error *error)
{
	return registry__end_with(follower->followers->registry, ret, error);
}

void follower__end_or_log(struct follower *follower)
{
	struct dart_error error;

	if (follower__end_with(follower, 0, &error))
		log__peer_error("%s: cannot publish changes: %s", follower->group.name, error.text);
}

/* All objects of a kind: one star after the "@"; cgroups: the path and two stars. */
static int follower__set_name(struct follower *follower, const char *path, struct dart_error *error)
{
	char stem[DART_CONTROL_ENTRY_NAME_MAX];
	const char *end = !path ? "*" : strcmp(path, "/") ? "/**" : "**";
	int ret;

	ret = entry_name__of(stem, follower->source->name, path ?: "", error);
	if (ret)
		return ret;
	snprintf(follower->group.name, sizeof(follower->group.name), "%s%s", stem, end);
	return selector__add_interval(follower->group.name, follower->gather_ms, error);
}

int followers__add(struct followers *followers, struct follower *follower,
		   const struct follower_operations *operations, const struct source *source,
		   const struct selector_choice *choice, const char *path, struct dart_error *error)
{
	int ret;

	follower->operations = operations;
	follower->followers = followers;
	follower->source = source;
	follower->gather_ms = choice->gather_ms;
	follower->is_deferrable = choice->is_deferrable;
	coverage_tally__open(&follower->tally);
	follower->group.operations = &group_operations;
	ret = follower__set_name(follower, path, error) ?:
		      inventory__add_group(&followers->registry->inventory, &follower->group,
					  error);
	if (ret)
		return ret;
	follower->is_whole = !path || !strcmp(path, "/");
	TAILQ_INSERT_TAIL(&followers->list, follower, link);
	coverage_watch__recount(followers->coverage);
	return 0;
}

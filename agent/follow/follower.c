// SPDX-License-Identifier: GPL-2.0-only
/* The list of followers and what all kinds of them have in common. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/changes.h"
#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "follower.h"

void followers__open(struct followers *followers, struct registry *registry,
		     const struct region *region,
		     struct file_watches *file_watches,
		     const struct changes *changes, sd_event *loop)
{
	*followers = (struct followers){
		.registry = registry,
		.region = region,
		.file_watches = file_watches,
		.changes = changes,
		.loop = loop,
	};
	TAILQ_INIT(&followers->list);
}

void followers__drop(struct followers *followers, struct follower *follower)
{
	TAILQ_REMOVE(&followers->list, follower, link);
	registry__remove_group(followers->registry, &follower->group);
	follower->operations->free(follower);
}

void followers__close(struct followers *followers)
{
	struct follower *follower;

	while ((follower = TAILQ_FIRST(&followers->list)))
		followers__drop(followers, follower);
}

static json_t *describe(const struct entry_group *group)
{
	const struct follower *follower = entry_group__follower(group);

	return json_pack("{s:s, s:s, s:s*, s:I, s:I, s:i, s:I}", "name",
			 group->name, "kind", "follow", "part_of",
			 group->part_of ? group->part_of->name : NULL, "entries",
			 (json_int_t)registry__group_size(
				 follower->followers->registry, group),
			 "failures", (json_int_t)follower->failures, "owner", 0,
			 "age_s", (json_int_t)clock__age_s(group->registered));
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
	changes__announce(followers->changes, "removed", "follower",
			  group->name);
	followers__drop(followers, follower);
	if (operations->unregistered)
		operations->unregistered(followers);
	return 0;
}

static const struct entry_group_operations group_operations = {
	.describe = describe,
	.unregister = unregister,
};

void follower__ended(struct follower *follower)
{
	struct registry *registry = follower->followers->registry;

	log__info("%s no longer exists", follower->group.name);
	registry__begin(registry);
	registry__withdraw_group(registry, &follower->group, true);
	registry__end_or_log(registry);
	changes__announce(follower->followers->changes, "ended", "follower",
			  follower->group.name);
	followers__drop(follower->followers, follower);
}

void follower__fail(struct follower *follower, const struct dart_error *error)
{
	if (follower->failures++)
		return;
	follower->first_failure = *error;
	log__warning("%s: one is left out, perhaps more will be: %s",
		     follower->group.name, error->text);
}

void follower__register(struct follower *follower, struct selector *selector)
{
	struct entry *entry;
	struct dart_error error;
	int ret;

	selector->is_deferrable = follower->is_deferrable;
	ret = selector__gather(selector, follower->gather_ms, &error) ?:
		      registry__add_source(follower->followers->registry,
					   selector, &follower->group, &entry,
					   &error);
	/* Most kinds of network devices do not count by CPU. */
	if (ret == -EOPNOTSUPP &&
	    follower->source->selector == SOURCE_SELECTOR_NETDEV)
		return;
	if (ret && ret != -EEXIST && ret != -ENOENT && ret != -ENODEV)
		follower__fail(follower, &error);
}

/* For all of a kind one star behind the "@", for cgroups the path and two. */
static int follower__set_name(struct follower *follower, const char *path,
			      struct dart_error *error)
{
	char stem[DART_REGISTRATION_NAME_MAX];
	const char *end = !path ? "*" : strcmp(path, "/") ? "/**" : "**";
	int ret;

	ret = entry_name__of(stem, follower->source->name, path ?: "", error);
	if (ret)
		return ret;
	snprintf(follower->group.name, sizeof(follower->group.name), "%s%s",
		 stem, end);
	return selector__add_interval(follower->group.name,
				      follower->gather_ms, error);
}

int followers__add(struct followers *followers, struct follower *follower,
		   const struct follower_operations *operations,
		   const struct source *source,
		   const struct selector_choice *choice, const char *path,
		   struct dart_error *error)
{
	int ret;

	follower->operations = operations;
	follower->followers = followers;
	follower->source = source;
	follower->gather_ms = choice->gather_ms;
	follower->is_deferrable = choice->is_deferrable;
	follower->group.operations = &group_operations;
	ret = follower__set_name(follower, path, error) ?:
		      registry__add_group(followers->registry, &follower->group,
					  error);
	if (!ret)
		TAILQ_INSERT_TAIL(&followers->list, follower, link);
	return ret;
}

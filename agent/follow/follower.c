// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/log.h"
#include "cgroups.h"
#include "follower.h"
#include "namespaces.h"

void followers__open(struct followers *followers, struct registry *registry,
		     sd_event *loop)
{
	*followers = (struct followers){ .registry = registry, .loop = loop };
	TAILQ_INIT(&followers->list);
}

static void follower__free(struct follower *follower)
{
	if (follower->cgroups)
		cgroups__close(follower->cgroups);
	free(follower);
}

void followers__close(struct followers *followers)
{
	struct follower *follower;

	while ((follower = TAILQ_FIRST(&followers->list))) {
		TAILQ_REMOVE(&followers->list, follower, link);
		follower__free(follower);
	}
}

struct follower *followers__find(const struct followers *followers,
				 const char *name)
{
	struct follower *follower;

	TAILQ_FOREACH(follower, &followers->list, link)
		if (!strcmp(follower->name, name))
			return follower;
	return NULL;
}

uint32_t follower__entries(const struct follower *follower)
{
	const struct entry *entry;
	uint32_t count = 0;

	TAILQ_FOREACH(entry, &follower->followers->registry->entries, link)
		count += entry->follower == follower;
	return count;
}

void follower__fail(struct follower *follower, const struct dart_error *error)
{
	if (!follower->failures++)
		log__warning("%s: one is left out, perhaps more will be: %s",
			     follower->name, error->text);
}

void follower__register(struct follower *follower,
			const struct selector *selector)
{
	struct entry *entry;
	struct dart_error error;
	int ret;

	ret = registry__add_source(follower->followers->registry, selector,
				   follower, &entry, &error);
	if (ret && ret != -EEXIST && ret != -ENOENT && ret != -ENODEV)
		follower__fail(follower, &error);
}

/* The namespaces are watched while somebody follows them. */
static int followers__sync_namespaces(struct followers *followers,
				      struct dart_error *error)
{
	const struct region *region = followers->registry->region;
	struct follower *follower;
	struct namespaces namespaces;
	bool is_watched = false;
	int ret;

	TAILQ_FOREACH(follower, &followers->list, link)
		is_watched |= !follower->cgroups;
	ret = namespaces__list(&namespaces, region, is_watched, error);
	if (ret)
		return ret;

	registry__begin(followers->registry);
	TAILQ_FOREACH(follower, &followers->list, link)
		if (!follower->cgroups)
			namespaces__register(&namespaces, follower);
	namespaces__free(&namespaces);
	return registry__end(followers->registry, error);
}

void followers__namespaces_have_changed(struct followers *followers)
{
	struct dart_error error;

	if (followers__sync_namespaces(followers, &error))
		log__error("network namespaces that have come are left out: %s",
			   error.text);
}

/* For all namespaces one star behind the "@", for cgroups the path and two. */
static int follower__set_name(struct follower *follower, const char *path,
			      struct dart_error *error)
{
	char stem[DART_REGISTRATION_NAME_MAX];
	const char *end = "*";
	int ret;

	if (path)
		end = strcmp(path, "/") ? "/**" : "**";
	ret = entry_name__of(stem, follower->source->name, path ?: "", error);
	if (!ret)
		snprintf(follower->name, sizeof(follower->name), "%s%s", stem,
			 end);
	return ret;
}

static int followers__new(struct followers *followers,
			  const struct source *source, const char *path,
			  struct follower **result, struct dart_error *error)
{
	struct follower *follower;
	int ret;

	follower = calloc(1, sizeof(*follower));
	if (!follower)
		return dart_error__no_memory(error);
	follower->followers = followers;
	follower->source = source;
	ret = follower__set_name(follower, path, error);
	if (!ret && followers__find(followers, follower->name))
		ret = dart_error__set(error, EEXIST, "'%s' is followed already",
				      follower->name);
	if (ret)
		free(follower);
	else
		*result = follower;
	return ret;
}

int followers__add_namespaces(struct followers *followers,
			      const struct source *source,
			      struct follower **result,
			      struct dart_error *error)
{
	struct follower *follower;
	int ret;

	ret = followers__new(followers, source, NULL, &follower, error);
	if (ret)
		return ret;
	TAILQ_INSERT_TAIL(&followers->list, follower, link);
	ret = followers__sync_namespaces(followers, error);
	if (ret) {
		TAILQ_REMOVE(&followers->list, follower, link);
		follower__free(follower);
		return ret;
	}
	*result = follower;
	return 0;
}

int followers__add_cgroups(struct followers *followers,
			   const struct source *source, int fd,
			   const char *path, struct follower **result,
			   struct dart_error *error)
{
	struct follower *follower;
	int ret;

	ret = followers__new(followers, source, path, &follower, error);
	if (ret)
		return ret;
	registry__begin(followers->registry);
	ret = cgroups__open(&follower->cgroups, follower, fd, path, error);
	if (ret)
		registry__end(followers->registry, &(struct dart_error){ });
	else
		ret = registry__end(followers->registry, error);
	if (ret) {
		follower__free(follower);
		return ret;
	}
	TAILQ_INSERT_TAIL(&followers->list, follower, link);
	*result = follower;
	return 0;
}

/* Takes its entries out of the table, as part of a batch. */
static void follower__withdraw(struct follower *follower, bool is_gone)
{
	struct registry *registry = follower->followers->registry;
	struct entry *entry, *next;
	struct dart_error error;

	for (entry = TAILQ_FIRST(&registry->entries); entry; entry = next) {
		next = TAILQ_NEXT(entry, link);
		if (entry->follower != follower)
			continue;
		if (is_gone)
			registry__entry_is_gone(registry, entry);
		else
			registry__remove(registry, entry->name, &entry, &error);
	}
}

int followers__remove(struct followers *followers, struct follower *follower,
		      struct dart_error *error)
{
	int ret;

	registry__begin(followers->registry);
	follower__withdraw(follower, false);
	ret = registry__end(followers->registry, error);
	if (ret)
		return ret;

	TAILQ_REMOVE(&followers->list, follower, link);
	if (!follower->cgroups)
		followers__namespaces_have_changed(followers);
	follower__free(follower);
	return 0;
}

void follower__is_gone(struct follower *follower)
{
	struct followers *followers = follower->followers;
	struct dart_error error;

	log__info("%s is gone", follower->name);
	registry__begin(followers->registry);
	follower__withdraw(follower, true);
	if (registry__end(followers->registry, &error))
		log__error("controllers are not told yet: %s", error.text);
	TAILQ_REMOVE(&followers->list, follower, link);
	follower__free(follower);
}

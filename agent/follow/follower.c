// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/log.h"
#include "cgroups.h"
#include "follower.h"
#include "namespaces.h"

void follows__open(struct follows *follows, struct registry *registry,
		   sd_event *loop)
{
	*follows = (struct follows){ .registry = registry, .loop = loop };
	TAILQ_INIT(&follows->list);
}

static void follow__free(struct follow *follow)
{
	if (follow->cgroups)
		cgroups__close(follow->cgroups);
	free(follow);
}

void follows__close(struct follows *follows)
{
	struct follow *follow;

	while ((follow = TAILQ_FIRST(&follows->list))) {
		TAILQ_REMOVE(&follows->list, follow, link);
		follow__free(follow);
	}
}

struct follow *follows__find(const struct follows *follows, const char *name)
{
	struct follow *follow;

	TAILQ_FOREACH(follow, &follows->list, link)
		if (!strcmp(follow->name, name))
			return follow;
	return NULL;
}

uint32_t follow__entries(const struct follow *follow)
{
	const struct entry *entry;
	uint32_t count = 0;

	TAILQ_FOREACH(entry, &follow->follows->registry->entries, link)
		count += entry->follow == follow;
	return count;
}

void follow__fail(struct follow *follow, const struct why *why)
{
	if (!follow->failures++)
		log__warning("%s: one is left out, perhaps more will be: %s",
			     follow->name, why->text);
}

void follow__register(struct follow *follow, struct selection *selection)
{
	struct entry *entry;
	struct why why;
	int ret;

	selection->is_followed = true;
	ret = registry__add_source(follow->follows->registry, selection,
				   &entry, &why);
	if (!ret)
		entry->follow = follow;
	else if (ret != -EEXIST && ret != -ENOENT && ret != -ENODEV)
		follow__fail(follow, &why);
}

/* The namespaces are watched while somebody follows them. */
static int follows__sync_namespaces(struct follows *follows, struct why *why)
{
	const struct region *region = follows->registry->region;
	struct follow *follow;
	struct namespaces namespaces;
	bool is_watched = false;
	int ret;

	TAILQ_FOREACH(follow, &follows->list, link)
		is_watched |= !follow->cgroups;
	ret = namespaces__list(&namespaces, region, is_watched, why);
	if (ret)
		return ret;

	registry__begin(follows->registry);
	TAILQ_FOREACH(follow, &follows->list, link)
		if (!follow->cgroups)
			namespaces__register(&namespaces, follow);
	namespaces__free(&namespaces);
	return registry__end(follows->registry, why);
}

void follows__namespaces_have_changed(struct follows *follows)
{
	struct why why;

	if (follows__sync_namespaces(follows, &why))
		log__error("network namespaces that have come are left out: %s",
			   why.text);
}

/* For all namespaces one star behind the "@", for cgroups the path and two. */
static int follow__set_name(struct follow *follow, const char *path,
			    struct why *why)
{
	char stem[DART_REGISTRATION_NAME_MAX];
	const char *end = "*";
	int ret;

	if (path)
		end = strcmp(path, "/") ? "/**" : "**";
	ret = entry_name__of(stem, follow->source->name, path ?: "", why);
	if (!ret)
		snprintf(follow->name, sizeof(follow->name), "%s%s", stem, end);
	return ret;
}

static int follows__new(struct follows *follows, const struct source *source,
			const char *path, struct follow **result,
			struct why *why)
{
	struct follow *follow;
	int ret;

	follow = calloc(1, sizeof(*follow));
	if (!follow)
		return why__say(why, ENOMEM, "memory is short");
	follow->follows = follows;
	follow->source = source;
	ret = follow__set_name(follow, path, why);
	if (!ret && follows__find(follows, follow->name))
		ret = why__say(why, EEXIST, "'%s' is followed already",
			       follow->name);
	if (ret)
		free(follow);
	else
		*result = follow;
	return ret;
}

int follows__add_namespaces(struct follows *follows,
			    const struct source *source,
			    struct follow **result, struct why *why)
{
	struct follow *follow;
	int ret;

	ret = follows__new(follows, source, NULL, &follow, why);
	if (ret)
		return ret;
	TAILQ_INSERT_TAIL(&follows->list, follow, link);
	ret = follows__sync_namespaces(follows, why);
	if (ret) {
		TAILQ_REMOVE(&follows->list, follow, link);
		follow__free(follow);
		return ret;
	}
	*result = follow;
	return 0;
}

int follows__add_cgroups(struct follows *follows, const struct source *source,
			 int fd, const char *path, struct follow **result,
			 struct why *why)
{
	struct follow *follow;
	int ret;

	ret = follows__new(follows, source, path, &follow, why);
	if (ret)
		return ret;
	registry__begin(follows->registry);
	ret = cgroups__open(&follow->cgroups, follow, fd, path, why);
	if (ret)
		registry__end(follows->registry, &(struct why){ });
	else
		ret = registry__end(follows->registry, why);
	if (ret) {
		follow__free(follow);
		return ret;
	}
	TAILQ_INSERT_TAIL(&follows->list, follow, link);
	*result = follow;
	return 0;
}

/* Takes its entries out of the table, as part of a batch. */
static void follow__withdraw(struct follow *follow, bool is_gone)
{
	struct registry *registry = follow->follows->registry;
	struct entry *entry, *next;
	struct why why;

	for (entry = TAILQ_FIRST(&registry->entries); entry; entry = next) {
		next = TAILQ_NEXT(entry, link);
		if (entry->follow != follow)
			continue;
		if (is_gone)
			registry__entry_is_gone(registry, entry);
		else
			registry__remove(registry, entry->name, &entry, &why);
	}
}

int follows__remove(struct follows *follows, struct follow *follow,
		    struct why *why)
{
	int ret;

	registry__begin(follows->registry);
	follow__withdraw(follow, false);
	ret = registry__end(follows->registry, why);
	if (ret)
		return ret;

	TAILQ_REMOVE(&follows->list, follow, link);
	if (!follow->cgroups)
		follows__namespaces_have_changed(follows);
	follow__free(follow);
	return 0;
}

void follow__is_gone(struct follow *follow)
{
	struct follows *follows = follow->follows;
	struct why why;

	log__info("%s is gone", follow->name);
	registry__begin(follows->registry);
	follow__withdraw(follow, true);
	if (registry__end(follows->registry, &why))
		log__error("controllers are not told yet: %s", why.text);
	TAILQ_REMOVE(&follows->list, follow, link);
	follow__free(follow);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Lists the network namespaces and registers each namespace without an entry. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/log.h"
#include "namespaces.h"

/* Where ip-netns(8) keeps named namespaces. */
#define NAMED "/run/netns"

/* The namespaces at one moment. */
struct namespaces {
	uint32_t *inodes;
	uint32_t count;
	uint32_t own;	/* inode of dartd's namespace */
	struct netns_name *names;	/* of some of them */
	uint32_t name_count;
};

struct netns_name {
	uint32_t inode;
	char name[NAME_MAX + 1];
};

/* A namespace in the tally of a follower. */
struct namespace_place {
	struct coverage_place place;
	char label[32];	/* "net:INODE" */
};

struct namespaces_follower {
	struct follower follower;	/* first: see namespaces__free_follower() */
	struct namespace_place *places;	/* of all namespaces at the last look */
	uint32_t count;
};

static struct namespaces_follower *of_follower(struct follower *follower)
{
	return (struct namespaces_follower *)follower;
}

static void namespaces__add_name(struct namespaces *namespaces, uint32_t inode, const char *name)
{
	struct netns_name *names;

	/* If memory runs out, the inode serves as the name. */
	names = reallocarray(namespaces->names, namespaces->name_count + 1, sizeof(*names));
	if (!names)
		return;
	namespaces->names = names;
	names[namespaces->name_count].inode = inode;
	snprintf(names[namespaces->name_count].name, sizeof(names->name), "%s", name);
	namespaces->name_count++;
}

static void namespaces__read_names(struct namespaces *namespaces, dev_t device)
{
	DIR *directory = opendir(NAMED);
	struct dirent *file;
	struct stat status;

	while (directory && (file = readdir(directory)))
		if (!fstatat(dirfd(directory), file->d_name, &status, 0) &&
		    S_ISREG(status.st_mode) && status.st_dev == device)
			namespaces__add_name(namespaces, status.st_ino, file->d_name);
	if (directory)
		closedir(directory);
}

/* From then on the region reports changes if @is_watched, otherwise not. */
static int namespaces__list(struct namespaces *namespaces, const struct region *region,
			    bool is_watched, struct dart_error *error)
{
	struct stat own;
	int ret;

	*namespaces = (struct namespaces){ };
	ret = region__namespaces(region, is_watched, &namespaces->inodes,
				 &namespaces->count, error);
	if (ret || !is_watched)
		return ret;
	if (!stat("/proc/self/ns/net", &own)) {
		namespaces->own = own.st_ino;
		namespaces__read_names(namespaces, own.st_dev);
	}
	return 0;
}

static void namespaces__free(struct namespaces *namespaces)
{
	free(namespaces->inodes);
	free(namespaces->names);
}

static const char *find_name(const struct namespaces *namespaces, uint32_t inode)
{
	uint32_t i;

	for (i = 0; i < namespaces->name_count; i++)
		if (namespaces->names[i].inode == inode)
			return namespaces->names[i].name;
	return NULL;
}

/* Is the name of @selector taken? */
static bool is_taken(const struct registry *registry, const struct follower *follower,
		     const struct selector *selector)
{
	char name[DART_CONTROL_ENTRY_NAME_MAX];
	struct dart_error error;

	strcpy(name, selector->name);
	return !selector__add_interval(name, follower->gather_ms, &error) &&
	       inventory__find(&registry->inventory, name);
}

static void namespaces__register_one(const struct namespaces *namespaces, struct follower *follower,
				     uint32_t inode, struct namespace_place *place)
{
	const char *label = place->label;
	const struct registry *registry = follower->followers->registry;
	const char *name = find_name(namespaces, inode);
	struct selector selector;
	struct dart_error error;
	int ret;

	ret = selector__netns_inode(&selector, follower->source, inode,
				    inode == namespaces->own ? NULL :
							       name ?: label,
				    &error);
	/* The name may still be that of an entry about to end. */
	if (!ret && name && is_taken(registry, follower, &selector))
		ret = selector__netns_inode(&selector, follower->source, inode, label, &error);
	if (ret)
		follower__fail(follower, &place->place, coverage__reason_of(-ret), label, &error);
	else
		follower__register(follower, &selector, &place->place, label);
}

/* One place for each namespace, none of which is counted yet. */
static int namespaces__replace_places(const struct namespaces *namespaces,
				      struct follower *follower)
{
	struct namespaces_follower *own = of_follower(follower);
	uint32_t i;

	for (i = 0; i < own->count; i++)
		follower__forget(follower, &own->places[i].place);
	coverage_tally__forget_unplaced(&follower->tally);
	free(own->places);
	own->count = 0;
	own->places = calloc(namespaces->count ?: 1, sizeof(*own->places));
	if (!own->places)
		return -ENOMEM;
	own->count = namespaces->count;
	for (i = 0; i < own->count; i++)
		snprintf(own->places[i].label, sizeof(own->places[i].label),
			 "net:%u", namespaces->inodes[i]);
	return 0;
}

/* Registers each namespace without an entry; the caller has begun a batch. */
static void namespaces__register(const struct namespaces *namespaces, struct follower *follower)
{
	struct selector_key key = {
		.source = follower->source->id,
		.gather_ms = follower->gather_ms,
	};
	struct namespace_place *places;
	struct dart_error error;
	uint32_t i;

	if (namespaces__replace_places(namespaces, follower)) {
		dart_error__no_memory(&error);
		for (i = 0; i < namespaces->count; i++)
			follower__fail(follower, NULL, COVERAGE_MEMORY, "net:", &error);
		return;
	}
	places = of_follower(follower)->places;
	for (i = 0; i < namespaces->count; i++) {
		key.object = namespaces->inodes[i];
		if (inventory__find_source(&follower->followers->registry->inventory, &key))
			coverage_tally__stage(&follower->tally, &places[i].place, places[i].label);
		else
			namespaces__register_one(namespaces, follower, namespaces->inodes[i],
						 &places[i]);
	}
}

static void namespaces__free_follower(struct follower *follower)
{
	free(of_follower(follower)->places);
	free(follower);
}

static void namespaces__retry(struct follower *follower)
{
	namespaces__changed(follower->followers);
}

static const struct follower_operations namespaces_operations = {
	.free = namespaces__free_follower,
	.unregistered = namespaces__changed,
	.retry = namespaces__retry,
};

/* The region reports changes while there is a follower of namespaces. */
static int namespaces__sync(struct followers *followers, struct dart_error *error)
{
	struct namespaces namespaces;
	struct follower *follower;
	bool is_watched = false;
	int ret;

	TAILQ_FOREACH(follower, &followers->list, link)
		is_watched |= follower->operations == &namespaces_operations;
	ret = namespaces__list(&namespaces, followers->region, is_watched, error);
	if (ret)
		return ret;

	registry__begin(followers->registry);
	TAILQ_FOREACH(follower, &followers->list, link)
		if (follower->operations == &namespaces_operations)
			namespaces__register(&namespaces, follower);
	namespaces__free(&namespaces);
	return registry__end(followers->registry, error);
}

void namespaces__changed(struct followers *followers)
{
	struct follower *follower;
	struct dart_error error;

	if (!namespaces__sync(followers, &error))
		return;
	log__peer_error("cannot register new network namespaces: %s", error.text);
	TAILQ_FOREACH(follower, &followers->list, link)
		if (follower->operations == &namespaces_operations)
			follower__look_again(follower);
}

int namespaces__follow(struct followers *followers, const struct source *source,
		       const struct selector_choice *choice,
		       struct follower **result, struct dart_error *error)
{
	struct namespaces_follower *own = calloc(1, sizeof(*own));
	struct follower *follower = &own->follower;
	int ret;

	if (!own)
		return dart_error__no_memory(error);
	ret = followers__add(followers, follower, &namespaces_operations,
			     source, choice, NULL, error);
	if (ret) {
		free(own);
		return ret;
	}
	ret = namespaces__sync(followers, error);
	if (ret)
		followers__drop(followers, follower);
	else
		*result = follower;
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "namespaces.h"

/* Where ip-netns(8) keeps them. */
#define NAMED "/run/netns"

struct netns_name {
	uint32_t inode;
	char name[NAME_MAX + 1];
};

static void namespaces__add_name(struct namespaces *namespaces,
				 uint32_t inode, const char *name)
{
	struct netns_name *names;

	/* Without a name it is called by its inode. */
	names = reallocarray(namespaces->names, namespaces->name_count + 1,
			     sizeof(*names));
	if (!names)
		return;
	namespaces->names = names;
	names[namespaces->name_count].inode = inode;
	snprintf(names[namespaces->name_count].name, sizeof(names->name), "%s",
		 name);
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
			namespaces__add_name(namespaces, status.st_ino,
					     file->d_name);
	if (directory)
		closedir(directory);
}

int namespaces__list(struct namespaces *namespaces, const struct region *region,
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

void namespaces__free(struct namespaces *namespaces)
{
	free(namespaces->inodes);
	free(namespaces->names);
}

static const char *find_name(const struct namespaces *namespaces,
			     uint32_t inode)
{
	uint32_t i;

	for (i = 0; i < namespaces->name_count; i++)
		if (namespaces->names[i].inode == inode)
			return namespaces->names[i].name;
	return NULL;
}

static void namespaces__register_one(const struct namespaces *namespaces,
				     struct follower *follower, uint32_t inode)
{
	const struct registry *registry = follower->followers->registry;
	const char *name = find_name(namespaces, inode);
	struct selector selector;
	char label[32];
	struct dart_error error;
	int ret;

	snprintf(label, sizeof(label), "net:%u", inode);
	if (inode == namespaces->own)
		ret = selector__netns_inode(&selector, follower->source, inode,
					    NULL, &error);
	else
		ret = selector__netns_inode(&selector, follower->source, inode,
					    name ?: label, &error);
	/* The name may still be that of one that is about to end. */
	if (!ret && name && registry__find(registry, selector.name))
		ret = selector__netns_inode(&selector, follower->source, inode,
					    label, &error);
	if (ret)
		follower__fail(follower, &error);
	else
		follower__register(follower, &selector);
}

void namespaces__register(const struct namespaces *namespaces,
			  struct follower *follower)
{
	struct selector_key key = { .source = follower->source->id };
	uint32_t i;

	for (i = 0; i < namespaces->count; i++) {
		key.object = namespaces->inodes[i];
		if (!registry__find_source(follower->followers->registry, &key))
			namespaces__register_one(namespaces, follower,
						 namespaces->inodes[i]);
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/* Checks that a request selects the kind of object that its source needs, in the right form. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selector.h"

static const struct {
	const char *name;
	const char *object;
} selectors[] = {
	[SOURCE_SELECTOR_NONE] = { .name = "none" },
	[SOURCE_SELECTOR_NETNS] = { "netns", "network namespace" },
	[SOURCE_SELECTOR_NETDEV] = { "netdev", "network device" },
	[SOURCE_SELECTOR_DISK] = { "disk", "disk" },
	[SOURCE_SELECTOR_CGROUP] = { "cgroup", "cgroup" },
	[SOURCE_SELECTOR_FILESYSTEM] = { "filesystem", "mount point" },
};

const char *selector__name(const struct source *source)
{
	return selectors[source->selector].name;
}

static int check_word(const struct source *source, enum source_selector selector, const char *word,
		      struct dart_error *error)
{
	const char *object = selectors[selector].object;

	if (word && source->selector != selector)
		return dart_error__set(error, EINVAL, "source %s does not take a %s", source->name,
				       object);
	if (!word && source->selector == selector)
		return dart_error__set(error, EINVAL, "source %s needs a %s: say which",
				       source->name, object);
	return 0;
}

static int check_cgroup_path(const char *path, struct dart_error *error)
{
	size_t length = path ? strlen(path) : 0;

	if (path && (*path != '/' || strstr(path, "//") ||
		     (length > 1 && path[length - 1] == '/')))
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a cgroup's path from the root of its hierarchy",
			path);
	return 0;
}

static int check_mount_point(const char *path, struct dart_error *error)
{
	if (!path || *path == '/')
		return 0;
	return dart_error__set(error, EINVAL, "'%s' is not the path of a mount point from the root",
			       path);
}

uint32_t selector__chosen_inode(const struct source *source, const struct selector_choice *choice)
{
	unsigned long inode;
	char *end;

	if (source->selector != SOURCE_SELECTOR_NETNS || choice->fd >= 0 || !choice->netns ||
	    strncmp(choice->netns, "net:", 4) || choice->netns[4] < '1' || choice->netns[4] > '9')
		return 0;
	inode = strtoul(choice->netns + 4, &end, 10);
	return *end || inode > UINT32_MAX ? 0 : inode;
}

static int check_gathered(const struct source *source, const struct selector_choice *choice,
			  struct dart_error *error)
{
	if (choice->gather_ms || !source->fields)
		return 0;
	return dart_error__set(error, EINVAL,
			       "source %s can only be gathered (say how often, as in --gather 1s)",
			       source->name);
}

static int check_fd(const struct selector_choice *choice, bool wants_fd, struct dart_error *error)
{
	/* dartd finds the file system by its path, among the mounts of PID 1. */
	if (choice->filesystem)
		return 0;
	if (wants_fd == (choice->fd >= 0))
		return 0;
	return dart_error__set(error, EINVAL,
			       wants_fd ? "the file descriptor of the selected object is missing" :
					  "the request takes no file descriptor");
}

int selector__check(const struct source *source, const struct selector_choice *choice,
		    struct dart_error *error)
{
	bool wants_fd = (choice->netns && !selector__chosen_inode(source, choice)) ||
			choice->disk || choice->cgroup;
	int ret = check_gathered(source, choice, error);

	/* Without a namespace, the interface is in the namespace of dartd. */
	if (!ret && choice->netns && source->selector != SOURCE_SELECTOR_NETDEV)
		ret = check_word(source, SOURCE_SELECTOR_NETNS, choice->netns, error);
	ret = ret										?:
		      check_word(source, SOURCE_SELECTOR_NETDEV, choice->netdev, error)		?:
		      check_word(source, SOURCE_SELECTOR_DISK, choice->disk, error)		?:
		      check_word(source, SOURCE_SELECTOR_CGROUP, choice->cgroup, error)		?:
		      check_word(source, SOURCE_SELECTOR_FILESYSTEM, choice->filesystem, error) ?:
		      check_cgroup_path(choice->cgroup, error)					?:
		      check_mount_point(choice->filesystem, error);
	return ret ?: check_fd(choice, wants_fd, error);
}

int selector__check_follow(const struct source *source, const struct selector_choice *choice,
			   struct dart_error *error)
{
	if (choice->netns || choice->netdev || choice->disk || choice->filesystem)
		return dart_error__set(
			error, EINVAL,
			"all network namespaces, devices, disks or file systems, or the cgroups of a subtree, are followed");
	if (!source__can_be_followed(source))
		return dart_error__set(error, EINVAL,
				       "there is one %s of a host: it cannot be followed",
				       source->name);
	/* All objects of these kinds are followed, so the request selects none. */
	if (source->selector == SOURCE_SELECTOR_NETDEV ||
	    source->selector == SOURCE_SELECTOR_DISK ||
	    source->selector == SOURCE_SELECTOR_FILESYSTEM)
		return check_gathered(source, choice, error)					 ?:
			       check_word(source, SOURCE_SELECTOR_CGROUP, choice->cgroup, error) ?:
			       check_fd(choice, false, error);
	return selector__check(source, choice, error);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the kind of follower for a source. */
#include <errno.h>
#include <stdlib.h>

#include "cgroup_tree.h"
#include "devices.h"
#include "kinds.h"
#include "namespaces.h"

static void cgroups__free(struct follower *follower)
{
	struct cgroup_follower *member = (struct cgroup_follower *)follower;

	cgroup_tree__leave(member);
	free(member);
}

static void cgroups__retry(struct follower *follower)
{
	cgroup_tree__retry(((struct cgroup_follower *)follower)->tree);
}

static const struct follower_operations cgroups_operations = {
	.free = cgroups__free,
	.retry = cgroups__retry,
};

/*
 * Registers @source for the cgroup of @choice and all below, present and future, gathered
 * as the choice says.
 */
static int cgroups__follow(struct followers *followers, const struct source *source,
			   const struct selector_choice *choice, struct follower **result,
			   struct dart_error *error)
{
	struct cgroup_follower *member;
	struct selector selector;
	int ret;

	/* Only to check that this is a cgroup. */
	ret = selector__cgroup(&selector, source, choice->fd, choice->cgroup, error);
	if (ret)
		return ret;
	selector__close(&selector);
	member = calloc(1, sizeof(*member));
	if (!member)
		return dart_error__no_memory(error);
	ret = followers__add(followers, &member->follower, &cgroups_operations,
			     source, choice, choice->cgroup, error);
	if (ret) {
		free(member);
		return ret;
	}
	ret = cgroup_tree__join(member, choice->fd, choice->cgroup, error);
	if (ret) {
		followers__drop(followers, &member->follower);
		return ret;
	}
	*result = &member->follower;
	return 0;
}

int followers__follow(struct followers *followers, const struct source *source,
		      const struct selector_choice *choice,
		      struct follower **follower, struct dart_error *error)
{
	switch (source->selector) {
	case SOURCE_SELECTOR_NETNS:
		return namespaces__follow(followers, source, choice, follower, error);
	case SOURCE_SELECTOR_NETDEV:
		return devices__follow(followers, &netdevs, source, choice, follower, error);
	case SOURCE_SELECTOR_DISK:
		return devices__follow(followers, &disks, source, choice, follower, error);
	case SOURCE_SELECTOR_FILESYSTEM:
		return devices__follow(followers, &filesystems, source, choice, follower, error);
	case SOURCE_SELECTOR_CGROUP:
		return cgroups__follow(followers, source, choice, follower, error);
	default:
		return dart_error__set(error, EINVAL, "%s cannot be followed", source->name);
	}
}

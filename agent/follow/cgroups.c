// SPDX-License-Identifier: GPL-2.0-only
/* Registers a source for each cgroup of a tree. */
#include <stdlib.h>

#include "cgroup_tree.h"
#include "cgroups.h"

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

int cgroups__follow(struct followers *followers, const struct source *source,
		    const struct selector_choice *choice,
		    struct follower **result, struct dart_error *error)
{
	struct cgroup_follower *member;
	struct selector selector;
	int ret;

	/* Only to check that this is a cgroup. */
	ret = selector__cgroup(&selector, source, choice->fd, choice->cgroup,
			       error);
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

// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the kind of follower that a source takes. */
#include <errno.h>

#include "cgroups.h"
#include "devices.h"
#include "kinds.h"
#include "namespaces.h"

int followers__follow(struct followers *followers, const struct source *source,
		      const struct selector_choice *choice,
		      struct follower **follower, struct dart_error *error)
{
	switch (source->selector) {
	case SOURCE_SELECTOR_NETNS:
		return namespaces__follow(followers, source, choice, follower,
					  error);
	case SOURCE_SELECTOR_NETDEV:
		return devices__follow(followers, &netdevs, source, choice,
				       follower, error);
	case SOURCE_SELECTOR_DISK:
		return devices__follow(followers, &disks, source, choice,
				       follower, error);
	case SOURCE_SELECTOR_FILESYSTEM:
		return devices__follow(followers, &filesystems, source, choice,
				       follower, error);
	case SOURCE_SELECTOR_CGROUP:
		return cgroups__follow(followers, source, choice, follower,
				       error);
	default:
		return dart_error__set(error, EINVAL,
				       "%s cannot be followed", source->name);
	}
}

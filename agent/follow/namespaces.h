/* SPDX-License-Identifier: GPL-2.0-only */
/* The network namespaces of the machine, with the names of ip-netns(8). */
#ifndef NAMESPACES_H
#define NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>
#include "agent/region/region.h"
#include "follower.h"

struct namespaces {
	uint32_t *inodes;
	uint32_t count;
	uint32_t own;			/* inode of this process's */
	struct netns_name *names;	/* of some of them */
	uint32_t name_count;
};

/* As they are now; from then on the region says when they have changed. */
int namespaces__list(struct namespaces *namespaces, const struct region *region,
		     bool is_watched, struct dart_error *error);
void namespaces__free(struct namespaces *namespaces);

/* Those that have no entry yet, in a batch of the registry. */
void namespaces__register(const struct namespaces *namespaces,
			  struct follower *follower);

#endif /* NAMESPACES_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows: sources of everything of a kind, as it comes and goes: all network
 * namespaces, or all cgroups of a subtree.  What comes gets an entry, what ends
 * loses it, and the agent sleeps while neither happens.
 */
#ifndef FOLLOWER_H
#define FOLLOWER_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include <dart/registration.h>

#include "agent/base/why.h"
#include "agent/region/selector.h"
#include "agent/region/source.h"
#include "agent/table/registry.h"

/* That of an entry, and what no entry's ends with. */
#define FOLLOW_NAME_MAX (DART_REGISTRATION_NAME_MAX + 3)

struct follows {
	struct registry *registry;
	sd_event *loop;
	TAILQ_HEAD(, follow) list;
};

struct follow {
	TAILQ_ENTRY(follow) link;
	struct follows *follows;
	const struct source *source;
	char name[FOLLOW_NAME_MAX];
	struct cgroups *cgroups;	/* NULL if it is of all namespaces */
	uint32_t failures;		/* what has no entry but should */
};

void follows__open(struct follows *follows, struct registry *registry,
		   sd_event *loop);
/* Before the registry. */
void follows__close(struct follows *follows);

int follows__add_namespaces(struct follows *follows,
			    const struct source *source,
			    struct follow **follow, struct why *why);
/* @fd is of the cgroup at the top, which is one of them. */
int follows__add_cgroups(struct follows *follows, const struct source *source,
			 int fd, const char *path, struct follow **follow,
			 struct why *why);
/* Takes its entries out of the table, or fails and leaves all as it was. */
int follows__remove(struct follows *follows, struct follow *follow,
		    struct why *why);
/* What it is of has ended, and all of its entries with it. */
void follow__is_gone(struct follow *follow);

struct follow *follows__find(const struct follows *follows, const char *name);
uint32_t follow__entries(const struct follow *follow);
void follows__namespaces_have_changed(struct follows *follows);

/*
 * Registers something that has come, as part of a batch.  What cannot be is
 * left out, and said once for all of a follow.
 */
void follow__register(struct follow *follow, struct selection *selection);
void follow__fail(struct follow *follow, const struct why *why);

#endif /* FOLLOWER_H */

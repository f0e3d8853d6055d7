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

#include <libdart/error.h>
#include "agent/region/selector.h"
#include "agent/region/source.h"
#include "agent/table/registry.h"

/* That of an entry, and what no entry's ends with. */
#define FOLLOWER_NAME_MAX (DART_REGISTRATION_NAME_MAX + 3)

struct followers {
	struct registry *registry;
	sd_event *loop;
	TAILQ_HEAD(, follower) list;
};

struct follower {
	TAILQ_ENTRY(follower) link;
	struct followers *followers;
	const struct source *source;
	char name[FOLLOWER_NAME_MAX];
	struct cgroups *cgroups;	/* NULL if it is of all namespaces */
	uint32_t failures;		/* what has no entry but should */
};

void followers__open(struct followers *followers, struct registry *registry,
		     sd_event *loop);
/* Before the registry. */
void followers__close(struct followers *followers);

int followers__add_namespaces(struct followers *followers,
			      const struct source *source,
			      struct follower **follower,
			      struct dart_error *error);
/* @fd is of the cgroup at the top, which is one of them. */
int followers__add_cgroups(struct followers *followers,
			   const struct source *source, int fd,
			   const char *path, struct follower **follower,
			   struct dart_error *error);
/* Takes its entries out of the table, or fails and leaves all as it was. */
int followers__remove(struct followers *followers, struct follower *follower,
		      struct dart_error *error);
/* What it is of has ended, and all of its entries with it. */
void follower__is_gone(struct follower *follower);

struct follower *followers__find(const struct followers *followers,
				 const char *name);
uint32_t follower__entries(const struct follower *follower);
void followers__namespaces_have_changed(struct followers *followers);

/*
 * Registers something that has come, as part of a batch.  What cannot be is
 * left out, and said once for all of a follow.
 */
void follower__register(struct follower *follower,
			const struct selector *selector);
void follower__fail(struct follower *follower, const struct dart_error *error);

#endif /* FOLLOWER_H */

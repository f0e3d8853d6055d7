/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Followers: register a source for every object of a kind, as objects come and
 * go: all network namespaces, all network devices of dartd's, all disks, all file systems
 * of disks, or all cgroups of a subtree.  A new object gets an entry, one that ends loses
 * it, and the agent sleeps while neither happens.
 */
#ifndef FOLLOWER_H
#define FOLLOWER_H

#include <stdint.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/base/changes.h"
#include "agent/base/file_watch.h"
#include "agent/region/region.h"
#include "agent/region/selector.h"
#include "agent/region/source.h"
#include "agent/table/registry.h"

struct followers {
	struct registry *registry;
	const struct region *region;
	struct file_watches *file_watches;
	const struct changes *changes;
	sd_event *loop;
	TAILQ_HEAD(, follower) list;
};

/* What kinds of followers differ in. */
struct follower_operations {
	/* Frees a follower that is no longer in the list. */
	void (*free)(struct follower *follower);
	/* After some were unregistered; NULL if nothing is to be done. */
	void (*unregistered)(struct followers *followers);
};

/* Embedded in what implements the operations. */
struct follower {
	TAILQ_ENTRY(follower) link;
	const struct follower_operations *operations;
	struct followers *followers;
	const struct source *source;
	uint32_t gather_ms;	/* as in struct selector_key */
	bool is_deferrable; /* as in struct selector_choice */
	struct entry_group group;
	uint32_t failures;	/* objects without the entry they should have */
	struct dart_error first_failure;	/* if there are any */
};

#define entry_group__follower(member) \
	((struct follower *)((char *)(member)-offsetof(struct follower, group)))

void followers__open(struct followers *followers, struct registry *registry,
		     const struct region *region,
		     struct file_watches *file_watches,
		     const struct changes *changes, sd_event *loop);
/* Before the registry. */
void followers__close(struct followers *followers);

/*
 * Initializes @follower and adds it; on error it is the caller's.  @choice says how it
 * gathers.  @path is that of the cgroup at the top, NULL if all objects of the kind are
 * followed.
 */
int followers__add(struct followers *followers, struct follower *follower,
		   const struct follower_operations *operations,
		   const struct source *source,
		   const struct selector_choice *choice, const char *path,
		   struct dart_error *error);
/* Frees a follower that has no entries. */
void followers__drop(struct followers *followers, struct follower *follower);
/* The followed object no longer exists, nor do those below it. */
void follower__ended(struct follower *follower);

/*
 * Registers an object, as part of a batch.  One that cannot be registered is
 * left out, and the log has the first of each follower.
 */
void follower__register(struct follower *follower, struct selector *selector);
void follower__fail(struct follower *follower, const struct dart_error *error);

/*
 * The requests about followers, which are their subject; those about groups of
 * entries serve them, too.
 */
extern const struct request_type follow_requests[];

#endif /* FOLLOWER_H */

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
#include "agent/base/coverage.h"
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
	/* Runs while an object is missing for a reason that can pass, and after a record has gone. */
	sd_event_source *retry;
	unsigned int retry_s;	/* until the next attempt */
	TAILQ_HEAD(, follower) list;
	LIST_HEAD(, cgroup_tree) cgroup_trees;
	TAILQ_HEAD(, followers_retry) retries;
	struct whole_host *whole_host;	/* of whole_host.c, NULL: not registered */
	struct coverage_watch *coverage;	/* NULL until agent/coverage/ sets it */
};

/*
 * Embedded in an object that registers entries without a follower, and retries when followers do.
 */
struct followers_retry {
	TAILQ_ENTRY(followers_retry) link;
	void (*retry)(struct followers_retry *retry);
	/* True while an object is missing for a reason that can pass. */
	bool (*is_needed)(const struct followers_retry *retry);
};

/* The operations of a kind of followers. */
struct follower_operations {
	/* Frees a follower that is no longer in the list. */
	void (*free)(struct follower *follower);
	/* After some were unregistered; NULL if nothing is to be done. */
	void (*unregistered)(struct followers *followers);
	/*
	 * Some objects are missing for a reason that can pass: tries to register them
	 * again.  Objects without a place are forgotten already, so all objects are to be
	 * looked for; no batch has begun.
	 */
	void (*retry)(struct follower *follower);
};

/* Embedded in the object that implements the operations. */
struct follower {
	TAILQ_ENTRY(follower) link;
	const struct follower_operations *operations;
	struct followers *followers;
	const struct source *source;
	uint32_t gather_ms;	/* as in struct selector_key */
	bool is_deferrable; /* as in struct selector_choice */
	struct entry_group group;
	struct coverage_tally tally;	/* of the objects that it sees */
	bool is_incomplete;	/* the log says that an object is left out */
	bool tells_lacking; /* the log says that an object lacks the values of the source */
	bool looks_again; /* with the next retry: after a record has gone, or a failed look */
	bool is_whole;	/* all objects of the kind are followed */
};

#define entry_group__follower(member) \
	((struct follower *)((char *)(member)-offsetof(struct follower, group)))

int followers__open(struct followers *followers, struct registry *registry,
		    const struct region *region, struct file_watches *file_watches,
		    const struct changes *changes, sd_event *loop, struct dart_error *error);
/* Before the registry. */
void followers__close(struct followers *followers);

/*
 * Initializes @follower and adds it; on error it is the caller's.  @choice says how it
 * gathers.  @path is that of the cgroup at the top, NULL if all objects of the kind are
 * followed.
 */
int followers__add(struct followers *followers, struct follower *follower,
		   const struct follower_operations *operations, const struct source *source,
		   const struct selector_choice *choice, const char *path,
		   struct dart_error *error);
/* Arms the retry timer for the missing objects. */
void followers__retry_later(struct followers *followers);
/* The follower could not learn which objects exist: it looks again with the next retry. */
void follower__look_again(struct follower *follower);
/*
 * The module has reported that the object of a record is gone.  A file system may be mounted again
 * by then, and no event of the mounts will follow: its followers look again with the next retry,
 * in two seconds unless other objects are missing, too.
 */
void followers__record_gone(struct followers *followers);
/* Frees a follower that has no entries. */
void followers__drop(struct followers *followers, struct follower *follower);
/* The followed object no longer exists, nor does any object below it. */
void follower__ended(struct follower *follower);

/*
 * Registers the object @name of @place, as part of a batch that follower__end() ends,
 * and moves @place to the result.  An object that cannot be registered is left out
 * until the next attempt; one that has ended does not count.
 */
void follower__register(struct follower *follower, struct selector *selector,
			struct coverage_place *place, const char *name);
/*
 * The object @name is left out.  @place: NULL if the follower remembers nothing about it; else
 * @name stays valid until follower__forget().  The log names the first object of each follower.
 */
void follower__fail(struct follower *follower, struct coverage_place *place,
		    enum coverage_reason reason, const char *name, const struct dart_error *error);
/* The object has ended.  Call this before @place is freed. */
void follower__forget(struct follower *follower, struct coverage_place *place);

/*
 * A batch of changes of one follower, which may be part of another batch.  If the end of
 * the outermost one fails, the objects that were registered are missing.
 */
void follower__begin(struct follower *follower);
/* Ends it, whose changes returned @ret: as registry__end_with(). */
int follower__end_with(struct follower *follower, int ret, struct dart_error *error);
/* The same for a batch that no client asked for; errors are logged. */
void follower__end_or_log(struct follower *follower);

/*
 * The requests about followers, which are their subject; requests about groups of entries serve
 * them, too.
 */
extern const struct request_type follow_requests[];

#endif /* FOLLOWER_H */

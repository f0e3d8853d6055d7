/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches the directories of cgroups: an inotify instance for each class, so that the events of
 * users' cgroups never displace events of root's.  When the kernel has dropped events of a class, all its
 * cgroups are compared again, at most every two seconds.
 */
#ifndef CGROUP_EVENTS_H
#define CGROUP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "cgroup_set.h"

struct cgroup_events;

/* The owner's; @events is a member of it. */
struct cgroup_events_handlers {
	/* Around all events that are read at once. */
	void (*begin)(struct cgroup_events *events);
	void (*end)(struct cgroup_events *events);
	/* A directory @name was created in @parent, or removed. */
	void (*child)(struct cgroup_events *events, struct cgroup *parent, const char *name,
		      bool is_created);
	/* The owner or mode of @cgroup has changed; @is_to_scan: perhaps its children, too. */
	void (*changed)(struct cgroup_events *events, struct cgroup *cgroup, bool is_to_scan);
};

struct cgroup_instance {
	struct cgroup_events *events;
	int fd;			/* -1: not open */
	sd_event_source *source;
	bool are_lost;		/* compare everything again */
};

struct cgroup_events {
	const struct cgroup_events_handlers *handlers;
	struct cgroup_set *set;
	sd_event *loop;
	struct cgroup_instance instances[CGROUP_CLASSES];
	sd_event_source *resync;
	int64_t resynced;	/* ns, CLOCK_MONOTONIC */
};

/* @set outlives the events.  Returns 0 or -errno; in both cases cgroup_events__close() cleans up. */
int cgroup_events__open(struct cgroup_events *events, sd_event *loop, struct cgroup_set *set,
			const struct cgroup_events_handlers *handlers);
void cgroup_events__close(struct cgroup_events *events);

/*
 * To call before looking for children, so that a child created in between is seen twice
 * rather than never.  @fd: of the directory.
 */
int cgroup_events__watch(struct cgroup_events *events, struct cgroup *cgroup, int fd,
			 struct dart_error *error);
void cgroup_events__unwatch(struct cgroup_events *events, struct cgroup *cgroup);

#endif /* CGROUP_EVENTS_H */

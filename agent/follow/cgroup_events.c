// SPDX-License-Identifier: GPL-2.0-only
/* Reads the inotify events of cgroups. */
#include <string.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/inotify.h"
#include "agent/base/loop_timer.h"
#include "cgroup_events.h"

/* All cgroups of a class are compared again at most this often. */
#define RESYNC_NS (2 * INT64_C(1000000000))

static void cgroup_events__lose(struct cgroup_instance *instance)
{
	struct cgroup_events *events = instance->events;
	int64_t due = events->resynced ? events->resynced + RESYNC_NS : 0;

	if (instance->are_lost)
		return;
	instance->are_lost = true;
	sd_event_source_set_time(events->resync, due / 1000);
	sd_event_source_set_enabled(events->resync, SD_EVENT_ONESHOT);
}

static void on_inotify_event(const struct inotify_event *event, void *userdata)
{
	struct cgroup_instance *instance = userdata;
	struct cgroup_events *events = instance->events;
	struct cgroup *cgroup;

	if (event->mask & IN_Q_OVERFLOW) {
		cgroup_events__lose(instance);
		return;
	}
	cgroup = event->mask & IN_ISDIR ?
			 cgroup_set__find_watch(events->set, instance - events->instances,
						event->wd) :
			 NULL;
	if (!cgroup)
		return;
	if (event->mask & (IN_CREATE | IN_DELETE))
		events->handlers->child(events, cgroup, event->name, event->mask & IN_CREATE);
	else if (event->mask & IN_ATTRIB && !event->len)
		events->handlers->changed(events, cgroup, false);
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct cgroup_instance *instance = userdata;
	struct cgroup_events *events = instance->events;

	events->handlers->begin(events);
	inotify__read(fd, on_inotify_event, instance);
	events->handlers->end(events);
	return 0;
}

static int on_resync(sd_event_source *source, uint64_t time, void *userdata)
{
	struct cgroup_events *events = userdata;
	struct cgroup *top = events->set->top, *cgroup;
	int class;

	events->resynced = dart_clock__ns(CLOCK_MONOTONIC);
	for (cgroup = top; cgroup; cgroup = cgroup__next(cgroup, top))
		if (events->instances[cgroup__class(cgroup)].are_lost)
			events->handlers->changed(events, cgroup, true);
	for (class = 0; class < CGROUP_CLASSES; class++)
		events->instances[class].are_lost = false;
	return 0;
}

int cgroup_events__open(struct cgroup_events *events, sd_event *loop, struct cgroup_set *set,
			const struct cgroup_events_handlers *handlers)
{
	int class;

	*events = (struct cgroup_events){
		.handlers = handlers,
		.set = set,
		.loop = loop,
	};
	for (class = 0; class < CGROUP_CLASSES; class++) {
		events->instances[class].events = events;
		events->instances[class].fd = -1;
	}
	return loop_timer__add(loop, &events->resync, CLOCK_MONOTONIC, on_resync, events);
}

void cgroup_events__close(struct cgroup_events *events)
{
	int class;

	for (class = 0; class < CGROUP_CLASSES; class++) {
		sd_event_source_disable_unref(events->instances[class].source);
		if (events->instances[class].fd >= 0)
			close(events->instances[class].fd);
	}
	sd_event_source_disable_unref(events->resync);
}

int cgroup_events__watch(struct cgroup_events *events, struct cgroup *cgroup,
			 int fd, struct dart_error *error)
{
	const enum cgroup_class class = cgroup__class(cgroup);
	struct cgroup_instance *instance = &events->instances[class];
	int wd, ret;

	if (instance->fd < 0) {
		ret = inotify__open(&instance->fd, &instance->source,
				    events->loop, on_event, instance, error);
		if (ret)
			return ret;
	}
	wd = inotify__add(instance->fd, fd, IN_CREATE | IN_DELETE | IN_ATTRIB | IN_ONLYDIR);
	if (wd < 0)
		return dart_error__set(error, -wd, "cannot watch a cgroup: %s%s", strerror(-wd),
				       inotify__remedy(-wd));
	if (!cgroup_set__watch(events->set, cgroup, class, wd))
		return 0;
	inotify_rm_watch(instance->fd, wd);
	return dart_error__no_memory(error);
}

void cgroup_events__unwatch(struct cgroup_events *events, struct cgroup *cgroup)
{
	if (!cgroup->is_watched)
		return;
	/* Fails if the directory was removed, and the watch with it. */
	inotify_rm_watch(events->instances[cgroup->watch_class].fd, cgroup->wd);
	cgroup_set__unwatch(events->set, cgroup);
}

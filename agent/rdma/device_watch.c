// SPDX-License-Identifier: GPL-2.0-only
/* Watches the files of RDMA devices with inotify: see device_watch.h. */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agent/base/inotify.h"
#include "device_watch.h"

#define PARENT "/dev"
#define FOLDER "infiniband"

/* udev changes the mode of a new file. */
#define MASK (IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO)

/* Watches the folder, or its parent until the folder exists. */
static int device_watch__find(struct device_watch *watch)
{
	watch->folder = inotify_add_watch(watch->fd, PARENT "/" FOLDER, MASK | IN_ONLYDIR);
	if (watch->folder >= 0) {
		if (watch->parent >= 0)
			inotify_rm_watch(watch->fd, watch->parent);
		watch->parent = -1;
		return 0;
	}
	if (watch->parent < 0)
		watch->parent = inotify_add_watch(watch->fd, PARENT, IN_CREATE | IN_MOVED_TO);
	if (watch->parent < 0)
		return -errno;
	/* The folder may have appeared before the parent was watched. */
	watch->folder = inotify_add_watch(watch->fd, PARENT "/" FOLDER, MASK | IN_ONLYDIR);
	return 0;
}

static void take(const struct inotify_event *event, void *userdata)
{
	struct device_watch *watch = userdata;
	const char *gone = NULL;

	if (event->wd >= 0 && event->wd == watch->folder) {
		if (event->mask & (IN_DELETE | IN_MOVED_FROM))
			gone = event->name;
		if (event->mask & IN_IGNORED)
			watch->folder = -1;
	} else if (event->wd >= 0 &&
		   (event->wd != watch->parent || !event->len || strcmp(event->name, FOLDER))) {
		return;
	}
	if (watch->folder < 0)
		device_watch__find(watch);
	watch->changed(watch->subject, gone);
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	inotify__read(fd, take, userdata);
	return 0;
}

int device_watch__open(struct device_watch *watch, sd_event *loop,
		       void (*changed)(void *subject, const char *node),
		       void *subject, struct dart_error *error)
{
	int ret;

	*watch = (struct device_watch){ .folder = -1,
					.parent = -1,
					.changed = changed,
					.subject = subject };
	ret = inotify__open(&watch->fd, &watch->events, loop, on_event, watch,
			    error);
	if (ret)
		return ret;
	/* Handle a removal before requests that would use the removed device. */
	sd_event_source_set_priority(watch->events, SD_EVENT_PRIORITY_IMPORTANT);
	ret = device_watch__find(watch);
	if (!ret)
		return 0;
	device_watch__close(watch);
	return dart_error__set(error, -ret, "cannot watch " PARENT ": %s%s",
			       strerror(-ret), inotify__remedy(-ret));
}

void device_watch__close(struct device_watch *watch)
{
	sd_event_source_disable_unref(watch->events);
	if (watch->fd >= 0)
		close(watch->fd);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells that RDMA devices appear and go, by their files in /dev/infiniband: the kernel
 * removes the file of a device before it waits for the processes that have it open.
 */
#ifndef DEVICE_WATCH_H
#define DEVICE_WATCH_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

struct device_watch {
	sd_event_source *events;
	int fd;
	int folder;	/* watch descriptor of /dev/infiniband; -1 if it does not exist */
	int parent;	/* watch descriptor of /dev meanwhile; -1: not watched */
	/*
	 * The file @node of /dev/infiniband was removed; or, with NULL, a file may be new, or may
	 * have become accessible.
	 */
	void (*changed)(void *subject, const char *node);
	void *subject;
};

int device_watch__open(struct device_watch *watch, sd_event *loop,
		       void (*changed)(void *subject, const char *node),
		       void *subject, struct dart_error *error);
void device_watch__close(struct device_watch *watch);

#endif /* DEVICE_WATCH_H */

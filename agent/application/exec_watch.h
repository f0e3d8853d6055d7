/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hears of each program that is executed on the host, over the process connector of the kernel
 * (netlink), which needs CAP_NET_ADMIN.
 */
#ifndef APPLICATION_EXEC_WATCH_H
#define APPLICATION_EXEC_WATCH_H

#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

struct exec_watch {
	int fd; /* -1: closed */
	sd_event_source *events;
	void (*on_exec)(void *userdata, pid_t pid);
	void (*on_lost)(void *userdata); /* some were not reported */
	void *userdata;
};

/* Sets up a watch that is closed. */
void exec_watch__init(struct exec_watch *watch, void (*on_exec)(void *userdata, pid_t pid),
		      void (*on_lost)(void *userdata), void *userdata);
int exec_watch__open(struct exec_watch *watch, sd_event *loop, struct dart_error *error);
/* Does nothing if it is closed. */
void exec_watch__close(struct exec_watch *watch);

#endif /* APPLICATION_EXEC_WATCH_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports that CPUs went online or offline. */
#ifndef CPU_WATCH_H
#define CPU_WATCH_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

struct cpu_watch {
	int fd;
	sd_event_source *events;
	void (*on_change)(void *userdata);
	void *userdata;
};

/* Calls @on_change from the event loop after CPUs changed. */
int cpu_watch__open(struct cpu_watch *watch, sd_event *loop, void (*on_change)(void *userdata),
		    void *userdata, struct dart_error *error);
/* @watch may be all 0: not opened. */
void cpu_watch__close(struct cpu_watch *watch);

#endif /* CPU_WATCH_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells when CLOCK_REALTIME was set: by NTP, at a leap second, or by hand. */
#ifndef CLOCK_WATCH_H
#define CLOCK_WATCH_H

#include <stdint.h>

#include <systemd/sd-event.h>

#include <libdart/error.h>

/* Smaller steps are not reported: a daemon that corrects the clock makes them. */
#define CLOCK_WATCH_STEP_NS 10000000LL

struct clock_watch {
	int fd;			/* a timerfd that never expires, and is cancelled by a step */
	sd_event_source *events;
	int64_t offset_ns;	/* CLOCK_REALTIME - CLOCK_BOOTTIME at the last report */
	void (*on_set)(void *userdata);
	void *userdata;
};

/* Calls @on_set from the event loop after the clock was set.  Nothing runs before. */
int clock_watch__open(struct clock_watch *watch, sd_event *loop, void (*on_set)(void *userdata),
		      void *userdata, struct dart_error *error);
/* Accepts one that was not opened. */
void clock_watch__close(struct clock_watch *watch);

#endif /* CLOCK_WATCH_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Timers of the event loop that fire once for each start. */
#ifndef LOOP_TIMER_H
#define LOOP_TIMER_H

#include <systemd/sd-event.h>

/* Adds a timer that is off.  Returns 0 or -errno; the caller frees *@timer in both cases. */
static inline int loop_timer__add(sd_event *loop, sd_event_source **timer, clockid_t clock,
				  sd_event_time_handler_t handler, void *userdata)
{
	int ret = sd_event_add_time(loop, timer, clock, 0, 0, handler, userdata);

	return ret < 0 ? ret : sd_event_source_set_enabled(*timer, SD_EVENT_OFF);
}

/* Lets the timer fire @us from now, instead of a time set before.  Returns 0 or -errno. */
static inline int loop_timer__start(sd_event_source *timer, uint64_t us)
{
	int ret = sd_event_source_set_time_relative(timer, us);

	return ret < 0 ? ret : sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

#endif /* LOOP_TIMER_H */

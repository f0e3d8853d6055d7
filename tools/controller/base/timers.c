// SPDX-License-Identifier: GPL-2.0-only
/* A timing wheel and handlers: see timers.h. */
#include "timers.h"

#include <errno.h>
#include <stdlib.h>

#include "schedule.h"

/* Number of handlers that run before the thread looks at other events again. */
#define BATCH 64
/* Of these, whose memory is asked for together: all of it fits a cache of the first level. */
#define AHEAD 16

struct timers {
	struct wheel wheel;
	sd_event_source *source; /* NULL: the thread calls timers__run() */
	uint64_t armed_ns; /* when the source will run; UINT64_MAX: not armed */
};

/* Moves the source only to an earlier time: if it runs too early, no timer expires. */
static void timers__arm(struct timers *timers)
{
	uint64_t next_ns;

	if (!timers->source)
		return;
	next_ns = wheel__next_ns(&timers->wheel);
	if (next_ns >= timers->armed_ns)
		return;
	timers->armed_ns = next_ns;
	sd_event_source_set_time(timers->source, (next_ns + 999) / 1000);
	sd_event_source_set_enabled(timers->source, SD_EVENT_ONESHOT);
}

uint64_t timers__next_ns(const struct timers *timers)
{
	return wheel__next_ns(&timers->wheel);
}

/* Asks for the memory of the timers that expire next. */
static void timers__ask_ahead(const struct timers *timers)
{
	struct wheel_timer *next[AHEAD];
	const unsigned int count = wheel__expired(&timers->wheel, next, AHEAD);
	const struct timer *timer;
	unsigned int step, i;

	for (step = 0; step < TIMER_STEPS; step++) {
		for (i = 0; i < count; i++) {
			timer = (const struct timer *)next[i];
			if (timer->ahead)
				timer->ahead(timer->data, step);
		}
	}
}

void timers__run(struct timers *timers, uint64_t now_ns)
{
	struct wheel_timer *entry;
	struct timer *timer;

	wheel__advance(&timers->wheel, now_ns);
	for (int i = 0; i < BATCH; i++) {
		if (i % AHEAD == 0)
			timers__ask_ahead(timers);
		entry = wheel__take(&timers->wheel);
		if (!entry)
			break;
		timer = (struct timer *)entry;
		timer->expired(timer->data);
	}
}

static int on_time(sd_event_source *source, uint64_t usec, void *data)
{
	struct timers *timers = data;

	/* Handlers may set timers, and should not arm the source for each: it is armed below. */
	timers->armed_ns = 0;
	timers__run(timers, monotonic_ns());
	timers->armed_ns = UINT64_MAX;
	timers__arm(timers);
	return 0;
}

static int timers__add_source(struct timers *timers, sd_event *event)
{
	int err;

	/* An accuracy of 1 us, because the default of 250 ms is too coarse. */
	err = sd_event_add_time(event, &timers->source, CLOCK_MONOTONIC, 0, 1, on_time, timers);
	if (err >= 0)
		err = sd_event_source_set_enabled(timers->source, SD_EVENT_OFF);
	return err < 0 ? err : 0;
}

int timers__new(sd_event *event, struct timers **timersp)
{
	struct timers *timers = calloc(1, sizeof(*timers));
	int err = 0;

	if (!timers)
		return -ENOMEM;
	if (event)
		err = timers__add_source(timers, event);
	if (err) {
		timers__free(timers);
		return err;
	}
	wheel__init(&timers->wheel, monotonic_ns());
	timers->armed_ns = UINT64_MAX;
	*timersp = timers;
	return 0;
}

void timers__free(struct timers *timers)
{
	if (!timers)
		return;
	sd_event_source_disable_unref(timers->source);
	free(timers);
}

void timer__init(struct timer *timer, struct timers *timers, void (*expired)(void *data),
		 void *data)
{
	*timer = (struct timer){
		.timers = timers,
		.expired = expired,
		.data = data,
	};
}

void timer__set_at(struct timer *timer, uint64_t due_ns)
{
	struct timers *timers = timer->timers;

	/* An empty wheel is not advanced, so the time of the wheel may be long past. */
	if (wheel__is_empty(&timers->wheel))
		wheel__advance(&timers->wheel, monotonic_ns());
	wheel__set(&timers->wheel, &timer->entry, due_ns);
	timers__arm(timers);
}

void timer__set(struct timer *timer, uint64_t delay_us)
{
	timer__set_at(timer, monotonic_ns() + delay_us * 1000);
}

void timer__stop(struct timer *timer)
{
	if (timer->timers)
		wheel__cancel(&timer->timers->wheel, &timer->entry);
}

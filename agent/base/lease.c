// SPDX-License-Identifier: GPL-2.0-only
/* Ends leases in order, with one timer. */
#include <libdart/clock.h>

#include "lease.h"
#include "loop_timer.h"

/* Leases that end in one turn of the loop: each can free memory of the kernel. */
#define TURN 256

/* More than sd-event's timers are late for lack of precision, 250 ms. */
#define LATE_US 500000

static uint64_t now_us(void)
{
	return dart_clock__ns(CLOCK_BOOTTIME) / 1000;
}

static void leases__arm(struct leases *leases)
{
	const struct lease *next = TAILQ_FIRST(&leases->queue);

	if (!next) {
		sd_event_source_set_enabled(leases->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(leases->timer, next->deadline);
	sd_event_source_set_enabled(leases->timer, SD_EVENT_ONESHOT);
}

static void leases__end_first(struct leases *leases)
{
	struct lease *lease = TAILQ_FIRST(&leases->queue);

	TAILQ_REMOVE(&leases->queue, lease, link);
	lease->end(lease);
}

static int on_timer(sd_event_source *source, uint64_t time, void *userdata)
{
	struct leases *leases = userdata;
	uint64_t now = now_us();
	unsigned int ended = 0;

	while (!TAILQ_EMPTY(&leases->queue) && ended++ < TURN &&
	       TAILQ_FIRST(&leases->queue)->deadline <= now)
		leases__end_first(leases);
	leases__arm(leases);
	return 0;
}

int leases__open(struct leases *leases, sd_event *loop)
{
	TAILQ_INIT(&leases->queue);
	return loop_timer__add(loop, &leases->timer, CLOCK_BOOTTIME, on_timer, leases);
}

void leases__close(struct leases *leases)
{
	while (!TAILQ_EMPTY(&leases->queue))
		leases__end_first(leases);
	sd_event_source_disable_unref(leases->timer);
}

uint32_t leases__count(const struct leases *leases)
{
	const struct lease *lease;
	uint32_t count = 0;

	TAILQ_FOREACH(lease, &leases->queue, link)
		count++;
	return count;
}

/* All leases have the same length, so the queue stays sorted. */
void lease__start(struct leases *leases, struct lease *lease, void (*end)(struct lease *lease))
{
	lease->end = end;
	lease->deadline = now_us() + LEASE_MS * 1000;
	TAILQ_INSERT_TAIL(&leases->queue, lease, link);
	leases__arm(leases);
}

void lease__cancel(struct leases *leases, struct lease *lease)
{
	TAILQ_REMOVE(&leases->queue, lease, link);
	leases__arm(leases);
}

bool lease__is_late(const struct lease *lease)
{
	return now_us() > lease->deadline + LATE_US;
}

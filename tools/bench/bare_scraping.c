// SPDX-License-Identifier: GPL-2.0-only
/* A thread that only sleeps, touches memory and wakes another: see bare_scraping.h. */
#include "bare_scraping.h"

#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <libdart/prefetch.h>

#include "tools/controller/base/schedule.h"

/* Lines of the cache that an I/O thread needs for a scrape, by callgrind. */
#define STATE_BYTES (90 * DART_CACHE_LINE)
/* Targets whose memory is asked for at a time. */
#define AHEAD 16
/* Lies between two targets that are due together, so that no processor guesses the next one. */
#define STRIDE 7919

struct bare {
	uint32_t targets;
	uint64_t interval_ns, duration_ns;
	uint8_t *states; /* STATE_BYTES of each target */
	int wake; /* eventfd: how many were scraped */
	atomic_bool has_ended; /* the thread that scrapes */
	double ns; /* of all scrapes */
	uint64_t scrapes;
};

/* The memory of the target of a scrape, by the number of the scrape. */
static uint8_t *bare__state(const struct bare *bare, uint64_t scrape)
{
	return bare->states + scrape * STRIDE % bare->targets * STATE_BYTES;
}

static void bare__scrape(struct bare *bare, uint64_t first, uint64_t count)
{
	uint64_t i, ahead;
	size_t line;
	uint8_t *state;

	for (i = 0; i < count; i++) {
		for (ahead = i; i % AHEAD == 0 && ahead < i + AHEAD && ahead < count; ahead++)
			dart_prefetch(bare__state(bare, first + ahead), STATE_BYTES);
		state = bare__state(bare, first + i);
		for (line = 0; line < STATE_BYTES; line += DART_CACHE_LINE)
			state[line]++;
	}
}

static void *bare__run_io(void *data)
{
	struct bare *bare = data;
	const uint64_t slot_ns = schedule__slot_ns(bare->interval_ns);
	const uint64_t begun_ns = monotonic_ns(), end_ns = begun_ns + bare->duration_ns;
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	uint64_t next_ns = begun_ns, now_ns = begun_ns, due;
	struct timespec timeout = {};
	struct epoll_event event;

	if (epoll < 0)
		err(EXIT_FAILURE, "epoll");
	prctl(PR_SET_TIMERSLACK, 1UL);
	bare->ns = -(double)dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
	for (; now_ns < end_ns; now_ns = monotonic_ns()) {
		if (now_ns < next_ns) {
			timeout.tv_nsec = next_ns - now_ns;
			epoll_pwait2(epoll, &event, 1, &timeout, NULL);
			continue;
		}
		next_ns += slot_ns;
		due = (double)(now_ns - begun_ns) / bare->interval_ns * bare->targets;
		if (due == bare->scrapes)
			continue;
		bare__scrape(bare, bare->scrapes, due - bare->scrapes);
		eventfd_write(bare->wake, due - bare->scrapes);
		bare->scrapes = due;
	}
	bare->ns += dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
	atomic_store(&bare->has_ended, true);
	eventfd_write(bare->wake, 1);
	close(epoll);
	return NULL;
}

/* Is woken as a worker is. */
static void *bare__run_worker(void *data)
{
	struct bare *bare = data;
	eventfd_t count;

	while (!atomic_load(&bare->has_ended) && !eventfd_read(bare->wake, &count))
		;
	return NULL;
}

double bare_scraping__run(uint32_t targets, uint64_t interval_ns, uint64_t duration_ns)
{
	struct bare bare = {
		.targets = targets,
		.interval_ns = interval_ns,
		.duration_ns = duration_ns,
		.states = aligned_alloc(DART_CACHE_LINE, (size_t)targets * STATE_BYTES),
		.wake = eventfd(0, EFD_CLOEXEC),
	};
	pthread_t io, worker;

	if (!bare.states)
		err(EXIT_FAILURE, "memory");
	memset(bare.states, 1, (size_t)targets * STATE_BYTES);
	if (bare.wake < 0 || pthread_create(&worker, NULL, bare__run_worker, &bare) ||
	    pthread_create(&io, NULL, bare__run_io, &bare))
		errx(EXIT_FAILURE, "the threads of the bound do not start");
	pthread_join(io, NULL);
	pthread_join(worker, NULL);
	close(bare.wake);
	free(bare.states);
	return bare.ns / (bare.scrapes ?: 1);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Two threads that only sleep and touch memory: see bare_scraping.h. */
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

#include "gathered_hosts.h"
#include "tools/controller/base/schedule.h"

/* Lines of the cache that an I/O thread needs for a scrape, by callgrind. */
#define IO_BYTES (90 * DART_CACHE_LINE)
/* Targets whose memory is asked for at a time, and bytes of their landings and copies. */
#define AHEAD 16
#define AHEAD_BYTES (4 * DART_CACHE_LINE)
/* Lies between two targets that are due together, so that no processor guesses the next one. */
#define STRIDE 7919

struct bare {
	uint32_t targets;
	uint64_t interval_ns, duration_ns;
	uint8_t *state; /* IO_BYTES of each target */
	uint8_t *landings, *copies; /* GATHERED_VALUES of each, two copies */
	int wake; /* eventfd: how many were scraped */
	atomic_bool has_ended; /* the thread that scrapes */
	double io_ns, worker_ns; /* of all */
	uint64_t scrapes;
};

static double cpu_ns(void)
{
	return dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint8_t *bare__allocate(uint32_t targets, size_t size)
{
	uint8_t *memory = aligned_alloc(4096, targets * ((size + 4095) / 4096 * 4096));

	if (!memory)
		err(EXIT_FAILURE, "memory");
	memset(memory, 1, targets * size);
	return memory;
}

/* The target of a scrape, by the number of the scrape. */
static size_t bare__target(const struct bare *bare, uint64_t scrape)
{
	return scrape * STRIDE % bare->targets;
}

static void bare__scrape(struct bare *bare, uint64_t first, uint64_t count)
{
	uint64_t i, ahead;
	size_t line;
	uint8_t *state;

	for (i = 0; i < count; i++) {
		for (ahead = i; i % AHEAD == 0 && ahead < i + AHEAD && ahead < count; ahead++)
			dart_prefetch(bare->state + bare__target(bare, first + ahead) * IO_BYTES,
				      IO_BYTES);
		state = bare->state + bare__target(bare, first + i) * IO_BYTES;
		for (line = 0; line < IO_BYTES; line += DART_CACHE_LINE)
			state[line]++;
	}
}

/* The work of an adapter, which is not the thread's: a worker finds what landed in a cache. */
static void bare__land(struct bare *bare, uint64_t first, uint64_t count)
{
	bare->io_ns += cpu_ns();
	for (; count; count--, first++)
		memset(bare->landings + bare__target(bare, first) * GATHERED_VALUES, first,
		       GATHERED_VALUES);
	bare->io_ns -= cpu_ns();
}

static void *bare__run_io(void *data)
{
	struct bare *bare = data;
	const uint64_t share_ns = bare->interval_ns / SCHEDULE_SLOTS_MIN;
	const uint64_t slot_ns = share_ns < SCHEDULE_SLOT_MAX_NS ? share_ns : SCHEDULE_SLOT_MAX_NS;
	const uint64_t begun_ns = monotonic_ns(), end_ns = begun_ns + bare->duration_ns;
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	uint64_t next_ns = begun_ns, now_ns = begun_ns, due;
	struct timespec timeout = {};
	struct epoll_event event;

	if (epoll < 0)
		err(EXIT_FAILURE, "epoll");
	prctl(PR_SET_TIMERSLACK, 1UL);
	bare->io_ns = -cpu_ns();
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
		bare__land(bare, bare->scrapes, due - bare->scrapes);
		eventfd_write(bare->wake, due - bare->scrapes);
		bare->scrapes = due;
	}
	bare->io_ns += cpu_ns();
	atomic_store(&bare->has_ended, true);
	eventfd_write(bare->wake, 1);
	close(epoll);
	return NULL;
}

static uint8_t *bare__copies(const struct bare *bare, size_t target)
{
	return bare->copies + target * 2 * GATHERED_VALUES;
}

/* Of the scrapes below @until, up to AHEAD. */
static void bare__ask_ahead(const struct bare *bare, uint64_t scrape, uint64_t until)
{
	const uint64_t end = until - scrape < AHEAD ? until : scrape + AHEAD;
	size_t target;

	for (; scrape < end; scrape++) {
		target = bare__target(bare, scrape);
		dart_prefetch(bare->landings + target * GATHERED_VALUES, AHEAD_BYTES);
		dart_prefetch(bare__copies(bare, target), AHEAD_BYTES);
		dart_prefetch(bare__copies(bare, target) + GATHERED_VALUES, AHEAD_BYTES);
	}
}

/* Copies what landed, and compares it with the copy before. */
static uint64_t bare__decode(struct bare *bare, uint64_t scrape)
{
	const size_t target = bare__target(bare, scrape);
	uint8_t *copies = bare__copies(bare, target);
	const unsigned int turn = scrape / bare->targets % 2;
	const uint64_t *now = (const uint64_t *)(copies + turn * GATHERED_VALUES);
	const uint64_t *before = (const uint64_t *)(copies + !turn * GATHERED_VALUES);
	uint64_t sum = 0;
	size_t i;

	memcpy(copies + turn * GATHERED_VALUES, bare->landings + target * GATHERED_VALUES,
	       GATHERED_VALUES);
	for (i = 0; i < GATHERED_VALUES / sizeof(*now); i++)
		sum += now[i] - before[i];
	return sum;
}

static void *bare__run_worker(void *data)
{
	struct bare *bare = data;
	uint64_t first, done = 0, until = 0, sum = 0;
	eventfd_t count;

	bare->worker_ns = -cpu_ns();
	while (!atomic_load(&bare->has_ended) && !eventfd_read(bare->wake, &count))
		for (first = done, until += count; done < until; done++) {
			if ((done - first) % AHEAD == 0)
				bare__ask_ahead(bare, done, until);
			sum += bare__decode(bare, done);
		}
	bare->worker_ns += cpu_ns();
	__asm__ volatile("" : : "r"(sum));
	return NULL;
}

void bare_scraping__run(uint32_t targets, uint64_t interval_ns, uint64_t duration_ns,
			struct bare_scraping *result)
{
	struct bare bare = {
		.targets = targets,
		.interval_ns = interval_ns,
		.duration_ns = duration_ns,
		.state = bare__allocate(targets, IO_BYTES),
		.landings = bare__allocate(targets, GATHERED_VALUES),
		.copies = bare__allocate(targets, 2 * GATHERED_VALUES),
		.wake = eventfd(0, EFD_CLOEXEC),
	};
	pthread_t io, worker;

	if (bare.wake < 0 || pthread_create(&worker, NULL, bare__run_worker, &bare) ||
	    pthread_create(&io, NULL, bare__run_io, &bare))
		errx(EXIT_FAILURE, "the threads of the bound do not start");
	pthread_join(io, NULL);
	pthread_join(worker, NULL);
	*result = (struct bare_scraping){
		.io_ns = bare.io_ns / (bare.scrapes ?: 1),
		.worker_ns = bare.worker_ns / (bare.scrapes ?: 1),
	};
	close(bare.wake);
	free(bare.copies);
	free(bare.landings);
	free(bare.state);
}

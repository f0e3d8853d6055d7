// SPDX-License-Identifier: GPL-2.0-only
/*
 * scrape_speed [--targets N] [--interval TIME] [--duration SECONDS] [--io event|poll]
 *	[--io-threads N] [--workers N]: the cost of a scrape of 8 KiB for the threads of the
 * controller, without a network, compared with memcpy() of the same bytes, and with threads that
 * sleep as often and wait for as much memory.  Prints JSON.
 *
 * All times are CPU time, as the machine may run other programs and may have fewer CPUs than
 * there are threads.  Targets are due when dart-controller makes them due.  By default the interval
 * is the shortest, from that of the goal on, at which the workers keep up: a dropped scrape would
 * cost less.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/settings/quantity.h>

#include "bare_scraping.h"
#include "gathered_hosts.h"
#include "scraping.h"
#include "tools/controller/base/wheel.h"
#include "tools/controller/decode/ring.h"

#define GOAL 200000 /* scrapes a second */
#define TARGETS_MAX 10000
#define CHECK_EVERY 1000 /* samples */
/* Each interval is twice as long as the one before. */
#define ATTEMPTS 7
/* The greatest share of scrapes that may be dropped or missed. */
#define LOSSES_MAX 0.01
#define COPIED_BYTES (2ULL << 30)
#define BARE_NS 4000000000ULL /* of a run of a bare thread, one before and one after */

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

/* ---- the bound */

static uint8_t *allocate(size_t size)
{
	uint8_t *memory = aligned_alloc(4096, size);

	if (!memory)
		err(EXIT_FAILURE, "memory");
	memset(memory, 1, size);
	return memory;
}

/* CPU time of a copy of one host's values, averaged over copies that land like scrapes. */
static double measure_copy(uint32_t targets)
{
	uint8_t *from = allocate((size_t)targets * GATHERED_VALUES);
	uint8_t *to = allocate((size_t)targets * RING_SLOTS * GATHERED_VALUES);
	const uint64_t copies = COPIED_BYTES / GATHERED_VALUES;
	const double start_ns = cpu_ns();
	uint64_t i, target, slot;
	double ns;

	for (i = 0; i < copies; i++) {
		target = i % targets;
		slot = i / targets % RING_SLOTS;
		memcpy(to + (target * RING_SLOTS + slot) * GATHERED_VALUES,
		       from + target * GATHERED_VALUES, GATHERED_VALUES);
		/* Somebody may look at it. */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	ns = (cpu_ns() - start_ns) / copies;
	free(from);
	free(to);
	return ns;
}

/* ---- runs */

static bool keeps_up(const struct scraping_span *span)
{
	return span->dropped + span->missed <= LOSSES_MAX * span->scrapes;
}

static void run(struct scraping_settings *settings, bool is_given, struct scraping_result *result)
{
	const char *fault;
	int i;

	for (i = 0; i < ATTEMPTS; i++) {
		fprintf(stderr, "scrape_speed: %u targets every %.1f ms: %.0f scrapes a second\n",
			settings->targets, settings->interval_ns / 1e6,
			settings->targets * 1e9 / settings->interval_ns);
		scraping__run(settings, result);
		fault = scraping_result__fault(result);
		if (fault)
			errx(EXIT_FAILURE, "%s", fault);
		if (is_given || keeps_up(&result->span))
			return;
		fprintf(stderr,
			"scrape_speed: %" PRIu64 " dropped and %" PRIu64 " missed of %" PRIu64
			": half as many\n",
			result->span.dropped, result->span.missed, result->span.scrapes);
		settings->interval_ns *= 2;
	}
	errx(EXIT_FAILURE, "the machine has no time for this (--interval sets one)");
}

static double per_second(double ns)
{
	return ns > 0 ? 1e9 / ns : 0;
}

static void print(const struct scraping_settings *settings, const struct scraping_result *result,
		  double bare_before_ns)
{
	const struct scraping_span *span = &result->span;
	const double scrapes = span->scrapes ?: 1;
	const double copy_ns = measure_copy(settings->targets);
	const double adapter_ns = span->adapter_ns / scrapes;
	const double io_ns = span->io_ns / scrapes - adapter_ns;
	const double bare_after_ns =
		bare_scraping__run(settings->targets, settings->interval_ns, BARE_NS);
	double worker_ns = 0;
	uint32_t i;

	printf("{\"targets\": %u, \"io\": \"%s\", \"interval_ns\": %" PRIu64
	       ", \"elapsed_ns\": %" PRIu64 ", \"scrapes\": %" PRIu64 ", \"missed\": %" PRIu64
	       ", \"dropped\": %" PRIu64 ", \"io_threads\": %u, \"reads_per_scrape\": %.3g, \"bytes_per_scrape\": %.0f",
	       settings->targets, settings->io == SETTINGS_IO_POLL ? "poll" : "event",
	       settings->interval_ns, span->elapsed_ns, span->scrapes,
	       span->missed, span->dropped, settings->io_threads, span->reads / scrapes, span->bytes / scrapes);
	printf(", \"all\": {\"scrapes\": %" PRIu64 ", \"samples\": %" PRIu64
	       ", \"dropped\": %" PRIu64 ", \"checked\": %" PRIu64 ", \"wrong\": %" PRIu64
	       ", \"rates\": %" PRIu64 "}",
	       result->scrapes, result->output.samples, result->dropped, result->output.checked,
	       result->output.wrong, result->output.rates);
	printf(", \"ns\": {\"io\": %.1f, \"adapter\": %.1f, \"loop\": %.1f, \"workers\": [", io_ns,
	       adapter_ns, span->loop_ns / scrapes);
	for (i = 0; i < settings->workers; i++) {
		printf("%s%.1f", i ? ", " : "", span->worker_ns[i] / scrapes);
		worker_ns += span->worker_ns[i] / scrapes;
	}
	printf("], \"worker\": %.1f, \"memcpy\": %.1f, \"bare_io\": %.1f}", worker_ns,
	       copy_ns, (bare_before_ns + bare_after_ns) / 2);
	printf(", \"per_second_and_core\": {\"elapsed\": %.0f, \"io\": %.0f, \"io_and_adapter\": %.0f, \"worker\": %.0f, \"memcpy\": %.0f}",
	       scrapes * 1e9 / span->elapsed_ns, per_second(io_ns), per_second(io_ns + adapter_ns),
	       per_second(worker_ns), per_second(copy_ns));
	printf(", \"workers_that_keep_up\": %.0f, \"goal\": {\"scrapes\": %d, \"workers\": %.0f, \"reached\": \"%s\"}}\n",
	       ceil(worker_ns / io_ns), GOAL, ceil(worker_ns * GOAL / 1e9),
	       per_second(io_ns) >= GOAL ? "yes" : "no");
}

/* ---- the command line */

static void __attribute__((noreturn)) refuse(void)
{
	errx(EXIT_FAILURE,
	     "usage: scrape_speed [--targets N] [--interval TIME] [--duration SECONDS] [--io event|poll] [--io-threads N] [--workers N]");
}

static uint32_t parse(const char *text, uint32_t max)
{
	uint64_t number;

	if (dart_quantity__parse(DART_QUANTITY_NUMBER, text, 1, max, &number))
		refuse();
	return number;
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "targets", required_argument, NULL, 't' },
		{ "interval", required_argument, NULL, 'i' },
		{ "duration", required_argument, NULL, 'd' },
		{ "io", required_argument, NULL, 'o' },
		{ "io-threads", required_argument, NULL, 'n' },
		{ "workers", required_argument, NULL, 'w' },
		{}
	};
	struct scraping_settings settings = {
		.targets = 1000,
		.duration_ns = 3000000000,
		.io = SETTINGS_IO_EVENT,
		.io_threads = 1,
		.workers = 1,
		.check_every = CHECK_EVERY,
	};
	struct scraping_result result;
	double bare_ns;
	bool is_given;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 't')
			settings.targets = parse(optarg, TARGETS_MAX);
		else if (c == 'd')
			settings.duration_ns = parse(optarg, 3600) * 1000000000ULL;
		else if (c == 'n')
			settings.io_threads = parse(optarg, SETTINGS_IO_THREADS_MAX);
		else if (c == 'w')
			settings.workers = parse(optarg, SETTINGS_WORKERS_MAX);
		else if (c == 'i' &&
			 !dart_quantity__parse(DART_QUANTITY_TIME, optarg, SETTINGS_INTERVAL_MIN_NS,
					       SETTINGS_INTERVAL_MAX_NS, &settings.interval_ns))
			continue;
		else if (c == 'o' && !strcmp(optarg, "event"))
			settings.io = SETTINGS_IO_EVENT;
		else if (c == 'o' && !strcmp(optarg, "poll"))
			settings.io = SETTINGS_IO_POLL;
		else
			refuse();
	}
	if (optind < argc)
		refuse();
	is_given = settings.interval_ns;
	if (!is_given)
		settings.interval_ns = settings.targets * (1000000000ULL / GOAL) / settings.io_threads;
	bare_ns = bare_scraping__run(settings.targets, settings.interval_ns, BARE_NS);
	run(&settings, is_given, &result);
	print(&settings, &result, bare_ns);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Repeats a function at fixed intervals and prints percentiles of its time. */
#include "timing.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Parses a number from 1 to @max, followed by @unit. */
static bool parse(const char *text, const char *unit, unsigned long max, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !strcmp(end, unit) && !errno &&
	       *value && *value <= max;
}

int timing__parse(struct timing *timing, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'n' },
		{ "interval", required_argument, NULL, 'i' },
		{ }
	};
	bool good = true;
	int c;

	*timing = (struct timing){ .count = 100, .interval_ms = 100 };
	while ((c = getopt_long(argc, argv, "n:i:", options, NULL)) != -1) {
		if (c == 'n')
			good &= parse(optarg, "", 10000000, &timing->count);
		else if (c == 'i')
			good &= parse(optarg, "ms", 3600000, &timing->interval_ms);
		else
			good = false;
	}
	return good ? optind : -1;
}

uint64_t timing__now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec then = {
		.tv_sec = ns / 1000000000,
		.tv_nsec = ns % 1000000000,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static unsigned long long percentile(const uint64_t *sorted, size_t count, unsigned int percent)
{
	return sorted[(count * percent + 99) / 100 - 1];
}

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

unsigned long timing__run(const struct timing *timing, uint64_t (*once)(void *context),
			  void *context)
{
	const struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART };
	uint64_t due, *times = calloc(timing->count, sizeof(*times));
	unsigned long count = 0;

	if (!times)
		err(EXIT_FAILURE, "memory");
	sigaction(SIGTERM, &action, NULL);
	due = timing__now_ns();
	do {
		due += timing->interval_ms * 1000000ULL;
		sleep_until(due);
		times[count++] = once(context);
	} while (count < timing->count && !is_over);

	qsort(times, count, sizeof(*times), compare);
	printf("\"count\": %lu, \"latency_ns\": {\"min\": %llu, \"p50\": %llu, \"p90\": %llu, \"p99\": %llu, \"max\": %llu}",
	       count, (unsigned long long)times[0], percentile(times, count, 50),
	       percentile(times, count, 90), percentile(times, count, 99),
	       percentile(times, count, 100));
	free(times);
	return count;
}

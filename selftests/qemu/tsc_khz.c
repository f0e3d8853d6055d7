// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the frequency in kHz of this machine's time stamp counter, which an emulated
 * counter shares.  A guest's kernel would measure it with an emulated timer; on a busy
 * host that timer is late, and the guest's clock would run up to ten times too fast.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define NS_OF_A_SECOND	1000000000LL
#define ATTEMPTS	50

struct moment {
	uint64_t tsc;
	int64_t ns;
};

/* The reading with the shortest interruption out of many. */
static struct moment moment__now(void)
{
	uint64_t shortest = UINT64_MAX, before, after;
	struct moment moment = { };
	struct timespec now;
	int i;

	for (i = 0; i < ATTEMPTS; i++) {
		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = __rdtsc();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		moment.tsc = before + shortest / 2;
		moment.ns = now.tv_sec * NS_OF_A_SECOND + now.tv_nsec;
	}
	return moment;
}

int main(void)
{
	const struct timespec while_it_counts = { .tv_nsec = 20000000 };
	struct moment first = moment__now(), last;

	nanosleep(&while_it_counts, NULL);
	last = moment__now();
	printf("%.0f\n", (last.tsc - first.tsc) * 1e6 / (last.ns - first.ns));
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work that a thread which scrapes and a thread which decodes cannot avoid: both sleep and are
 * woken as often as the threads of a controller, and wait for as much memory.  As parts of it the
 * times of a controller mean the same on a machine that sleeps deeply, or has slow memory, as on
 * another.
 */
#ifndef BENCH_BARE_SCRAPING_H
#define BENCH_BARE_SCRAPING_H

#include <stdint.h>

struct bare_scraping {
	double io_ns; /* CPU time of a scrape */
	double worker_ns;
};

/*
 * Scrapes @targets each @interval_ns for @duration_ns, in slots as a schedule has; ends the program
 * if it cannot.
 */
void bare_scraping__run(uint32_t targets, uint64_t interval_ns, uint64_t duration_ns,
			struct bare_scraping *result);

#endif /* BENCH_BARE_SCRAPING_H */

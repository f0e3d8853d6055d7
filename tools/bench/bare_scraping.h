/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work that a thread which scrapes cannot avoid: it sleeps and is woken as often as an I/O
 * thread of a controller, wakes a worker as often, and waits for as much memory.  As a part of it
 * the time of an I/O thread means the same on a machine that sleeps deeply, or has slow memory, as
 * on another.
 */
#ifndef BENCH_BARE_SCRAPING_H
#define BENCH_BARE_SCRAPING_H

#include <stdint.h>

/*
 * Touches the memory of @targets each @interval_ns for @duration_ns, in slots as a schedule has;
 * returns the CPU time of one target in ns.  Ends the program if it cannot.
 */
double bare_scraping__run(uint32_t targets, uint64_t interval_ns, uint64_t duration_ns);

#endif /* BENCH_BARE_SCRAPING_H */

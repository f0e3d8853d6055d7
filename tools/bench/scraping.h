/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The controller, all of its threads, with hosts in memory of this process and without an
 * adapter or a network: see gathered_hosts.h.  Targets are connected and scraped by the same
 * code as in dart-controller; the output makes rates, counts and checks: see rate_sink.h.
 */
#ifndef BENCH_SCRAPING_H
#define BENCH_SCRAPING_H

#include "rate_sink.h"
#include "tools/controller/settings/settings.h"

struct scraping_settings {
	uint32_t targets;
	uint64_t interval_ns;
	/* Scrapes each target this number of times, or all of them for this duration. */
	uint64_t count;
	uint64_t duration_ns;
	enum settings_io io; /* event or poll */
	uint32_t io_threads; /* up to SETTINGS_IO_THREADS_MAX */
	uint32_t workers; /* up to SETTINGS_WORKERS_MAX */
	uint32_t check_every; /* one of this number of samples is checked */
};

/* Since the first sample of the last target; all times but the first are CPU times. */
struct scraping_span {
	uint64_t elapsed_ns;
	uint64_t scrapes, reads, bytes, missed, dropped;
	uint64_t loop_ns; /* of the control loop */
	uint64_t io_ns; /* of all I/O threads */
	double adapter_ns; /* the part that an adapter and the hosts would take */
	uint64_t worker_ns[SETTINGS_WORKERS_MAX];
};

struct scraping_result {
	struct scraping_span span;
	/* In all. */
	uint64_t scrapes, dropped, discarded, failed, missed;
	struct rate_sums output;
};

/* Ends the program with a sentence if the controller does not start. */
void scraping__run(const struct scraping_settings *settings, struct scraping_result *result);

/*
 * Checks that each completed scrape is in the output or dropped, no target was lost, no
 * row torn, and all values follow the rule. Returns the fault, or NULL.
 */
const char *scraping_result__fault(const struct scraping_result *result);

#endif /* BENCH_SCRAPING_H */

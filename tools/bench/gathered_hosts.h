/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts in memory of this process, see simulated_network.h, each with a table and 8 KiB of
 * values: 10 gathered records with a row of 8 lines and 4 with 8 rows of a line, in the
 * module's layout, each line with its two sequences and seven words; and the counters of 8
 * CPUs, twice, 8 words for each CPU.
 *
 * Before each READ of the values the host writes one of these entries, in turn.  All words
 * follow from the host, the entry, the place of the word and how often the entry was written,
 * which follows from the number of the scrape: a sample is right in all bits or it is wrong.
 */
#ifndef BENCH_GATHERED_HOSTS_H
#define BENCH_GATHERED_HOSTS_H

#include <stdbool.h>

#include "simulated_verbs.h"
#include "tools/controller/decode/sample.h"

#define GATHERED_ENTRIES 16
#define GATHERED_ENTRY_LENGTH 512 /* bytes */
#define GATHERED_VALUES (GATHERED_ENTRIES * GATHERED_ENTRY_LENGTH)

struct gathered_hosts;

/* Ends the program if out of memory. */
struct gathered_hosts *gathered_hosts__new(uint32_t count);
/* No connection to them may exist. */
void gathered_hosts__free(struct gathered_hosts *hosts);

/* For simulated_network__open(). */
struct simulated_host **gathered_hosts__all(const struct gathered_hosts *hosts);

/*
 * True if @sample, scrape head.sequence of host @host, contains the values and sums of that
 * scrape, and the previous sample, if any, contains the ones of its own scrape.
 */
bool gathered_hosts__are_values_of(uint32_t host, const struct sample *sample);

#endif /* BENCH_GATHERED_HOSTS_H */

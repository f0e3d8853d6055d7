/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts in memory of this process, see simulated_network.h, each with a table and 8 KiB of
 * gathered records, as the module lays them out: 12 with a row of 8 lines, 4 with 8 rows of a
 * line.  Each line has its two sequences and seven words.
 *
 * Before each READ of the values the host writes one record, in turn.  All words follow from
 * the host, the record, the place of the word and how often the record was written, which
 * follows from the number of the scrape: a sample is right in all bits or it is wrong.
 */
#ifndef BENCH_GATHERED_HOSTS_H
#define BENCH_GATHERED_HOSTS_H

#include <stdbool.h>

#include "simulated_verbs.h"
#include "tools/controller/decode/sample.h"

#define GATHERED_RECORDS 16
#define GATHERED_RECORD_LENGTH 512 /* bytes */
#define GATHERED_VALUES (GATHERED_RECORDS * GATHERED_RECORD_LENGTH)

struct gathered_hosts;

/* Ends the program if out of memory. */
struct gathered_hosts *gathered_hosts__new(uint32_t count);
/* Nobody is connected with them. */
void gathered_hosts__free(struct gathered_hosts *hosts);

/* For simulated_network__open(). */
struct simulated_host **gathered_hosts__all(const struct gathered_hosts *hosts);

/*
 * Has @sample, which is scrape head.sequence of host @host, the values of that, and its sums
 * and those of the sample before, if there are any?
 */
bool gathered_hosts__are_values_of(uint32_t host, const struct sample *sample);

#endif /* BENCH_GATHERED_HOSTS_H */

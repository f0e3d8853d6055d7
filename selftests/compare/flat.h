/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters from the kernel and from a controller in one form: an object of integers
 * under names such as "cpustat/0/user" (entry, CPU or row, field).
 */
#ifndef DART_TEST_FLAT_H
#define DART_TEST_FLAT_H

#include <jansson.h>

/*
 * From the output of the helper "snapshots": sections that begin with a line
 * "== NAME", of /proc files or JSON of bpftool.  Changes @text.  A new reference.
 */
json_t *flat__from_snapshot(char *text);

/* Reads one line of dart-controller --json.  Returns a new reference; NULL without values. */
json_t *flat__from_scrape(const json_t *scrape);

#endif /* DART_TEST_FLAT_H */

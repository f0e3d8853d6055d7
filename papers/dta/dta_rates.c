// SPDX-License-Identifier: GPL-2.0-only
/*
 * dta-rates: how many WRITEs and bytes on the wire a report costs, by primitive, with libdart's
 * reporters and frames.  A collector's adapter takes a number of WRITEs a second until its link is
 * full, so the ratios to a report in one WRITE (Key-Write, one copy) are the ratios of report
 * rates, if either of both is the limit.  Prints CSV, and fails if a ratio is not that of the
 * theory.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/report/journal_target.h>
#include <libdart/report/sketch_target.h>
#include <libdart/report/translator.h>
#include <libdart/store/store_hash.h>

#include "tools/bench/ingest.h"

#define REPORTS 100000
#define HOPS 5
#define VALUE (4 * HOPS) /* bytes, as of paths */
#define BETWEEN 24 /* bytes on the wire for each frame: preamble, FCS, gap */
#define FRAME_MAX 2048
#define SECOND UINT64_C(1000000000)

static const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };

/* What reports cost. */
struct cost {
	uint64_t reports, writes, bytes;
};

/* Reports and bytes for each WRITE of Key-Write with one copy. */
static struct cost one;

static bool agrees = true;

static void add_frame(struct cost *cost, size_t length)
{
	cost->writes++;
	cost->bytes += length + BETWEEN;
}

/* @expected: reports for each WRITE. */
static void print(const char *primitive, uint32_t parameter, const struct cost *cost,
		  double expected)
{
	const double by_writes = (double)cost->reports / cost->writes;
	const double by_bytes =
		((double)cost->reports / cost->bytes) / ((double)one.reports / one.bytes);

	printf("%s,%u,%.6f,%.6f,%.6f,%.6f\n", primitive, parameter, by_writes, expected,
	       (double)cost->bytes / cost->reports, by_bytes);
	agrees &= fabs(by_writes / expected - 1) <= 0.01;
}

static void check(int ret)
{
	if (!ret)
		return;
	fputs("dta-rates: out of memory\n", stderr);
	exit(1);
}

static struct cost key_write(uint32_t copies)
{
	struct dart_collector collector = {
		.geometry = { .slots = 1 << 20, .value_length = VALUE, .checksum_bits = 32,
			      .redundancy = copies },
	};
	uint8_t frame[DART_ROCE_FRAME_MAX], key[INGEST_KEY], value[VALUE] = { 0 };
	struct cost cost = { .reports = REPORTS };
	struct dart_store_place place;
	struct dart_store_hash *hash;
	uint32_t copy, i;

	check(dart_store_hash__new(&collector.geometry, &hash));
	for (i = 0; i < REPORTS; i++) {
		ingest__key(i, key);
		dart_store_hash__place(hash, key, sizeof(key), &place);
		for (copy = 0; copy < copies; copy++)
			add_frame(&cost, dart_roce_frame__build(&collector, mac, &place, copy,
								value, cost.writes, frame));
	}
	dart_store_hash__free(hash);
	return cost;
}

static struct cost append(uint32_t batch_log2, uint32_t entry_length, double *expected)
{
	struct dart_journal_target target = {
		.geometry = { .parts = 1, .batches_log2 = 6, .batch_log2 = batch_log2,
			      .entry_length = entry_length },
	};
	uint8_t frame[FRAME_MAX], entry[DART_JOURNAL_ENTRY_MAX] = { 0 };
	struct dart_journal_appender *appender;
	struct cost cost = { .reports = REPORTS };
	struct dart_journal_write write;
	uint32_t i;

	_Static_assert(FRAME_MAX >= DART_JOURNAL_FRAME_MAX, "batches fit");
	*expected = dart_journal_geometry__capacity(&target.geometry);
	check(dart_journal_appender__new(&target.geometry, 1, &appender));
	for (i = 0; i < REPORTS; i++)
		if (dart_journal_appender__append(appender, 0, entry, &write))
			add_frame(&cost, dart_journal_target__frame(&target, mac, 0, &write,
								    cost.writes, frame));
	dart_journal_appender__free(appender);
	return cost;
}

/* The postcards of as many paths as the translator has rows come in turn, hop by hop. */
static struct cost postcards(uint32_t hops)
{
	const struct dart_collector collector = {
		.geometry = { .slots = 1 << 20, .value_length = VALUE, .checksum_bits = 32,
			      .redundancy = 1 },
	};
	struct dart_translator_report reports[DART_TRANSLATOR_REPORTS_MAX];
	struct cost cost = { .reports = REPORTS / hops * hops };
	struct dart_postcard postcard = { .key_length = INGEST_KEY, .hops = hops };
	uint8_t frame[DART_ROCE_FRAME_MAX];
	struct dart_translator *translator;
	struct dart_store_place place;
	struct dart_store_hash *hash;
	int due, i;
	uint32_t path;

	check(dart_store_hash__new(&collector.geometry, &hash));
	check(dart_translator__new(DART_TRANSLATOR_ROWS_LOG2, HOPS, UINT64_MAX, &translator));
	for (path = 0; path < REPORTS / hops; path++)
		for (postcard.hop = 0; postcard.hop < hops; postcard.hop++) {
			ingest__key(path, postcard.key);
			postcard.value = path + 1;
			due = dart_translator__add(translator, &postcard, 0, reports);
			for (i = 0; i < due; i++) {
				dart_store_hash__place(hash, reports[i].key, reports[i].key_length,
						       &place);
				add_frame(&cost, dart_roce_frame__build(&collector, mac, &place, 0,
									reports[i].value,
									cost.writes, frame));
			}
		}
	dart_translator__free(translator);
	dart_store_hash__free(hash);
	return cost;
}

/* A period of REPORTS packets. */
static struct cost sketch(uint32_t columns_log2)
{
	struct dart_sketch_target target = {
		.geometry = { .parts = 1, .rows = DART_SKETCH_ROWS, .columns_log2 = columns_log2,
			      .period = 1 },
	};
	struct cost cost = { .reports = REPORTS };
	uint8_t frame[FRAME_MAX], key[INGEST_KEY];
	struct dart_sketch_write write;
	struct dart_sketcher *sketcher;
	uint64_t second;
	uint32_t i;

	check(dart_sketcher__new(&target.geometry, &sketcher));
	for (second = 1; second <= 2; second++)
		dart_sketcher__turn(sketcher, second * SECOND, second * SECOND);
	for (i = 0; i < REPORTS; i++) {
		ingest__key(i % 1000, key);
		dart_sketcher__count(sketcher, key, sizeof(key), 1);
	}
	dart_sketcher__turn(sketcher, second * SECOND, second * SECOND);
	while (dart_sketcher__next(sketcher, &write))
		add_frame(&cost, dart_sketch_target__frame(&target, mac, &write, cost.writes,
							   frame));
	dart_sketcher__free(sketcher);
	return cost;
}

int main(void)
{
	static const uint32_t entries[] = { 4, 16, 41 };
	struct cost cost;
	double expected;
	uint32_t n;
	size_t i;

	puts("primitive,parameter,reports per WRITE,theory,bytes per report,ratio by bytes");
	one = key_write(1);
	for (n = 1; n <= DART_STORE_REDUNDANCY_MAX; n *= 2) {
		cost = key_write(n);
		print("Key-Write: copies", n, &cost, 1. / n);
	}
	for (n = 1; n <= HOPS; n += 2) {
		cost = postcards(n);
		print("Postcarding: hops", n, &cost, n);
	}
	for (i = 0; i < sizeof(entries) / sizeof(*entries); i++)
		for (n = 7; n <= DART_JOURNAL_BATCH_LOG2_MAX; n++) {
			char name[64];

			snprintf(name, sizeof(name), "Append of %u bytes: batch", entries[i]);
			cost = append(n, entries[i], &expected);
			print(name, 1u << n, &cost, expected);
		}
	for (n = 8; n <= 16; n += 4) {
		cost = sketch(n);
		print("Sketch of 10^5 packets: columns", 1u << n, &cost,
		      (double)REPORTS / (1u << n) * DART_SKETCH_STRIP_COLUMNS);
	}
	if (!agrees)
		fputs("dta-rates: a ratio differs from theory by more than a hundredth\n", stderr);
	return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of a storm on gathered records, which are in a separate region. */
#ifndef DART_TEST_STORM_RECORDS_H
#define DART_TEST_STORM_RECORDS_H

#include <stdint.h>

#include <linux/dart_zero.h>

#define STORM_RECORDS 24
#define STORM_RECORD_PAGES 2

struct storm;

struct storm_record {
	struct dart_zero_record record;	/* an id of 0: no record */
	int netns;			/* of the counters, or -1 */
	uint64_t time;			/* of row 0 when it was last read */
};

struct storm_records {
	int region;
	const char *view;		/* of its pages */
	uint32_t pages;			/* id */
	struct storm_record records[STORM_RECORDS];
};

void storm_records__open(struct storm_records *records);
void storm_records__close(struct storm_records *records);

void storm__add_record(struct storm *storm);
void storm__remove_record(struct storm *storm);
void storm__read_record(struct storm *storm);
/* The namespace of a record ends: its region is told. */
void storm__end_record(struct storm *storm);
/* Closes the region of all records, and opens another. */
void storm__close_records(struct storm *storm);

#endif /* DART_TEST_STORM_RECORDS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of the region for the rows of records: which of their lines are in use. */
#ifndef RECORD_PAGES_H
#define RECORD_PAGES_H

#include <stdint.h>

#include <linux/dart_zero.h>

struct record_pages {
	struct dart_zero_record_line *lines;
	uint32_t line_count;
	uint64_t *used; /* a bit for each line */
	uint32_t records; /* number of records with lines here */
	uint32_t sequence; /* last sequence of all free lines */
};

/* @memory is zeroed, and outlives the pages.  -ENOMEM. */
int record_pages__open(struct record_pages *pages, void *memory, uint64_t bytes);
void record_pages__close(struct record_pages *pages);

/*
 * Reserves @count lines side by side.  Sets *@sequence to the highest last sequence of all free
 * lines, after which no sequence repeats one that readers saw there.  -ENOSPC: no room.
 */
int record_pages__take(struct record_pages *pages, uint32_t count, uint32_t *first,
		       uint32_t *sequence);
/* Gives back lines that are empty and were last written with @sequence. */
void record_pages__give(struct record_pages *pages, uint32_t first, uint32_t count,
			uint32_t sequence);

#endif /* RECORD_PAGES_H */

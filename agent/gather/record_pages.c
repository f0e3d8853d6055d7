// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "record_pages.h"

int record_pages__open(struct record_pages *pages, void *memory, uint64_t bytes)
{
	*pages = (struct record_pages){
		.lines = memory,
		.line_count = bytes / sizeof(*pages->lines),
	};
	pages->used = calloc(pages->line_count / 64 + 1, sizeof(*pages->used));
	return pages->used ? 0 : -ENOMEM;
}

void record_pages__close(struct record_pages *pages)
{
	free(pages->used);
}

static bool is_used(const struct record_pages *pages, uint32_t line)
{
	return pages->used[line / 64] >> line % 64 & 1;
}

static void set_used(struct record_pages *pages, uint32_t first, uint32_t count, bool are_used)
{
	uint32_t line;

	for (line = first; line < first + count; line++) {
		if (are_used)
			pages->used[line / 64] |= 1ULL << line % 64;
		else
			pages->used[line / 64] &= ~(1ULL << line % 64);
	}
}

/* The first of @count free lines, or line_count.  Steps over words that are full. */
static uint32_t find_free(const struct record_pages *pages, uint32_t count)
{
	uint32_t line = 0, free = 0;

	while (line < pages->line_count) {
		if (!(line % 64) && pages->used[line / 64] == UINT64_MAX) {
			line += 64;
			free = 0;
			continue;
		}
		free = is_used(pages, line++) ? 0 : free + 1;
		if (free == count)
			return line - count;
	}
	return pages->line_count;
}

int record_pages__take(struct record_pages *pages, uint32_t count, uint32_t *first,
		       uint32_t *sequence)
{
	*first = find_free(pages, count);
	if (*first == pages->line_count)
		return -ENOSPC;
	set_used(pages, *first, count, true);
	pages->records++;
	*sequence = pages->sequence;
	return 0;
}

void record_pages__give(struct record_pages *pages, uint32_t first, uint32_t count,
			uint32_t sequence)
{
	/* Sequences wrap around: at an interval of 10 ms after 248 days. */
	if ((int32_t)(sequence - pages->sequence) > 0)
		pages->sequence = sequence;
	set_used(pages, first, count, false);
	pages->records--;
}

// SPDX-License-Identifier: GPL-2.0-only
/* The chunks of a target's history: see history.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "history_chunk.h"

struct history {
	struct history_open open;
	struct history_chunk *oldest, *newest; /* a list, linked by next */
	size_t chunk_count;
	size_t bytes; /* bytes of sealed chunks */
	uint64_t points; /* points of sealed chunks */
};

struct history *history__new(void)
{
	return calloc(1, sizeof(struct history));
}

static void history__drop_oldest(struct history *history)
{
	struct history_chunk *chunk = history->oldest;

	history->oldest = chunk->next;
	if (!history->oldest)
		history->newest = NULL;
	history->chunk_count--;
	history->bytes -= chunk->bytes + chunk->plan_bytes;
	history->points -= (uint64_t)chunk->scrapes * chunk->series_count;
	history_chunk__put(chunk);
}

void history__free(struct history *history)
{
	if (!history)
		return;
	while (history->oldest)
		history__drop_oldest(history);
	history_open__clear(&history->open);
	free(history);
}

/* Copies the growing chunk to a sealed one, and begins again with an empty chunk. */
static int history__seal(struct history *history)
{
	struct history_chunk *chunk = history_open__seal(&history->open);

	history_open__clear(&history->open);
	if (!chunk)
		return -ENOMEM;
	if (history->newest)
		history->newest->next = chunk;
	else
		history->oldest = chunk;
	history->newest = chunk;
	history->chunk_count++;
	history->bytes += chunk->bytes;
	history->points += (uint64_t)chunk->scrapes * chunk->series_count;
	return 0;
}

/* From now on only chunks refer to the plan, so the newest chunk is charged for it. */
static void history__charge_plan(struct history *history)
{
	struct history_chunk *chunk = history->newest;

	if (!chunk)
		return;
	chunk->plan_bytes = history_chunk__measure_plan(chunk->plan);
	history->bytes += chunk->plan_bytes;
}

int history__append(struct history *history, const struct metric_scrape *scrape)
{
	struct history_open *open = &history->open;
	int ret = 0;

	if (open->scrapes && open->plan != scrape->plan) {
		ret = history__seal(history);
		history__charge_plan(history);
	} else if (open->scrapes == HISTORY_CHUNK_SCRAPES) {
		ret = history__seal(history);
	} else if (!open->scrapes && history->newest && history->newest->plan != scrape->plan &&
		   !history->newest->plan_bytes) {
		history__charge_plan(history);
	}
	if (ret)
		return ret;
	ret = history_open__append(open, scrape);
	if (ret)
		history_open__clear(open);
	return ret;
}

void history__trim(struct history *history, size_t bytes, int64_t oldest_us)
{
	while (history->oldest &&
	       (history->oldest->last_us < oldest_us || history__bytes(history) > bytes))
		history__drop_oldest(history);
	if (history__bytes(history) > bytes)
		history_open__clear(&history->open);
}

size_t history__bytes(const struct history *history)
{
	return sizeof(*history) + history->bytes + history->open.bytes;
}

uint64_t history__points(const struct history *history)
{
	return history->points + (uint64_t)history->open.scrapes * history->open.series_count;
}

static bool overlaps(const struct history_chunk *chunk, int64_t from_us, int64_t to_us)
{
	return chunk->last_us >= from_us && chunk->first_us <= to_us;
}

int history__view(const struct history *history, int64_t from_us, int64_t to_us,
		  struct history_view *view)
{
	struct history_chunk *chunk, *sealed = NULL;

	*view = (struct history_view){};
	view->chunks = calloc(history->chunk_count + 1, sizeof(*view->chunks));
	if (!view->chunks)
		return -ENOMEM;
	for (chunk = history->oldest; chunk; chunk = chunk->next)
		if (overlaps(chunk, from_us, to_us))
			view->chunks[view->count++] = history_chunk__get(chunk);
	if (!history->open.scrapes)
		return 0;
	sealed = history_open__seal(&history->open);
	if (!sealed) {
		history_view__clear(view);
		return -ENOMEM;
	}
	if (overlaps(sealed, from_us, to_us))
		view->chunks[view->count++] = sealed;
	else
		history_chunk__put(sealed);
	return 0;
}

void history_view__clear(struct history_view *view)
{
	size_t i;

	for (i = 0; i < view->count; i++)
		history_chunk__put(view->chunks[i]);
	free(view->chunks);
	*view = (struct history_view){};
}

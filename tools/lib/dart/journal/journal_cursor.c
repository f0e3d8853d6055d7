// SPDX-License-Identifier: LGPL-2.1-or-later
/* Follows one ring of a journal: see journal_cursor.h. */
#include <string.h>

#include "journal_cursor.h"

#define WINDOW_MIN 4

void dart_journal_cursor__init(struct dart_journal_cursor *cursor)
{
	*cursor = (struct dart_journal_cursor){
		.next = { .sequence = 1 },
		.window = WINDOW_MIN,
	};
}

/* Is the batch older than @position? */
static bool is_before(const struct dart_journal_batch *batch,
		      const struct dart_journal_position *position)
{
	if (batch->start != position->start)
		return batch->start < position->start;
	return batch->sequence < position->sequence;
}

static struct dart_journal_position position_of(const struct dart_journal_batch *batch)
{
	return (struct dart_journal_position){ batch->start, batch->sequence, batch->count };
}

/* Of a new cursor, before the last batch is known: the start before the last one. */
static void note_former(struct dart_journal_cursor *cursor, const struct dart_journal_batch *batch)
{
	const struct dart_journal_position *last = &cursor->last, found = position_of(batch);

	if (cursor->next.start)
		return;
	if (last->start && batch->start > last->start)
		cursor->former = *last;
	else if (batch->start < last->start && !is_before(batch, &cursor->former))
		cursor->former = found;
}

void dart_journal_cursor__scan(struct dart_journal_cursor *cursor,
			       const struct dart_journal_geometry *geometry, uint32_t place,
			       uint32_t count, const uint8_t *bytes)
{
	struct dart_journal_batch batch;
	uint32_t i;

	for (i = 0; i < count; i++, bytes += (size_t)1 << geometry->batch_log2) {
		if (dart_journal_batch__read(geometry, bytes, place + i, &batch) !=
		    DART_JOURNAL_WHOLE)
			continue;
		if (place + i < DART_JOURNAL_FIRST)
			cursor->first[place + i] = position_of(&batch);
		note_former(cursor, &batch);
		if (batch.start > cursor->next.start &&
		    (!cursor->oldest.sequence || is_before(&batch, &cursor->oldest)))
			cursor->oldest = position_of(&batch);
		if (!cursor->last.sequence || !is_before(&batch, &cursor->last))
			cursor->last = position_of(&batch);
	}
}

void dart_journal_cursor__rewind(struct dart_journal_cursor *cursor)
{
	if (!cursor->oldest.sequence)
		return;
	cursor->next = cursor->oldest;
	cursor->next.count = 0;
	cursor->oldest = (struct dart_journal_position){};
	if (cursor->last.start == cursor->next.start)
		cursor->newest = cursor->last.sequence;
}

void dart_journal_cursor__skip(struct dart_journal_cursor *cursor,
			       const struct dart_journal_geometry *geometry)
{
	if (!cursor->last.sequence)
		return;
	cursor->next = cursor->last;
	cursor->newest = cursor->last.sequence;
	if (cursor->last.count == dart_journal_geometry__capacity(geometry)) {
		cursor->next.sequence++;
		cursor->next.count = 0;
	}
}

void dart_journal_cursor__go_on(struct dart_journal_cursor *cursor)
{
	cursor->newer_start = cursor->oldest.start;
}

bool dart_journal_cursor__has_passed(const struct dart_journal_cursor *cursor)
{
	const struct dart_journal_position *next = &cursor->next, *last = &cursor->last;

	if (next->start != last->start)
		return next->start > last->start;
	if (next->sequence != last->sequence)
		return next->sequence > last->sequence;
	return next->count >= last->count;
}

static uint32_t place_of(const struct dart_journal_geometry *geometry, uint64_t sequence)
{
	return (sequence - 1) & ((1u << geometry->batches_log2) - 1);
}

static uint32_t at_most(uint32_t number, uint32_t most)
{
	return number < most ? number : most;
}

/* How many places after the window a plan has. */
static uint32_t places_ahead(const struct dart_journal_cursor *cursor, uint32_t ring)
{
	if (cursor->newer_start)
		return at_most(DART_JOURNAL_AHEAD_MAX, ring);
	return cursor->is_idle && cursor->next.start ? at_most(DART_JOURNAL_AHEAD, ring) : 0;
}

uint32_t dart_journal_cursor__plan(const struct dart_journal_cursor *cursor,
				   const struct dart_journal_geometry *geometry,
				   uint32_t places[DART_JOURNAL_PLACES_MAX])
{
	const uint32_t ring = 1u << geometry->batches_log2;
	const uint32_t window = at_most(cursor->window, ring);
	uint32_t count = 0, step, i;

	for (i = 0; i < window; i++)
		places[count++] = place_of(geometry, cursor->next.sequence + i);
	/* A longer run of lost batches lies between the window and the newest batch. */
	for (step = window; cursor->is_idle && step < ring; step *= 2)
		places[count++] = place_of(geometry, cursor->next.sequence + step);
	for (i = 0; i < places_ahead(cursor, ring); i++)
		places[count++] =
			place_of(geometry, cursor->next.sequence + window + cursor->ahead + i);
	/* An appender whose clock was set back goes on there. */
	if (cursor->is_idle && cursor->former.start)
		places[count++] = place_of(geometry, cursor->former.sequence + 1);
	/* An appender that begins again writes here first. */
	for (i = 0; i < DART_JOURNAL_FIRST && i < ring; i++)
		places[count++] = i;
	return count;
}

/* A call of take(). */
struct take {
	struct dart_journal_cursor *cursor;
	const struct dart_journal_geometry *geometry;
	dart_journal_handler handler;
	void *context;
	bool has_events;
};

static void tell(struct take *take, enum dart_journal_outcome outcome, uint64_t batches)
{
	const struct dart_journal_position *next = &take->cursor->next;
	const struct dart_journal_event event = {
		.outcome = outcome,
		.start = next->start,
		.sequence = next->sequence,
		.batches = batches,
	};

	take->handler(take->context, &event);
	take->has_events = true;
}

static void tell_entries(struct take *take, const struct dart_journal_batch *batch)
{
	struct dart_journal_position *next = &take->cursor->next;
	const uint32_t taken = next->count;
	const struct dart_journal_event event = {
		.outcome = DART_JOURNAL_ENTRIES_FOUND,
		.start = batch->start,
		.sequence = batch->sequence,
		.first = taken,
		.count = batch->count - taken,
		.entries = batch->entries + taken * take->geometry->entry_length,
	};

	take->handler(take->context, &event);
	take->has_events = true;
	next->count = batch->count;
}

static void advance(struct dart_journal_cursor *cursor, uint64_t batches)
{
	cursor->next.sequence += batches;
	cursor->next.count = 0;
}

/* The expected batch is there.  Returns whether it is done with. */
static bool take_expected(struct take *take, const struct dart_journal_batch *batch)
{
	struct dart_journal_cursor *cursor = take->cursor;

	if (batch->count > cursor->next.count)
		tell_entries(take, batch);
	if (cursor->next.count == dart_journal_geometry__capacity(take->geometry)) {
		advance(cursor, 1);
		return true;
	}
	if (cursor->newest <= cursor->next.sequence)
		return false;
	tell(take, DART_JOURNAL_LOST, 1);
	advance(cursor, 1);
	return true;
}

/* A newer batch has taken the place of the expected one.  Returns whether that one is done with. */
static bool take_newer(struct take *take, const struct dart_journal_batch *batch)
{
	struct dart_journal_cursor *cursor = take->cursor;
	uint64_t lapped = 1;

	if (batch->start == cursor->next.start)
		lapped = batch->sequence - (1u << take->geometry->batches_log2) + 1 -
			 cursor->next.sequence;
	else if (cursor->newest < cursor->next.sequence)
		return false;
	tell(take, DART_JOURNAL_LAPPED, lapped);
	advance(cursor, lapped);
	return true;
}

/* The expected batch is not there.  Returns whether it will never be. */
static bool take_none(struct take *take, enum dart_journal_state state)
{
	struct dart_journal_cursor *cursor = take->cursor;

	if (cursor->newest <= cursor->next.sequence)
		return false;
	tell(take, state == DART_JOURNAL_TORN ? DART_JOURNAL_DAMAGED : DART_JOURNAL_LOST, 1);
	advance(cursor, 1);
	return true;
}

/* Handles the copy of the place where the next batch should be; returns whether to go on. */
static bool take_place(struct take *take, const uint8_t *bytes)
{
	const struct dart_journal_position *next = &take->cursor->next;
	struct dart_journal_batch batch;
	const enum dart_journal_state state = dart_journal_batch__read(
		take->geometry, bytes, place_of(take->geometry, next->sequence), &batch);

	if (state != DART_JOURNAL_WHOLE || is_before(&batch, next))
		return take_none(take, state);
	if (batch.start == next->start && batch.sequence == next->sequence)
		return take_expected(take, &batch);
	return take_newer(take, &batch);
}

/* The newest batches of all copies. */
static void observe(const struct dart_journal_cursor *cursor,
		    const struct dart_journal_geometry *geometry, const uint32_t *places,
		    uint32_t count, const uint8_t *bytes, uint64_t *newest, uint64_t *newer_start)
{
	struct dart_journal_batch batch;
	uint32_t i;

	*newest = cursor->newest;
	*newer_start = cursor->newer_start;
	for (i = 0; i < count; i++, bytes += (size_t)1 << geometry->batch_log2) {
		if (dart_journal_batch__read(geometry, bytes, places[i], &batch) !=
		    DART_JOURNAL_WHOLE)
			continue;
		if (batch.start == cursor->next.start && batch.sequence > *newest)
			*newest = batch.sequence;
		/* The first of several newer starts may have batches that are still there. */
		if (batch.start > cursor->next.start &&
		    (!*newer_start || batch.start < *newer_start))
			*newer_start = batch.start;
	}
}

/* Says once that batches with this lower start come. */
static void tell_set_back(struct take *take, const struct dart_journal_batch *batch)
{
	const struct dart_journal_event event = {
		.outcome = DART_JOURNAL_SET_BACK,
		.start = batch->start,
		.sequence = batch->sequence,
	};

	if (take->cursor->set_back == batch->start)
		return;
	take->cursor->set_back = batch->start;
	take->handler(take->context, &event);
}

/*
 * Old batches stay between those of newer starts.  A batch with a lower start is new if it goes on
 * where the start before ended, or if it took a place that was looked at.
 */
static void take_lower(struct take *take, const struct dart_journal_batch *batch,
		       const struct dart_journal_position *before)
{
	const struct dart_journal_position *former = &take->cursor->former;

	if (batch->start >= take->cursor->next.start)
		return;
	if (batch->start == former->start ? batch->sequence > former->sequence :
	    before ? batch->start != before->start || batch->sequence != before->sequence :
		     false)
		tell_set_back(take, batch);
}

/* Looks for batches with lower starts among all copies; the last ones are of the first places. */
static void look_back(struct take *take, const uint32_t *places, uint32_t count,
		      const uint8_t *bytes)
{
	const uint32_t ring = 1u << take->geometry->batches_log2;
	const uint32_t others = count - at_most(DART_JOURNAL_FIRST, ring);
	struct dart_journal_position *before;
	struct dart_journal_batch batch;
	uint32_t i;

	for (i = 0; i < count; i++, bytes += (size_t)1 << take->geometry->batch_log2) {
		if (dart_journal_batch__read(take->geometry, bytes, places[i], &batch) !=
		    DART_JOURNAL_WHOLE)
			continue;
		before = i < others ? NULL : &take->cursor->first[i - others];
		take_lower(take, &batch, before);
		if (before)
			*before = position_of(&batch);
	}
}

/* Nothing is to come with the old start. */
static void begin_again(struct take *take)
{
	struct dart_journal_cursor *cursor = take->cursor;
	const bool is_first = !cursor->next.start;

	if (!is_first) {
		cursor->former = cursor->next;
		if (!cursor->next.count)
			cursor->former.sequence--;
		if (cursor->newest > cursor->former.sequence)
			cursor->former.sequence = cursor->newest;
	}
	cursor->next = (struct dart_journal_position){ cursor->newer_start, 1, 0 };
	cursor->newest = 0;
	cursor->newer_start = 0;
	cursor->ahead = 0;
	if (!is_first)
		tell(take, DART_JOURNAL_RESTARTED, 0);
}

bool dart_journal_cursor__take(struct dart_journal_cursor *cursor,
			       const struct dart_journal_geometry *geometry, const uint32_t *places,
			       uint32_t count, const uint8_t *bytes, dart_journal_handler handler,
			       void *context)
{
	const uint32_t ring = 1u << geometry->batches_log2;
	const uint32_t window = at_most(cursor->window, ring);
	const uint32_t ahead = cursor->ahead + places_ahead(cursor, ring);
	const size_t length = (size_t)1 << geometry->batch_log2;
	struct take take = { cursor, geometry, handler, context, false };
	bool is_leaving, is_news;
	uint64_t newest, newer_start;
	uint32_t i;

	look_back(&take, places, count, bytes);
	observe(cursor, geometry, places, count, bytes, &newest, &newer_start);
	is_news = newest > cursor->newest || newer_start != cursor->newer_start;
	for (i = 0; i < window; i++)
		if (!take_place(&take, bytes + i * length))
			break;
	/* Batches of this start may lie between batches of newer ones. */
	is_leaving = cursor->newer_start && !take.has_events && !is_news;
	if (is_leaving && (!cursor->next.start || window + ahead >= ring)) {
		begin_again(&take);
	} else {
		cursor->newest = newest;
		cursor->newer_start = newer_start;
		cursor->ahead = take.has_events || is_news ? 0 : ahead;
	}
	cursor->is_idle = !take.has_events && !is_news && !is_leaving;
	cursor->window = i < window ? WINDOW_MIN : at_most(2 * window, DART_JOURNAL_WINDOW_MAX);
	return !cursor->is_idle;
}

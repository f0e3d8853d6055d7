/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The place of a reader in one ring of a journal: decides from copies of batches which entries are
 * new and which batches are missing, see "What a reader knows" in <dart/journal.h>.
 *
 * Copies of several batches are not of one time, so a cursor counts a batch as lost only after it
 * looked again: a newer batch must have been there before the copies were made.
 */
#ifndef DART_JOURNAL_CURSOR_H
#define DART_JOURNAL_CURSOR_H

#include "journal.h"

enum dart_journal_outcome {
	DART_JOURNAL_ENTRIES_FOUND,
	DART_JOURNAL_LOST, /* never came, or came not as a whole batch */
	DART_JOURNAL_LAPPED, /* overwritten before this reader looked */
	DART_JOURNAL_DAMAGED, /* bytes that are no batch, though newer batches came */
	DART_JOURNAL_RESTARTED, /* the appender began again */
	/*
	 * Batches come with a lower start than the one that was read, and are not read: the clock of
	 * the appender was set back before it began again, or the network delayed a WRITE of before.
	 */
	DART_JOURNAL_SET_BACK,
};

#define DART_JOURNAL_OUTCOMES (DART_JOURNAL_SET_BACK + 1)

struct dart_journal_event {
	enum dart_journal_outcome outcome;
	uint32_t appender; /* set by struct dart_journal_reader */
	uint64_t start; /* restarted: the new one; set back: the lower one, told once */
	uint32_t sequence; /* the first batch that the event is about; set back: of the lower start */
	uint64_t batches; /* lost, lapped or damaged ones; a flushed part may have been read */
	/* Entries found: the first one has number @first in its batch. */
	uint32_t first, count;
	const uint8_t *entries; /* valid during the call */
};

/* Called for each event, in the order of the ring. */
typedef void (*dart_journal_handler)(void *context, const struct dart_journal_event *event);

/*
 * The most places of one plan: a window, probes of doubling distance and some places farther on,
 * which change with each plan, the next place of the start before, and the ring's first places.
 */
#define DART_JOURNAL_WINDOW_MAX 64
#define DART_JOURNAL_AHEAD 16
#define DART_JOURNAL_AHEAD_MAX 128 /* before the cursor leaves a start */
#define DART_JOURNAL_FIRST 4
#define DART_JOURNAL_PLACES_MAX                                                                 \
	(DART_JOURNAL_WINDOW_MAX + DART_JOURNAL_BATCHES_LOG2_MAX + DART_JOURNAL_AHEAD_MAX + 1 + \
	 DART_JOURNAL_FIRST)

/* The numbers of a batch. */
struct dart_journal_position {
	uint64_t start;
	uint64_t sequence; /* one more than the last sequence is possible */
	uint32_t count; /* entries, of these that were taken */
};

struct dart_journal_cursor {
	struct dart_journal_position next; /* expected; start 0: the first that appears */
	uint64_t newest; /* sequence with this start, of which earlier copies told */
	uint64_t newer_start; /* of which earlier copies told, or 0 */
	uint32_t window; /* places to look at */
	uint32_t ahead; /* places after the window that plans without news had before */
	bool is_idle; /* the last copies were not new */
	struct dart_journal_position oldest, last; /* found by scans; zeros: none */
	/* The newest batch of the start before, as far as copies told; zeros: none. */
	struct dart_journal_position former;
	struct dart_journal_position first[DART_JOURNAL_FIRST]; /* of earlier copies; zeros: none */
	uint64_t set_back; /* the lower start that an event was about */
};

/* A cursor that takes everything from the first appearing batch on. */
void dart_journal_cursor__init(struct dart_journal_cursor *cursor);

/*
 * Notes the @count batches from @place on, of which @bytes are copies; the oldest one: only with a
 * start after that of the cursor.
 */
void dart_journal_cursor__scan(struct dart_journal_cursor *cursor,
			       const struct dart_journal_geometry *geometry, uint32_t place,
			       uint32_t count, const uint8_t *bytes);
/* After scans of the whole ring by a new cursor: begins with the oldest batch, or after the newest one. */
void dart_journal_cursor__rewind(struct dart_journal_cursor *cursor);
void dart_journal_cursor__skip(struct dart_journal_cursor *cursor,
			       const struct dart_journal_geometry *geometry);

/* After another scan of the whole ring: goes on with the start of the oldest batch. */
void dart_journal_cursor__go_on(struct dart_journal_cursor *cursor);
/* Has it passed the newest batch that the scans found? */
bool dart_journal_cursor__has_passed(const struct dart_journal_cursor *cursor);

/* Writes the places of batches to look at next, and returns their number. */
uint32_t dart_journal_cursor__plan(const struct dart_journal_cursor *cursor,
				   const struct dart_journal_geometry *geometry,
				   uint32_t places[DART_JOURNAL_PLACES_MAX]);
/*
 * Takes copies of these batches, one after the other in @bytes, made after the plan.  Returns
 * whether another plan may find more at once: otherwise there was nothing new.
 */
bool dart_journal_cursor__take(struct dart_journal_cursor *cursor,
			       const struct dart_journal_geometry *geometry, const uint32_t *places,
			       uint32_t count, const uint8_t *bytes, dart_journal_handler handler,
			       void *context);

#endif /* DART_JOURNAL_CURSOR_H */

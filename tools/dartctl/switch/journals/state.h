/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane of the P4 program that appends to a journal: its tables and mirror sessions, as
 * they are in a switch and as they should be.
 */
#ifndef JOURNAL_STATE_H
#define JOURNAL_STATE_H

#include <libdart/report/journal_target.h>

#include "tools/dartctl/switch/engine/hosts.h"
#include "tools/dartctl/switch/engine/kind.h"

/* The wish for a switch: a journal, and the port that leads to it. */
struct journal_wish {
	struct dart_journal_target target;
	uint16_t port;
};

/* The objects of steps; first, the tables. */
enum {
	JOURNAL_COLLECTOR,
	JOURNAL_APPENDER,
	JOURNAL_TABLES,
	JOURNAL_SESSION = JOURNAL_TABLES, /* by port */
	JOURNAL_PSN,
	JOURNAL_OBJECTS,
};

extern const struct switch_table journal_tables[JOURNAL_TABLES];
extern const struct switch_object journal_objects[JOURNAL_OBJECTS];

/* The parameters of the actions, in their order. */
enum {
	JOURNAL_MAC,
	JOURNAL_IP,
	JOURNAL_QPN,
	JOURNAL_RKEY,
	JOURNAL_BASE,
	JOURNAL_PLACES_MASK,
	JOURNAL_LISTS_MASK,
	JOURNAL_TO_SESSION,
};
enum { APPENDER_MAC, APPENDER_IP, APPENDER_START, APPENDER_BOOT, APPENDER_EPOCH };

struct journal_state {
	struct switch_entry collector;
	struct switch_entry appender;
	struct switch_entry sessions[SWITCH_PORTS]; /* by port, which is the value */
	struct switch_entry first_psn; /* only in a wanted state */
	uint64_t time_us, up_us; /* since 1970, and since the switch was started; only as it is */
};

/*
 * Writes the state to @wanted, whose bytes are 0, that a switch with the state @now should get.  A
 * switch that appends already goes on with its sequences, and so with its start.
 */
void journal_state__want(const struct journal_wish *wish, const struct journal_state *now,
			 struct journal_state *wanted);

/*
 * Can a switch with the state @now append to the journal of @wish?  Batches are of the size that
 * the program was compiled for, and its sequences belong to one journal.  Returns 0, or -EINVAL
 * with a sentence in @error.
 */
int journal_state__check(const struct journal_wish *wish, const struct journal_state *now,
			 struct dart_error *error);

/*
 * The steps from @now to @wanted; the appender comes last, because the switch appends nothing
 * before.  Returns 0 or -ENOMEM.
 */
int journal_state__compute(const struct journal_state *now, const struct journal_state *wanted,
			   struct switch_steps *steps);

#endif /* JOURNAL_STATE_H */

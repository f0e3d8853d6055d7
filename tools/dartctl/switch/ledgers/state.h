/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane of the P4 program that adds to a ledger: its tables, mirror sessions and queue
 * pair, as they are in a switch and as they should be.
 */
#ifndef LEDGER_STATE_H
#define LEDGER_STATE_H

#include <libdart/report/ledger_target.h>

#include "tools/dartctl/switch/engine/hosts.h"
#include "tools/dartctl/switch/engine/kind.h"

/* The wish for a switch: a ledger, the port that leads to it, and the amounts that it adds. */
struct ledger_wish {
	struct dart_ledger_target target;
	uint16_t port;
	bool counts_bytes; /* of frames; otherwise packets */
};

/* The objects of steps; first, the tables. */
enum {
	LEDGER_COLLECTOR,
	LEDGER_ADDER,
	LEDGER_TABLES,
	LEDGER_SESSION = LEDGER_TABLES, /* by port */
	LEDGER_QUEUE_PAIR,
	LEDGER_OBJECTS,
};

extern const struct switch_table ledger_tables[LEDGER_TABLES];
extern const struct switch_object ledger_objects[LEDGER_OBJECTS];

/* The parameters of the actions, in their order. */
enum {
	LEDGER_MAC,
	LEDGER_IP,
	LEDGER_QPN,
	LEDGER_RKEY,
	LEDGER_BASE,
	LEDGER_MASK,
	LEDGER_ROWS,
	LEDGER_TO_SESSION,
};
enum { ADDER_MAC, ADDER_IP, ADDER_UNIT, ADDER_EPOCH };

struct ledger_state {
	struct switch_entry collector;
	struct switch_entry adder;
	struct switch_entry sessions[SWITCH_PORTS]; /* by port, which is the value */
	bool has_begun; /* to add, to any queue pair */
	bool is_stopped;
	uint32_t first_psn; /* only in a wanted state */
};

/*
 * Writes the state to @wanted, whose bytes are 0, that a switch should get.  Its counts of what was
 * added stay, so @wish must be the same ledger if it has one already, see ledger_state__check().
 */
void ledger_state__want(const struct ledger_wish *wish, struct ledger_state *wanted);

/*
 * Can a switch with the state @now go on with the ledger of @wish?  The amounts that wait in it
 * have the addresses of words, and so belong to a ledger of the same size and to one adder.
 * Returns 0, or -EINVAL with a sentence in @error.
 */
int ledger_state__check(const struct ledger_wish *wish, const struct ledger_state *now,
			struct dart_error *error);

/*
 * The steps from @now to @wanted.  Another queue pair, or the same one in another epoch, is entered
 * while the switch sends nothing; the adder comes last, because the switch counts nothing before.
 * Returns 0 or -ENOMEM.
 */
int ledger_state__compute(const struct ledger_state *now, const struct ledger_state *wanted,
			  struct switch_steps *steps);

#endif /* LEDGER_STATE_H */

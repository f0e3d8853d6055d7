/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane of the P4 program that reports to stores: the entries of its tables and its
 * mirror sessions, as they are in a switch and as they should be.
 */
#ifndef REPORT_STATE_H
#define REPORT_STATE_H

#include <dart/store.h>

#include "tools/dartctl/switch/engine/kind.h"
#include "wish.h"

#define REPORT_COLLECTOR_KEYS	256	/* numbers that the key of the table can express */
#define REPORT_REGISTER_PSN		"dart_psn"	/* a register, by collector */

/* The objects of steps; first, the tables. */
enum {
	REPORT_SHARE,
	REPORT_COLLECTOR,
	REPORT_REPORTER,
	REPORT_TABLES,
	REPORT_SESSION = REPORT_TABLES, /* by port */
	REPORT_PSN, /* by collector */
	REPORT_OBJECTS,
};

extern const struct switch_table report_tables[REPORT_TABLES];
extern const struct switch_object report_objects[REPORT_OBJECTS];

/* The parameters of the actions, in their order. */
enum { SHARE_COLLECTOR, SHARE_SESSION };
enum {
	COLLECTOR_MAC,
	COLLECTOR_IP,
	COLLECTOR_QPN,
	COLLECTOR_RKEY,
	COLLECTOR_BASE,
	COLLECTOR_MASK,
	COLLECTOR_REDUNDANCY,
};
enum {
	REPORTER_MAC,
	REPORTER_IP,
	REPORTER_CHECKSUM_BYTES,
	REPORTER_ALL_COPIES,
};

struct report_state {
	struct switch_entry shares[DART_STORE_SHARES];
	struct switch_entry collectors[REPORT_COLLECTOR_KEYS];
	struct switch_entry reporter;
	struct switch_entry sessions[SWITCH_PORTS]; /* by port, which is the value */
	struct switch_entry first_psns[SWITCH_HOSTS_MAX]; /* only in a wanted state */
};

/*
 * Writes the state to @wanted, whose bytes are 0, that a switch with the state @now should get.  A
 * collector whose queue pair the switch knows keeps its number; others get unused numbers as long
 * as there are any.
 */
void report_state__want(const struct report_wish *wish, const struct report_state *now,
			struct report_state *wanted);

#endif /* REPORT_STATE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane of the P4 program: the entries of its tables and its mirror
 * sessions, as they are in a switch and as they should be.
 */
#ifndef SWITCH_STATE_H
#define SWITCH_STATE_H

#include <stdint.h>

#include "tools/dartctl/switch/bmv2/entry.h"
#include "wish.h"

#define SWITCH_COLLECTOR_KEYS	256	/* numbers that the key has */
#define SWITCH_PSN		"dart_psn"	/* a register, by collector */

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

enum switch_table_number { SWITCH_SHARES, SWITCH_COLLECTORS, SWITCH_REPORTER };

#define SWITCH_TABLES		3

extern const struct switch_table switch_tables[SWITCH_TABLES];

/* Targets of mirror session 1 + port other than a port. */
#define SWITCH_SESSION_NONE	(-1)
#define SWITCH_SESSION_OTHER	(-2)

struct switch_state {
	struct switch_entry shares[DART_STORE_SHARES];
	struct switch_entry collectors[SWITCH_COLLECTOR_KEYS];
	struct switch_entry reporter;
	int32_t sessions[SWITCH_PORTS];		/* by port */
	/* for the register; only of a wanted state */
	uint32_t first_psns[SWITCH_COLLECTORS_MAX];
};

/* That of a switch that is not set up; NULL if out of memory. */
struct switch_state *switch_state__new(void);

/* The entry of a table with this key; that without a key has one entry. */
const struct switch_entry *
switch_state__entry(const struct switch_state *state, uint32_t table,
		    uint32_t key);

/*
 * The state that a switch with the state @now should get.  A collector whose
 * queue pair it knows keeps its number; others get unused numbers as long as
 * there are any.  Returns a new state, or NULL if out of memory.
 */
struct switch_state *switch_state__want(const struct switch_wish *wish,
					const struct switch_state *now);

#endif /* SWITCH_STATE_H */

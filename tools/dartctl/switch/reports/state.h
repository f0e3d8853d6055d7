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
#define REPORT_REGISTER_PSN		"dart_psn"	/* registers, by collector */
/* Only of reliable connections, see p4/v1model/sequence.p4. */
#define REPORT_REGISTER_STATE		"dart_state"
#define REPORT_REGISTER_EXPECTED	"dart_expected"
#define REPORT_REGISTER_LOST		"dart_lost"
#define REPORT_REGISTER_STOPS		"dart_stops"
/* Bits of the state. */
#define REPORT_STATE_FOLLOWED		0x01
#define REPORT_STATE_PROBING		0x02
#define REPORT_STATE_BROKEN		0x10

/* Only of a program that gathers postcards, see p4/v1model/postcards/rows.p4. */
#define REPORT_REGISTER_ROWS		"postcards_key"
#define REPORT_REGISTER_INCOMPLETE	"postcards_incomplete"

/* The objects of steps; first, the tables. */
enum {
	REPORT_SHARE,
	REPORT_COLLECTOR,
	REPORT_REPORTER,
	REPORT_CONNECTION, /* of collectors with reliable ones */
	REPORT_ANSWER, /* likewise, by address and queue pair */
	REPORT_TABLES,
	REPORT_SESSION = REPORT_TABLES, /* by port */
	REPORT_PSN, /* by collector */
	REPORT_OBJECTS,
	REPORT_TRANSLATION = REPORT_OBJECTS, /* only of a program that gathers postcards */
	TRANSLATOR_OBJECTS,
};

/* The table of the translation, after the tables that all programs have. */
enum { REPORT_TRANSLATION_TABLE = REPORT_TABLES, TRANSLATOR_TABLES };

extern const struct switch_table report_tables[TRANSLATOR_TABLES];
extern const struct switch_object report_objects[TRANSLATOR_OBJECTS];

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
enum { CONNECTION_FIRST_PSN };
enum { ANSWER_COLLECTOR, ANSWER_SESSION };
enum {
	REPORTER_MAC,
	REPORTER_IP,
	REPORTER_CHECKSUM_BYTES,
	REPORTER_ALL_COPIES,
};

enum { TRANSLATION_PORT, TRANSLATION_MASK, TRANSLATION_AGE };

struct report_state {
	struct switch_entry shares[DART_STORE_SHARES];
	struct switch_entry collectors[REPORT_COLLECTOR_KEYS];
	struct switch_entry reporter;
	struct switch_entry connections[REPORT_COLLECTOR_KEYS];
	struct switch_entry answers[SWITCH_HOSTS_MAX]; /* wanted ones by collector */
	struct switch_entry sessions[SWITCH_PORTS]; /* by port, which is the value */
	struct switch_entry first_psns[SWITCH_HOSTS_MAX]; /* only in a wanted state */
	struct switch_entry translation;
};

/* Reports to a queue pair that nothing has answered yet, by its registers. */
uint32_t report_state__unanswered(uint64_t state, uint64_t next, uint64_t expected);

/* The entry in @answers with the key of @entry; NULL if there is none. */
const struct switch_entry *report_state__answer(const struct switch_entry answers[SWITCH_HOSTS_MAX],
						const struct switch_entry *entry);

/*
 * Writes the state to @wanted, whose bytes are 0, that a switch with the state @now should get.  A
 * collector whose queue pair the switch knows keeps its number; others get unused numbers as long
 * as there are any.
 */
void report_state__want(const struct report_wish *wish, const struct report_state *now,
			struct report_state *wanted);

#endif /* REPORT_STATE_H */

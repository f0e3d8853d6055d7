// SPDX-License-Identifier: GPL-2.0-only
/* The counter ledger_packets counts packets by these outcomes: see Documentation/p4.md. */
#ifndef DART_LEDGER_OUTCOME_P4
#define DART_LEDGER_OUTCOME_P4

#define LEDGER_OTHER		8w0	/* of no flow, damaged, or not forwarded */
#define LEDGER_ADDED		8w1
#define LEDGER_MISSED		8w2	/* too many requests wait for answers */
#define LEDGER_UNASSIGNED	8w3	/* the switch has no ledger */

/* Outcomes of answers. */
#define LEDGER_ACKNOWLEDGED	8w4
#define LEDGER_NAK		8w5	/* a request was lost */
#define LEDGER_NAK_FATAL	8w6
#define LEDGER_STALE		8w7	/* no such request is outstanding */
#define LEDGER_MALFORMED	8w8
#define LEDGER_SOURCE		8w9	/* from another port, address or queue pair */
#define LEDGER_ICRC		8w10
#define LEDGER_OUTCOMES		11

#endif /* DART_LEDGER_OUTCOME_P4 */

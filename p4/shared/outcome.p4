// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counter dart_packets counts packets by these outcomes.  The first ones are in the
 * order of struct reporter of the XDP reporter.
 */
#ifndef DART_OUTCOME_P4
#define DART_OUTCOME_P4

#define OUTCOME_REPORT		8w0	/* to be reported */
#define OUTCOME_OTHER		8w1	/* no telemetry */
#define OUTCOME_TRUNCATED	8w2	/* a header that exceeds the packet */
#define OUTCOME_MALFORMED	8w3	/* a wrong version, type or length */
#define OUTCOME_INCOMPLETE	8w4	/* a path that lacks hops (E, M) */
#define OUTCOME_ANONYMOUS	8w5	/* no node IDs */
#define OUTCOME_UNASSIGNED	8w6	/* a share without a collector */
#define OUTCOME_UNCHANGED	8w7	/* a path that was reported before */
#define OUTCOME_DAMAGED		8w8	/* a wrong checksum of the IPv4 header */
#define OUTCOME_TAGGED		8w9	/* VLAN tags: not parsed further */
#define OUTCOME_EXTENSIONS	8w10	/* of IPv6: likewise */
#define OUTCOME_ANSWER		8w11	/* of a collector, over a reliable connection */
#define OUTCOME_FORGED		8w12	/* an answer from another port, or with a wrong ICRC */
#define OUTCOMES		13

/* Only of the program that gathers postcards of hops. */
#define OUTCOME_GATHERED	8w13	/* a postcard that waits in its row */
#define OUTCOME_ROOMLESS	8w14	/* a postcard of a path with too many hops */
#define TRANSLATOR_OUTCOMES	15

#endif /* DART_OUTCOME_P4 */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * What became of a packet, for the counter dart_packets; the order is that of
 * struct reporter of the XDP reporter.
 */
#ifndef DART_OUTCOME_P4
#define DART_OUTCOME_P4

#define OUTCOME_REPORT		8w0	/* to be reported */
#define OUTCOME_OTHER		8w1	/* no telemetry */
#define OUTCOME_TRUNCATED	8w2	/* a header that ends behind it */
#define OUTCOME_MALFORMED	8w3	/* a version, a type, lengths */
#define OUTCOME_INCOMPLETE	8w4	/* a path that lacks hops (E, M) */
#define OUTCOME_ANONYMOUS	8w5	/* no node IDs */
#define OUTCOME_UNASSIGNED	8w6	/* a share that no collector has */
#define OUTCOME_UNCHANGED	8w7	/* the path that was reported before */
#define OUTCOMES		8

#endif /* DART_OUTCOME_P4 */

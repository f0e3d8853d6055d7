// SPDX-License-Identifier: GPL-2.0-only
/* The verdict on a response to a queue pair, and the states of a queue pair. */
#ifndef DART_RDMA_VERDICT_P4
#define DART_RDMA_VERDICT_P4

#define VERDICT_DATA		8w0	/* outstanding; it brings the requested data */
#define VERDICT_STALE		8w1	/* not outstanding, or no longer */
#define VERDICT_ACKNOWLEDGED	8w2
#define VERDICT_PROBED		8w3	/* answers a probe: send the next one */
#define VERDICT_SEQUENCE	8w4	/* a request was lost; the next PSN is set */
#define VERDICT_NAK_STALE	8w5
#define VERDICT_FATAL		8w6	/* the queue pair is in error */
#define VERDICT_OTHER		8w7	/* not a valid response */
#define VERDICT_SETTLED		8w8	/* answers a probe; the next PSN is set */

#define PEER_UP			8w0
#define PEER_SILENT		8w1
#define PEER_STOPPED		8w2	/* by the control plane */
#define PEER_BROKEN		8w3	/* the queue pair is in error */
#define PEER_LOSING		8w4	/* requests of the queue pair before */

#define QUEUE_PAIRS		64	/* all numbers of 6 bits */

/*
 * Distances of PSNs: the most that are outstanding at a peer; how far the peer can be behind
 * the first outstanding PSN, after a wrong answer; how far a probe goes back to a PSN that
 * the peer has certainly passed.
 */
#define PSNS_OUTSTANDING	24w32
#define PSNS_BEHIND		24w40
#define PSNS_PAST		24w64

/* The PSN that some peers acknowledge before their first WRITE. */
#define PSN_OF_NO_WRITE		24w0xffffff

#endif /* DART_RDMA_VERDICT_P4 */

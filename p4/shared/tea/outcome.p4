// SPDX-License-Identifier: GPL-2.0-only
/* The counter tea_packets counts packets by these outcomes: Documentation/p4.md describes them. */
#ifndef DART_TEA_OUTCOME_P4
#define DART_TEA_OUTCOME_P4

#define TEA_OTHER	8w0
#define TEA_KEYLESS	8w1
#define TEA_INVALID	8w2
#define TEA_CACHE	8w3
#define TEA_STASH	8w4
#define TEA_UNASSIGNED	8w5
#define TEA_LIMIT	8w6
#define TEA_LONG	8w7
#define TEA_SILENT	8w8
#define TEA_SENT	8w9

/* Outcomes of responses. */
#define TEA_FOUND	8w10
#define TEA_AGAIN	8w11
#define TEA_CHANGING	8w12
#define TEA_STASHED	8w13
#define TEA_ABSENT	8w14
#define TEA_MALFORMED	8w15
#define TEA_SOURCE	8w16
#define TEA_ICRC	8w17
#define TEA_STALE	8w18
#define TEA_LENGTH	8w19
#define TEA_TAG		8w20
#define TEA_EPOCH	8w21
#define TEA_CHECK	8w22
#define TEA_ACKNOWLEDGED 8w23
#define TEA_PROBED	8w24
#define TEA_NAK		8w25
#define TEA_NAK_STALE	8w26
#define TEA_NAK_FATAL	8w27
#define TEA_OUTCOMES	28

#endif /* DART_TEA_OUTCOME_P4 */

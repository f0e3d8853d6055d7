// SPDX-License-Identifier: GPL-2.0-only
/* The ledger that a switch adds to, and the amounts on their way there. */
#ifndef DART_LEDGER_STATE_P4
#define DART_LEDGER_STATE_P4

#include <dart/ledger.h>

#include "shared/rdma/request.p4"

#define LEDGER_CACHE_ROWS	1024
#define LEDGER_CACHE_BITS	10
#define LEDGER_FLUSH_US		(48w1000 * DART_LEDGER_FLUSH_MS)
#define LEDGER_KEY_BITS		304	/* a kind of key, and the longest key of a flow */

/* The memory of the ledger; rows are 0 without a ledger. */
struct ledger_t {
	bit<64> base;
	bit<32> mask;		/* words of a row - 1 */
	bit<8> rows;
	bit<16> session;	/* mirror session towards the collector */
}

/* Requests to be sent: egress writes one after the other. */
struct ledger_requests_t {
	bit<32> first;
	bit<32> count;
	bit<24> psn;		/* of the first one */
}

/* A row of the cache that is sent. */
struct ledger_row_t {
	bit<LEDGER_KEY_BITS> key;
	bit<64> sum;		/* 0: none */
	bit<48> since;		/* when the first amount came */
}

#endif /* DART_LEDGER_STATE_P4 */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of the entry "dartd": a room is given the part that it counts in, and
 * writes to it when something happens.  Controllers READ the memory at any time, so
 * each value is written in one access.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdint.h>

#include "coverage.h"

/* Peers of a kind. */
struct peer_counts {
	uint64_t connected;	/* now */
	uint64_t total;
};

/* Peers that ask for values, by one transport. */
struct serve_counts {
	struct peer_counts peers;
	uint64_t requests;
	uint64_t errors;	/* answers that are one */
	uint64_t bytes;		/* of answers */
	uint64_t cut_off;	/* did not take an answer, or finish a request, in time */
	uint64_t refused_changes;	/* of lookup tables, by callers that may not make them */
};

/* The connections of TCP that did not become peers. */
struct tcp_counts {
	uint64_t not_allowed;	/* their address */
	uint64_t limited;
	uint64_t handshakes;	/* failed ones: certificates, versions */
};

/* Why a connect request was rejected. */
enum rejection {
	REJECTED_MALFORMED,
	REJECTED_VERSION,
	REJECTED_NOT_ALLOWED,
	REJECTED_LIMIT,
	REJECTED_DEVICE,
	REJECTED_NO_STORE,
	REJECTED_RESOURCES,
	REJECTIONS
};

struct connection_counts {
	uint64_t rejected[REJECTIONS];
	uint64_t unfinished;	/* accepted, but never established */
};

struct table_counts {
	uint64_t entries;	/* in the table now, as are the next two */
	uint64_t slices;
	uint64_t followers;
	uint64_t publications;
	uint64_t failed_publications;
	uint64_t lingering;	/* entries now that have ended, see lingering.h */
	uint64_t cut_short;	/* entries that left early */
};

/* Epochs of stores. */
struct epoch_counts {
	uint64_t written; /* to files */
	uint64_t lost; /* not written before their bank was needed */
	uint64_t late; /* rotations that waited for a file */
	/* Slots that late reports wrote into a bank that was in its file already. */
	uint64_t late_slots;
};

struct store_counts {
	uint64_t stores;	/* now */
	uint64_t reporters;
	struct epoch_counts epochs;
};

/* Lookup tables of switches. */
struct lookup_counts {
	uint64_t tables;	/* now */
	uint64_t requesters;
	uint64_t renewals;	/* of their queue pairs */
};

struct journal_counts {
	uint64_t journals;	/* now */
	uint64_t appenders;
};

struct ledger_counts {
	uint64_t ledgers; /* now */
	uint64_t adders;
	uint64_t renewals; /* of their queue pairs */
};

struct sketch_counts {
	uint64_t sketches; /* now */
	uint64_t sketchers;
};

/* Memory regions of RDMA. */
struct memory_counts {
	uint64_t regions;	/* now */
	uint64_t bytes;
};

/* Memory of closed regions of this machine that is still pinned. */
struct quarantine_counts {
	uint64_t extents;
	uint64_t bytes;
};

/* The registration socket. */
struct client_counts {
	uint64_t connected;	/* now */
	uint64_t total;
	uint64_t rejected;	/* too many */
	uint64_t requests;
	uint64_t refused_requests;
};

/* Coverage of one kind of objects. */
struct coverage_counts {
	uint64_t present;
	uint64_t served;
	uint64_t missing[COVERAGE_REASONS];
};

/* Values are uint64_t only: agent/self/ describes each one. */
/* Of uname(2), in ASCII; NULs fill the rest.  Written before the entry is published. */
struct kernel_texts {
	char release[64];
	char version[64];
	char machine[64];
	char domain_name[64];
};

struct counts {
	uint64_t start_realtime;	/* ns, CLOCK_REALTIME */
	uint64_t start_boottime;	/* ns, CLOCK_BOOTTIME */
	struct peer_counts controllers;
	struct peer_counts readers;	/* of stores */
	struct peer_counts table_readers;
	struct peer_counts journal_readers;
	struct peer_counts ledger_readers;
	struct peer_counts sketch_readers;
	struct serve_counts rpc, tcp;
	struct tcp_counts tcp_refused;
	struct connection_counts connections;
	struct table_counts table;
	struct store_counts stores;
	struct lookup_counts lookup;
	struct journal_counts journals;
	struct ledger_counts ledgers;
	struct sketch_counts sketches;
	struct memory_counts memory;
	uint64_t gathering_modules;	/* 0: by eBPF programs */
	struct quarantine_counts quarantine;
	struct client_counts clients;
	uint64_t suppressed_messages;
	struct coverage_counts coverage[COVERAGE_KINDS];
	struct kernel_texts kernel;
};

static inline void count__set(uint64_t *count, uint64_t value)
{
	__atomic_store_n(count, value, __ATOMIC_RELAXED);
}

/* Only dartd's one thread writes. */
static inline void count__add(uint64_t *count, int64_t more)
{
	count__set(count, *count + more);
}

#endif /* COUNTS_H */

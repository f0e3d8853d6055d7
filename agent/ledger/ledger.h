/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledgers of this collector: memory that readers READ, and to whose words adders add; see
 * <dart/ledger.h>.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include <libdart/ledger/ledger.h>

#include "agent/base/peer_kind.h"
#include "agent/base/request.h"
#include "agent/rdma/answering_qp.h"
#include "agent/rdma/memory_view.h"
#include "agent/rdma/remote_objects.h"

/* In errors, and in the names of kept descriptors. */
#define LEDGER_NOUN "ledger"
/* All names in the fd store begin with this. */
#define LEDGER_KEPT_PREFIX LEDGER_NOUN "-"

struct ledger {
	struct remote_object object;
	struct dart_ledger_geometry geometry;
	uint64_t epoch; /* as of a store */
};

/* A host that adds, by its address. */
struct adder {
	struct remote_peer peer;
	struct memory_view view; /* for atomic operations only */
	struct answering_qp answering_qp;
	uint64_t renewals; /* of the queue pair */
};

struct ledgers {
	struct remote_objects objects; /* the first member */
	uint64_t *renewal_count; /* of the queue pairs of all adders */
};

/* Ledgers as remote objects; their peers are the adders. */
extern const struct remote_kind ledger_kind;

/* See remote_objects__add().  -EOPNOTSUPP on a big-endian host. */
int ledgers__create(struct ledgers *ledgers, const char *name,
		    const struct dart_ledger_geometry *geometry, struct remote_origin *origin,
		    struct ledger **ledger, struct dart_error *error);
/*
 * Lets the host at @address add to the ledger, whose first word it finds at @base, 0 for a random
 * address.  -EAGAIN while the adder does not answer ARP: the caller tries again.
 */
int ledgers__add_adder(struct ledgers *ledgers, struct ledger *ledger, struct in_addr address,
		       uint64_t base, struct adder **adder, struct dart_error *error);
/*
 * Replaces the queue pair of @adder, which may be in the error state, by one of another number and
 * first PSN; key and address stay.  -EAGAIN as above.
 */
int ledgers__renew_adder(struct ledgers *ledgers, struct ledger *ledger, struct adder *adder,
			 struct dart_error *error);

/* Requests about ledgers and adders; the subject is struct ledgers. */
extern const struct request_type ledgers_requests[];

/* Offers the ledger that a reader names; the subject is struct ledgers. */
extern const struct peer_kind ledger_reader_kind;

#endif /* LEDGER_H */

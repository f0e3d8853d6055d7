/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source NAT: which flows there are, which address and port each one gets, and when it ends.  Pure
 * state: its user tells it packets, times and what became of the table, and it tells its user by
 * handlers what to write to the journal and to the table.
 *
 * A mapping gives an address and a port outside to an address and a port inside, whatever hosts
 * these talk to (endpoint-independent, RFC 4787, REQ-1).  A flow is a mapping with one such host.
 * Each flow has two entries in the table, one for each direction, except a flow that no entry can
 * describe: an ICMP echo has no key in the switch, and a flow between two hosts inside (hairpin,
 * REQ-9) needs both of its ends rewritten.  The daemon itself translates all packets of such a
 * flow: it is kept.
 *
 * Ageing.  The daemon sees no packet of a flow that is in the table.  So when the time-out has
 * passed since the flow was entered, it removes both entries, and keeps the mapping.  If another
 * packet of the flow comes within another time-out, the flow is in use, and is entered again with
 * the same port; otherwise it was idle for at least a whole time-out, and ends.
 */
#ifndef FLOWS_NAT_H
#define FLOWS_NAT_H

#include <sys/queue.h>

#include "index.h"
#include "ports.h"

enum flow_state {
	FLOW_KEPT, /* not in the table: the daemon translates all packets */
	FLOW_ENTERING, /* entries are on their way to the table */
	FLOW_ENTERED,
	FLOW_LEAVING, /* its entries are being removed, to learn whether it is in use */
	FLOW_ASKED, /* they are removed; another packet of the flow enters it again */
	FLOW_ENDING, /* they are being removed, and then the flow ends */
	FLOW_STATES
};

extern const char *const flow_state_names[FLOW_STATES];

/* Hosts inside, by their address. */
struct subscriber {
	struct index_link link;
	uint32_t address;
	uint32_t pool_address; /* of all its mappings; 0: none yet */
	uint32_t mappings, ports, flows; /* ports: without static ones */
};

struct mapping {
	struct index_link inside_link, outside_link;
	struct subscriber *subscriber;
	LIST_HEAD(, flow) flows;
	struct end inside, outside;
	uint8_t protocol;
	bool is_static;
	bool is_leaving; /* new packets from inside get another mapping */
	bool has_port; /* of a pool of the present policy */
	bool is_counted; /* among the ports of its subscriber */
};

struct flow {
	struct index_link link;
	LIST_ENTRY(flow) of_mapping;
	TAILQ_ENTRY(flow) of_queue;
	struct mapping *mapping;
	struct end remote;
	enum flow_state state;
	bool is_kept; /* never in the table */
	uint8_t seen; /* entries that a comparison found in the table */
	uint32_t changes; /* since the last comparison, that the table has not made yet */
	uint64_t since_ns; /* when it got this state; FLOW_KEPT: last packet */
	uint64_t packets, bytes; /* that the daemon translated */
};

/* What becomes of a packet. */
enum nat_verdict {
	NAT_TRANSLATED,
	NAT_UNRELATED, /* neither from inside nor to an address of a pool, or to the inside */
	NAT_UNKNOWN, /* to a port of a pool without a mapping */
	NAT_FILTERED, /* from a host that the mapping has no flow with */
	NAT_LIMITED, /* its subscriber has as many ports or flows as it may */
	NAT_EXHAUSTED, /* the pool has no port left, or there are as many flows as there may be */
	NAT_ENDED, /* its flow is being ended */
	NAT_CLOSED, /* no flow can begin: the journal cannot be written */
	NAT_VERDICTS
};

extern const char *const nat_verdict_names[NAT_VERDICTS];

/* Called with the subject. */
struct nat_handlers {
	/* for the journal */
	void (*begun)(void *subject, const struct flow *flow);
	void (*ended)(void *subject, const struct flow *flow);
	/*
	 * for the table: insert, or remove, both entries, and call nat__entered() or nat__left(),
	 * in the order of the changes, unless nat__compare() comes first
	 */
	void (*enter)(void *subject, struct flow *flow);
	void (*leave)(void *subject, struct flow *flow);
};

struct nat;

/* The policy is the caller's, and outlives @nat or its place in it. */
int nat__new(const struct policy *policy, const struct nat_handlers *handlers, void *subject,
	     struct nat **nat, struct dart_error *error);
void nat__free(struct nat *nat);
/*
 * Takes another policy, which may differ in all but the settings of policy__check_reload().  Flows
 * that it has no place for end.  Returns 0; 1 if static mappings are missing for want of memory; or
 * -EADDRINUSE or -ENOMEM with a sentence: then nothing has changed.
 */
int nat__set_policy(struct nat *nat, const struct policy *policy, struct dart_error *error);
/* If it is closed, no flow begins. */
void nat__close(struct nat *nat, bool is_closed);

/* Rewrites the packet if the verdict is NAT_TRANSLATED.  @now_ns: of one clock in all calls. */
enum nat_verdict nat__translate(struct nat *nat, struct packet *packet, uint64_t now_ns);

/*
 * The flow with this end inside, or this end outside, and this other end; NULL: none.  @protocol
 * as in a packet.
 */
struct flow *nat__find(const struct nat *nat, uint8_t protocol, const struct end *inside,
		       const struct end *remote);
/* Ends a flow: it may be gone when this returns. */
void nat__end(struct nat *nat, struct flow *flow);

/* A flow as the journal keeps it. */
struct nat_record {
	uint8_t protocol;
	struct end inside, outside, remote;
};

struct nat_record flow__record(const struct flow *flow);
/*
 * A flow of an earlier process.  One that the policy has no place for is about to end.  If another
 * mapping has its port, or its end inside, an end of flows was lost: these flows are forgotten.
 * Returns 0; -EEXIST if it is there already, or if its port is that of a static mapping; -ENOMEM or
 * -ENOSPC.
 */
int nat__restore(struct nat *nat, const struct nat_record *record, uint64_t now_ns);
/* This flow of an earlier process ended. */
void nat__forget(struct nat *nat, const struct nat_record *record);

/* ---- the table */

#define NAT_KEY_LENGTH 13
#define NAT_VALUE_LENGTH 7

enum nat_direction { NAT_BACK, NAT_OUT, NAT_DIRECTIONS };

/* An entry of the flow, as in schemas/nat.yaml. */
void flow__entry(const struct flow *flow, enum nat_direction direction,
		 uint8_t key[static NAT_KEY_LENGTH], uint8_t value[static NAT_VALUE_LENGTH]);
/* The entries are in the table, or cannot be there: then the flow is kept. */
void nat__entered(struct nat *nat, struct flow *flow, bool is_there, uint64_t now_ns);
/* They are not in the table.  The flow may be gone when this returns. */
void nat__left(struct nat *nat, struct flow *flow, uint64_t now_ns);
/*
 * Comparison with the table: call nat__see() for each of its entries, which returns false for an
 * entry that has to be removed, and then nat__compare(), which enters all flows that miss an entry
 * and lets others leave as their states say.
 */
bool nat__see(struct nat *nat, const uint8_t key[static NAT_KEY_LENGTH],
	      const uint8_t value[static NAT_VALUE_LENGTH]);
void nat__compare(struct nat *nat);

/*
 * Lets time pass: a bounded number of flows is asked, or ends.  Without a table no flow is asked.
 * Returns true if more have waited long enough.
 */
bool nat__tick(struct nat *nat, uint64_t now_ns, bool has_table);

/* ---- for users and the journal */

struct nat_counts {
	uint64_t verdicts[NAT_VERDICTS];
	uint64_t begun, ended, refused; /* refused by the table */
	uint64_t flows, mappings, subscribers;
	uint64_t by_state[FLOW_STATES];
	uint64_t ports[POLICY_CLASSES]; /* that are taken */
	uint64_t port_places; /* ports of all pools, for each class */
};

void nat__count(const struct nat *nat, struct nat_counts *counts);
/*
 * Calls @tell for the flows of the next @chains chains from *@place on, 0 at first.  Returns false
 * after the last one.  @tell must not end flows.
 */
bool nat__walk(const struct nat *nat, uint64_t *place, uint64_t chains,
	       void (*tell)(void *subject, const struct flow *flow), void *subject);

#endif /* FLOWS_NAT_H */

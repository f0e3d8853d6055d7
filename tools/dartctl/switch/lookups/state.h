/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane of a P4 program with lookup tables, as it is in a switch and as it
 * should be: see Documentation/p4.md, "Tables of a switch with lookup tables".
 */
#ifndef LOOKUP_STATE_H
#define LOOKUP_STATE_H

#include "program.h"
#include "tools/dartctl/switch/engine/kind.h"
#include "wish.h"

/* Registers, by server. */
#define LOOKUP_REGISTER_PSN "tea_psn"
#define LOOKUP_REGISTER_OUTSTANDING "tea_outstanding"
#define LOOKUP_REGISTER_PROVEN "tea_proven"
#define LOOKUP_REGISTER_STATE "tea_state"

/* Contents of LOOKUP_REGISTER_STATE. */
enum { LOOKUP_UP, LOOKUP_SILENT, LOOKUP_STOPPED };

/* The objects of steps; first, the tables whose entries consist of numbers. */
enum {
	LOOKUP_SELF,
	LOOKUP_SHARE,
	LOOKUP_FROM, /* responses, by the address of their server */
	LOOKUP_SERVER,
	LOOKUP_OTHERWISE, /* by outcome */
	LOOKUP_MTU,
	LOOKUP_TABLES,
	LOOKUP_STASH = LOOKUP_TABLES, /* index: in the state now, to remove; or in the wanted one */
	LOOKUP_CACHE, /* all cached entries */
	LOOKUP_SESSION, /* by port */
	LOOKUP_GROUP, /* by port */
	LOOKUP_PSN, /* all registers that count requests to a server */
	LOOKUP_OBJECTS,
};

extern const struct switch_table lookup_tables[LOOKUP_TABLES];
extern const struct switch_object lookup_objects[LOOKUP_OBJECTS];

/* The parameters of the actions, in their order. */
enum {
	SELF_MAC,
	SELF_IP,
	SELF_PACKET_LENGTH,
	SELF_OUTSTANDING,
	SELF_TIMEOUT,
	SELF_TRIES,
};
enum {
	LOOKUP_SHARE_FIRST,
	LOOKUP_SHARE_FIRST_PORT,
	LOOKUP_SHARE_SECOND,
	LOOKUP_SHARE_SECOND_PORT,
};
enum { FROM_SERVER, FROM_PORT, FROM_EPOCH };
enum {
	SERVER_MAC,
	SERVER_IP,
	SERVER_QPN,
	SERVER_RKEY,
	SERVER_BASE,
	SERVER_MASK,
	SERVER_ROW_LOG2,
	SERVER_EPOCH,
};
enum { OTHERWISE_PORT };
enum { MTU_LONGEST };

struct lookup_stashed {
	struct dart_tea_stashed entry;
	int32_t handle; /* number that the switch gave to the entry */
	bool is_ours; /* its action is LOOKUP_ACTION_STASH */
};

struct lookup_state {
	struct lookup_sizes sizes; /* of the program, only in a state that was read */
	struct switch_entry self, mtu;
	struct switch_entry shares[DART_TEA_SHARES];
	struct switch_entry servers[DART_TEA_SERVERS_MAX];
	struct switch_entry from[DART_TEA_SERVERS_MAX]; /* in no order; their keys are addresses */
	struct switch_entry otherwise[LOOKUP_OUTCOMES];
	struct switch_entry sessions[SWITCH_PORTS]; /* by port, which is the value */
	struct switch_entry groups[SWITCH_PORTS]; /* likewise */
	uint8_t states[DART_TEA_SERVERS_MAX]; /* of the register, only in a state that was read */
	struct switch_entry first_psns[DART_TEA_SERVERS_MAX]; /* only in a wanted state */
	uint32_t cached_count; /* entries of the cache, which a push removes */
	size_t stashed_count;
	struct lookup_stashed *stashed; /* in the order of keys, each once */
};

/* Frees the stash. */
void lookup_state__release(struct lookup_state *state);

/* The entry of responses from @ip, or NULL. */
const struct switch_entry *lookup_state__from(const struct lookup_state *state, uint32_t ip);
/* The index in @state of the stashed entry with the key of @entry, or -1. */
ptrdiff_t lookup_state__stashed(const struct lookup_state *state,
				const struct dart_tea_stashed *entry);

/*
 * Writes the state to @wanted, whose bytes are 0, that a switch with the state @now should get.  A
 * server whose address the switch knows keeps its number; others get unused numbers as long as
 * there are any.  Returns 0 or -ENOMEM; in both cases the caller releases @wanted.
 */
int lookup_state__want(const struct lookup_wish *wish, const struct lookup_state *now,
		       struct lookup_state *wanted);

#endif /* LOOKUP_STATE_H */

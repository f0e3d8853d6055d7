/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane of a P4 program with lookup tables, as it is in a switch and as it
 * should be: see Documentation/p4.md, "Tables of a switch with lookup tables".
 */
#ifndef SWITCH_LOOKUP_STATE_H
#define SWITCH_LOOKUP_STATE_H

#include "tools/dartctl/switch/bmv2/entry.h"
#include "wish.h"

#define LOOKUP_PSN "tea_psn" /* registers, by server */
#define LOOKUP_OUTSTANDING "tea_outstanding"
#define LOOKUP_STATE "tea_state"

#define LOOKUP_STASH "tea_stash" /* a table, by key */
#define LOOKUP_STASHED "tea_stashed" /* its action */

#define LOOKUP_CACHE "tea_cache" /* likewise */
#define LOOKUP_CACHED "tea_cached"

/* Contents of LOOKUP_STATE. */
enum { LOOKUP_UP, LOOKUP_SILENT, LOOKUP_STOPPED };

/* Tables whose entries consist of numbers. */
enum lookup_table {
	LOOKUP_SELF,
	LOOKUP_SHARES,
	LOOKUP_FROM,
	LOOKUP_SERVERS,
	LOOKUP_OTHERWISE,
};

#define LOOKUP_TABLES 5

extern const struct switch_table lookup_tables[LOOKUP_TABLES];

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

/* The entry of an address. */
struct lookup_from {
	uint32_t ip; /* as a number */
	struct switch_entry entry;
};

struct lookup_stashed {
	struct dart_tea_stashed entry;
	int32_t handle; /* of the switch for it */
	bool is_ours; /* it has the action of LOOKUP_STASHED */
};

/* What mirror session or multicast group 1 + port is. */
enum lookup_way { LOOKUP_WAY_ABSENT, LOOKUP_WAY_OTHER, LOOKUP_WAY_RIGHT };

struct lookup_state {
	struct switch_entry self;
	struct switch_entry shares[DART_TEA_SHARES];
	struct switch_entry servers[DART_TEA_SERVERS_MAX];
	uint32_t from_count;
	struct lookup_from from[DART_TEA_SERVERS_MAX];
	struct switch_entry otherwise[LOOKUP_OUTCOMES];
	uint8_t sessions[SWITCH_PORTS]; /* enum lookup_way, by port */
	uint8_t groups[SWITCH_PORTS];
	/* of the register, only in a state that was read */
	uint8_t states[DART_TEA_SERVERS_MAX];
	/* for the register, only in a wanted state */
	uint32_t first_psns[DART_TEA_SERVERS_MAX];
	uint32_t cached_count; /* entries of LOOKUP_CACHE, which a push removes */
	size_t stashed_count;
	struct lookup_stashed *stashed; /* in the order of keys, each once */
};

/* That of a switch that is not set up; NULL if out of memory. */
struct lookup_state *lookup_state__new(void);
/* @state may be NULL. */
void lookup_state__free(struct lookup_state *state);

/*
 * The entry of a table; @key: share, server or outcome; LOOKUP_SELF has one entry, and
 * LOOKUP_FROM that of index @key.
 */
const struct switch_entry *lookup_state__entry(const struct lookup_state *state,
					       uint32_t table, uint32_t key);
/* The index in @state->from, or @state->from_count. */
uint32_t lookup_state__from(const struct lookup_state *state, uint32_t ip);

/*
 * The state that a switch with the state @now should get.  A server whose address the switch
 * knows keeps its number; others get unused numbers as long as there are any.
 * Returns a new state, or NULL if out of memory.
 */
struct lookup_state *lookup_state__want(const struct lookup_wish *wish,
					const struct lookup_state *now);

#endif /* SWITCH_LOOKUP_STATE_H */

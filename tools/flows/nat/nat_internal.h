/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a NAT, for the files nat*.c. */
#ifndef FLOWS_NAT_INTERNAL_H
#define FLOWS_NAT_INTERNAL_H

#include "nat.h"
#include "ports.h"
#include "tools/flows/connection/connection.h"
#include "tools/flows/function/function_type.h"

/* Hosts inside, by their address. */
struct subscriber {
	struct index_link link;
	address_t address;
	address_t pool_address; /* of all its mappings; 0: none yet */
	uint32_t mappings, ports, flows; /* ports: without static ones */
};

struct mapping {
	struct index_link inside_link, outside_link;
	struct subscriber *subscriber;
	LIST_HEAD(, nat_flow) flows;
	struct end inside, outside;
	uint8_t protocol;
	bool is_static;
	bool is_leaving; /* new packets from inside get another mapping */
	bool has_port; /* of a pool of the present policy */
	bool is_counted; /* among the ports of its subscriber */
};

struct nat_flow {
	struct flow flow;
	LIST_ENTRY(nat_flow) of_mapping;
	struct mapping *mapping;
	struct end remote;
	struct connection connection; /* of TCP */
};

struct nat {
	struct function function;
	struct ports *ports;
	struct index subscribers, insides, outsides;
	uint64_t mapping_count, subscriber_count;
};

struct mapping *nat__mapping_inside(const struct nat *nat, uint8_t protocol,
				    const struct end *inside);
struct mapping *nat__mapping_outside(const struct nat *nat, uint8_t protocol,
				     const struct end *outside);
/* The mapping with these ends, whose port is taken already; NULL: out of memory. */
struct mapping *nat__add_mapping(struct nat *nat, uint8_t protocol, const struct end *inside,
				 const struct end *outside);
/* Allocates a port; NULL and a verdict if that is not possible. */
struct mapping *nat__map(struct nat *nat, uint8_t protocol, const struct end *inside,
			 enum nat_verdict *verdict);
void nat__remove_mapping(struct nat *nat, struct mapping *mapping);

struct nat_flow *nat__find_flow(const struct nat *nat, const struct mapping *mapping,
				const struct end *remote);
/* NULL: out of memory */
struct nat_flow *nat__add_flow(struct nat *nat, struct mapping *mapping, const struct end *remote,
			       enum flow_state state, uint64_t now_ns);
/* The flow is over: its mapping, if it was the last one, too. */
void nat__free_flow(struct function *function, struct flow *flow);

/*
 * Translates the ends of an error and of the packet that it quotes.  Returns NAT_RELATED, or the
 * reason for which it did not.
 * Errors do not say that a flow is in use.
 */
enum nat_verdict nat__translate_error(struct nat *nat, struct packet *packet);

#endif /* FLOWS_NAT_INTERNAL_H */

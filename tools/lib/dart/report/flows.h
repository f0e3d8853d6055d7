/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Flows for tests and load: keys, and the paths that INT would report for them.
 * The same options produce the same flows.
 */
#ifndef DART_FLOWS_H
#define DART_FLOWS_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#define DART_FLOW_KEY_LENGTH	13
#define DART_FLOW_HOPS_MAX	5
#define DART_FLOWS_SKEW_MIN	0.01
#define DART_FLOWS_SKEW_MAX	10.

enum dart_flows_kind {
	DART_FLOWS_UNIFORM,	/* keys and paths are random numbers */
	DART_FLOWS_ZIPF,	/* likewise; few flows send most packets */
	/*
	 * UDP between the hosts of a fat tree of k-port switches, as in
	 * Al-Fares, Loukissas, Vahdat: "A scalable, commodity data center
	 * network architecture", SIGCOMM 2008, with that paper's addresses.
	 * The address of a switch is its ID.
	 */
	DART_FLOWS_FAT_TREE,
};

struct dart_flows_options {
	enum dart_flows_kind kind;
	uint32_t k;		/* of a fat tree; even, 2 to 254 */
	uint64_t count;		/* flows, 1 to dart_flows__max() */
	uint64_t seed;
	double skew;		/* of Zipf: rank r weighs 1 / r^skew */
};

struct dart_flow {
	/* source, destination, their ports, protocol (UDP); network order */
	uint8_t key[DART_FLOW_KEY_LENGTH];
	uint32_t hops;		/* 1 to DART_FLOW_HOPS_MAX */
	/* IDs of the switches, the last switch first, then zeros */
	__be32 path[DART_FLOW_HOPS_MAX];
};

struct dart_flows;

/* Parses "uniform", "zipf" or "fat-tree"; -EINVAL for other names. */
int dart_flows_kind__find(const char *name, enum dart_flows_kind *kind);

/* The number of different flows of this kind; 0 if @k is invalid. */
uint64_t dart_flows__max(const struct dart_flows_options *options);

/* Returns 0, -EINVAL (the options) or -ENOMEM. */
int dart_flows__new(const struct dart_flows_options *options, struct dart_flows **flows);
void dart_flows__free(struct dart_flows *flows);

/*
 * Generates flow @index, below the count; no two flows share a key.  Threads may call this
 * concurrently.
 */
void dart_flows__get(const struct dart_flows *flows, uint64_t index, struct dart_flow *flow);

/*
 * The flow of packet number @packet: random for Zipf; otherwise each flow sends
 * its first packet, then each its second, and so on.
 */
uint64_t dart_flows__of_packet(const struct dart_flows *flows, uint64_t packet);

#endif /* DART_FLOWS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose half-open connection makes room for another one: one of the network that has the
 * most of them, so that a peer that opens many takes its own, and the oldest of these.
 *
 * A network is an IPv4 address, or an IPv6 prefix of 64 bits: whoever has an IPv6 address has
 * a network with such a prefix, as a rule.
 */
#ifndef CROWD_H
#define CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Networks with the same hash count as one; the hash has a seed. */
#define CROWD_NETWORKS 1024

struct crowd {
	uint64_t seed;
	const struct sockaddr *newcomer;
	uint32_t of_networks[CROWD_NETWORKS];
	uint64_t most;		/* weight of @victim */
	void *victim;
};

/* @seed: random, of this process; @newcomer: the address of the one that wants room. */
void crowd__open(struct crowd *crowd, uint64_t seed,
		 const struct sockaddr *newcomer);
/* To call for each half-open connection. */
void crowd__count(struct crowd *crowd, const struct sockaddr *address);
/*
 * To call for each of them again, the oldest first: @connection, at @address, is the victim
 * if no other one is a better choice.  Of equal networks that of the newcomer is.
 */
void crowd__choose(struct crowd *crowd, const struct sockaddr *address,
		   void *connection);

/* Addresses without ports; an IPv4 address in an IPv6 one is its own. */
bool have_same_address(const struct sockaddr *a, const struct sockaddr *b);
/* The hash of the network of @address. */
uint64_t network__hash(const struct sockaddr *address, uint64_t seed);

#endif /* CROWD_H */

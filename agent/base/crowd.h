/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects the half-open connection to close when a new connection needs its place: the oldest of
 * the network with the most half-open connections.  So a peer that opens many loses only its own.
 *
 * A network is an IPv4 address, or an IPv6 prefix of 64 bits: the owner of an IPv6 address usually
 * controls the whole /64.
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

/* @seed: random, of this process; @newcomer: the address of the new connection. */
void crowd__open(struct crowd *crowd, uint64_t seed,
		 const struct sockaddr *newcomer);
/* Call this for each half-open connection first. */
void crowd__count(struct crowd *crowd, const struct sockaddr *address);
/*
 * Call this for each half-open connection again, the oldest first.  Selects the victim among the
 * connections passed so far.  Of networks with equally many connections, the newcomer's is
 * selected.
 */
void crowd__choose(struct crowd *crowd, const struct sockaddr *address,
		   void *connection);

/* Compares addresses without ports; an IPv4-mapped IPv6 address equals its IPv4 address. */
bool have_same_address(const struct sockaddr *a, const struct sockaddr *b);
/* The hash of the network of @address. */
uint64_t network__hash(const struct sockaddr *address, uint64_t seed);

#endif /* CROWD_H */

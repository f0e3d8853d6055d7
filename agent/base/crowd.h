/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits for peers before they are known.
 *
 * A crowd selects the half-open connection to close when a new connection needs its place: the
 * oldest of the network with the most half-open connections.  So a peer that opens many loses only
 * its own.  Handshake rates limit how many handshakes begin per second, in all and from one
 * address, because each costs this host work.
 *
 * A network is an IPv4 address, or an IPv6 prefix of 64 bits: the owner of an IPv6 address usually
 * controls the whole /64.
 */
#ifndef CROWD_H
#define CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Networks with the same hash count as one; the hash is seeded. */
#define CROWD_NETWORKS 1024

struct crowd {
	uint64_t seed;
	const struct sockaddr *newcomer;
	uint32_t of_networks[CROWD_NETWORKS];
	uint64_t most;		/* weight of @victim */
	void *victim;
};

/* @seed: random, of this process; @newcomer: the address of the new connection. */
void crowd__open(struct crowd *crowd, uint64_t seed, const struct sockaddr *newcomer);
/* Call this for each half-open connection first. */
void crowd__count(struct crowd *crowd, const struct sockaddr *address);
/*
 * Call this for each half-open connection again, the oldest first.  Selects the victim among the
 * connections passed so far.  Of networks with equally many connections, the newcomer's is
 * selected.
 */
void crowd__choose(struct crowd *crowd, const struct sockaddr *address, void *connection);

/* Compares addresses without ports; an IPv4-mapped IPv6 address equals its IPv4 address. */
bool have_same_address(const struct sockaddr *a, const struct sockaddr *b);

/* Addresses with the same hash share a reserve; the hash is seeded. */
#define HANDSHAKE_RESERVES 1024

/* When, in ns, each reserve is full again. */
struct handshake_rates {
	uint64_t seed;
	uint32_t per_second, per_second_of_address;
	int64_t all;
	int64_t of_addresses[HANDSHAKE_RESERVES];
};

/* The rates are averages, in all and from one address.  Returns 0 or -errno. */
int handshake_rates__open(struct handshake_rates *rates, uint32_t per_second,
			  uint32_t per_second_of_address);
/*
 * Counts a handshake from @address at @now, ns of a clock that does not go back, and returns true
 * if it may begin.  The reserves hold @reserve_of_address and @reserve handshakes.  An IPv6 network
 * with a prefix of 64 bits counts as an address.
 */
bool handshake_rates__take(struct handshake_rates *rates, const struct sockaddr *address,
			   uint32_t reserve_of_address, uint32_t reserve, int64_t now);

#endif /* CROWD_H */

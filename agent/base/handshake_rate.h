/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits the handshakes that may begin per second, in all and from one address, because each costs
 * this host work before it knows the peer.
 */
#ifndef HANDSHAKE_RATE_H
#define HANDSHAKE_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Addresses with the same hash share a reserve; the hash has a seed. */
#define HANDSHAKE_RESERVES 1024

/* When, in ns, each reserve is full again. */
struct handshake_rates {
	uint64_t seed;
	uint32_t per_second, per_second_of_address;
	int64_t all;
	int64_t of_addresses[HANDSHAKE_RESERVES];
};

/* On average, in all and from one address; -errno. */
int handshake_rates__open(struct handshake_rates *rates, uint32_t per_second,
			  uint32_t per_second_of_address);
/*
 * May one begin from @address at @now, ns of a clock that does not go back?  Then it is
 * counted.  The reserves have @reserve_of_address and @reserve handshakes.  An IPv6
 * network with a prefix of 64 bits counts as an address.
 */
bool handshake_rates__take(struct handshake_rates *rates,
			   const struct sockaddr *address,
			   uint32_t reserve_of_address, uint32_t reserve,
			   int64_t now);

#endif /* HANDSHAKE_RATE_H */

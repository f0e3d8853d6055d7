// SPDX-License-Identifier: GPL-2.0-only
/* Counts handshakes, and selects the half-open connection to close: see crowd.h. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "crowd.h"

static bool is_v6(const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;

	return address->sa_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
}

bool have_same_address(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr,
			       sizeof(struct in6_addr));
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* The hash of the network of @address. */
static uint64_t network__hash(const struct sockaddr *address, uint64_t seed)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;

	if (is_v6(address))
		return XXH64(&v6->sin6_addr, 8, seed);
	if (address->sa_family == AF_INET6)
		return XXH64(&v6->sin6_addr, sizeof(v6->sin6_addr), seed);
	return XXH64(&v4->sin_addr, sizeof(v4->sin_addr), seed);
}

static uint32_t *crowd__find(struct crowd *crowd, const struct sockaddr *address)
{
	return &crowd->of_networks[network__hash(address, crowd->seed) % CROWD_NETWORKS];
}

void crowd__open(struct crowd *crowd, uint64_t seed, const struct sockaddr *newcomer)
{
	*crowd = (struct crowd){ .seed = seed, .newcomer = newcomer };
}

void crowd__count(struct crowd *crowd, const struct sockaddr *address)
{
	++*crowd__find(crowd, address);
}

void crowd__choose(struct crowd *crowd, const struct sockaddr *address, void *connection)
{
	const uint32_t *count = crowd__find(crowd, address);
	uint64_t weight = 2 * (uint64_t)*count;

	weight += count == crowd__find(crowd, crowd->newcomer);
	if (weight <= crowd->most)
		return;
	crowd->most = weight;
	crowd->victim = connection;
}

/* ---- handshakes, counted as the time until a reserve is full again */

#define NS_PER_S INT64_C(1000000000)

int handshake_rates__open(struct handshake_rates *rates, uint32_t per_second,
			  uint32_t per_second_of_address)
{
	*rates = (struct handshake_rates){
		.per_second = per_second,
		.per_second_of_address = per_second_of_address,
	};
	if (getrandom(&rates->seed, sizeof(rates->seed), 0) < 0)
		return -errno;
	return 0;
}

static int64_t *handshake_rates__find(struct handshake_rates *rates, const struct sockaddr *address)
{
	return &rates->of_addresses[network__hash(address, rates->seed) % HANDSHAKE_RESERVES];
}

/* When a reserve is full again if one more is taken at @now; 0: it is used up. */
static int64_t take(int64_t full_at, uint32_t per_second, uint32_t reserve, int64_t now)
{
	const int64_t cost = NS_PER_S / per_second;

	full_at = (full_at > now ? full_at : now) + cost;
	return full_at - now <= reserve * cost ? full_at : 0;
}

bool handshake_rates__take(struct handshake_rates *rates, const struct sockaddr *address,
			   uint32_t reserve_of_address, uint32_t reserve, int64_t now)
{
	int64_t *own = handshake_rates__find(rates, address);
	int64_t own_full_at = take(*own, rates->per_second_of_address, reserve_of_address, now);
	int64_t full_at = take(rates->all, rates->per_second, reserve, now);

	/* An address that has used up its own reserve takes nothing from the reserve of all. */
	if (!own_full_at || !full_at)
		return false;
	*own = own_full_at;
	rates->all = full_at;
	return true;
}

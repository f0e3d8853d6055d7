// SPDX-License-Identifier: GPL-2.0-only
/* Selects the half-open connection to close: see crowd.h. */
#include <netinet/in.h>
#include <string.h>
#include <xxhash.h>

#include "crowd.h"

static bool is_v6(const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;

	return address->sa_family == AF_INET6 &&
	       !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
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

uint64_t network__hash(const struct sockaddr *address, uint64_t seed)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;

	if (is_v6(address))
		return XXH64(&v6->sin6_addr, 8, seed);
	if (address->sa_family == AF_INET6)
		return XXH64(&v6->sin6_addr, sizeof(v6->sin6_addr), seed);
	return XXH64(&v4->sin_addr, sizeof(v4->sin_addr), seed);
}

static uint32_t *crowd__find(struct crowd *crowd,
			     const struct sockaddr *address)
{
	return &crowd->of_networks[network__hash(address, crowd->seed) %
				   CROWD_NETWORKS];
}

void crowd__open(struct crowd *crowd, uint64_t seed,
		 const struct sockaddr *newcomer)
{
	*crowd = (struct crowd){ .seed = seed, .newcomer = newcomer };
}

void crowd__count(struct crowd *crowd, const struct sockaddr *address)
{
	++*crowd__find(crowd, address);
}

void crowd__choose(struct crowd *crowd, const struct sockaddr *address,
		   void *connection)
{
	const uint32_t *count = crowd__find(crowd, address);
	uint64_t weight = 2 * (uint64_t)*count;

	weight += count == crowd__find(crowd, crowd->newcomer);
	if (weight <= crowd->most)
		return;
	crowd->most = weight;
	crowd->victim = connection;
}

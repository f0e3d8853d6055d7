// SPDX-License-Identifier: GPL-2.0-only
/* Counts handshakes, as the time until a reserve is full again. */
#include <errno.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <xxhash.h>

#include "handshake_rate.h"

#define NS_PER_S INT64_C(1000000000)

int handshake_rates__open(struct handshake_rates *rates)
{
	*rates = (struct handshake_rates){};
	if (getrandom(&rates->seed, sizeof(rates->seed), 0) < 0)
		return -errno;
	return 0;
}

static int64_t *find(struct handshake_rates *rates,
		     const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;
	const void *bytes = &v4->sin_addr;
	size_t length = sizeof(v4->sin_addr);

	if (address->ss_family == AF_INET6) {
		bytes = &v6->sin6_addr;
		length = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ?
				 sizeof(v6->sin6_addr) :
				 8;
	}
	return &rates->of_addresses[XXH64(bytes, length, rates->seed) %
				    HANDSHAKE_RESERVES];
}

/* When a reserve is full again if one more is taken at @now; 0: it has none. */
static int64_t take(int64_t full_at, uint32_t per_second, uint32_t reserve,
		    int64_t now)
{
	const int64_t cost = NS_PER_S / per_second;

	full_at = (full_at > now ? full_at : now) + cost;
	return full_at - now <= reserve * cost ? full_at : 0;
}

bool handshake_rates__take(struct handshake_rates *rates,
			   const struct sockaddr_storage *address,
			   uint32_t reserve_of_address, uint32_t reserve,
			   int64_t now)
{
	int64_t *own = find(rates, address);
	int64_t own_full_at = take(*own, HANDSHAKES_PER_SECOND_OF_ADDRESS,
				   reserve_of_address, now);
	int64_t full_at = take(rates->all, HANDSHAKES_PER_SECOND, reserve, now);

	/* Whoever has used up its own takes nothing from the others. */
	if (!own_full_at || !full_at)
		return false;
	*own = own_full_at;
	rates->all = full_at;
	return true;
}

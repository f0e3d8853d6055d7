// SPDX-License-Identifier: GPL-2.0-only
/* Counts handshakes, as the time until a reserve is full again. */
#include <errno.h>
#include <sys/random.h>

#include "crowd.h"
#include "handshake_rate.h"

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

static int64_t *find(struct handshake_rates *rates,
		     const struct sockaddr *address)
{
	return &rates->of_addresses[network__hash(address, rates->seed) %
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
			   const struct sockaddr *address,
			   uint32_t reserve_of_address, uint32_t reserve,
			   int64_t now)
{
	int64_t *own = find(rates, address);
	int64_t own_full_at = take(*own, rates->per_second_of_address,
				   reserve_of_address, now);
	int64_t full_at = take(rates->all, rates->per_second, reserve, now);

	/* Whoever has used up its own takes nothing from the others. */
	if (!own_full_at || !full_at)
		return false;
	*own = own_full_at;
	rates->all = full_at;
	return true;
}

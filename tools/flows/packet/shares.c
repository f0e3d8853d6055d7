// SPDX-License-Identifier: GPL-2.0-only
/* Credit of all hosts, and of each: see shares.h. */
#include "shares.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "packet_internal.h"

#define SECOND_NS 1000000000ULL
#define AT_ONCE_NS (SECOND_NS / 10) /* credit of anybody, of those with a share, and of each host */
#define PLACES 4096 /* of sources, and of destinations; a power of two */
#define WAYS 2 /* places of a host */
#define NETWORK 8 /* bytes of an address of IPv6 that name its owner */

/* Packets that may be taken now, as their time. */
struct credit {
	uint64_t left_ns, since_ns;
};

struct shares {
	struct credit all, sources[PLACES], destinations[PLACES];
	uint64_t seed; /* strangers choose addresses */
};

/* A part of a frame; length 0: there is none. */
struct part {
	const uint8_t *bytes;
	size_t length;
};

struct shares *shares__new(void)
{
	struct shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return NULL;
	if (getrandom(&shares->seed, sizeof(shares->seed), 0) == sizeof(shares->seed))
		return shares;
	free(shares);
	return NULL;
}

void shares__free(struct shares *shares)
{
	free(shares);
}

/* ---- hosts of a frame */

/* Its addresses of IPv4 or IPv6; otherwise the source is that of Ethernet. */
static void find_hosts(const uint8_t *frame, size_t length, struct part *source,
		       struct part *destination)
{
	size_t link = ETHERNET_LENGTH;
	uint32_t type = 0;

	*source = *destination = (struct part){};
	if (length < link)
		return;
	type = get16(frame + ETHERTYPE);
	while ((type == ETHERTYPE_TAG || type == ETHERTYPE_OUTER_TAG) && link < PACKET_LINK_MAX &&
	       length >= link + TAG_LENGTH) {
		link += TAG_LENGTH;
		type = get16(frame + link - 2);
	}
	if (type == ETHERTYPE_IPV4 && length >= link + IP_LENGTH) {
		*source = (struct part){ frame + link + OFFSET_SOURCE, ADDRESS_LENGTH_4 };
		*destination = (struct part){ frame + link + OFFSET_DESTINATION, ADDRESS_LENGTH_4 };
	} else if (type == ETHERTYPE_IPV6 && length >= link + IPV6_LENGTH) {
		*source = (struct part){ frame + link + OFFSET6_SOURCE, NETWORK };
		*destination = (struct part){ frame + link + OFFSET6_DESTINATION, NETWORK };
	} else {
		*source = (struct part){ frame + PACKET_MAC_LENGTH, PACKET_MAC_LENGTH };
	}
}

/* ---- credit */

/* The credit is @most and that of one packet, at most. */
static void fill(struct credit *credit, uint64_t most_ns, uint64_t price_ns, uint64_t now_ns)
{
	const uint64_t most = most_ns + price_ns;

	credit->left_ns += now_ns - credit->since_ns;
	credit->since_ns = now_ns;
	if (credit->left_ns > most)
		credit->left_ns = most;
}

/* One of the host's places with the price of a packet; NULL: neither has it. */
static struct credit *find_credit(const struct shares *shares, struct credit *places,
				  const struct part *host, uint64_t price_ns, uint64_t now_ns)
{
	uint64_t hash = XXH3_64bits_withSeed(host->bytes, host->length, shares->seed);
	struct credit *place;
	int way;

	for (way = 0; way < WAYS; way++, hash >>= 32) {
		place = &places[hash % PLACES];
		fill(place, AT_ONCE_NS, price_ns, now_ns);
		if (place->left_ns >= price_ns)
			return place;
	}
	return NULL;
}

/* Takes the packet from the shares of its hosts.  False: one of them has used up its own. */
static bool take_shares(struct shares *shares, const uint8_t *frame, size_t length,
			uint64_t price_ns, uint64_t now_ns)
{
	const uint64_t of_source = price_ns * SHARES_OF_SOURCES;
	const uint64_t of_destination = price_ns * SHARES_OF_DESTINATIONS;
	struct credit *sender, *receiver = NULL;
	struct part source, destination;

	find_hosts(frame, length, &source, &destination);
	sender = find_credit(shares, shares->sources, &source, of_source, now_ns);
	if (sender && destination.length)
		receiver = find_credit(shares, shares->destinations, &destination, of_destination,
				       now_ns);
	if (!sender || (destination.length && !receiver))
		return false;
	sender->left_ns -= of_source;
	if (receiver)
		receiver->left_ns -= of_destination;
	return true;
}

bool shares__take(struct shares *shares, const uint8_t *frame, size_t length, uint64_t rate,
		  uint64_t now_ns)
{
	const uint64_t price_ns = SECOND_NS / rate ?: 1;
	bool is_own;

	fill(&shares->all, 2 * AT_ONCE_NS, price_ns, now_ns);
	if (shares->all.left_ns < price_ns)
		return false;
	/* Shares are used up first, so that what a host sends beyond its own is known as such. */
	is_own = take_shares(shares, frame, length, price_ns, now_ns);
	if (!is_own && shares->all.left_ns < AT_ONCE_NS + price_ns)
		return false;
	shares->all.left_ns -= price_ns;
	return true;
}

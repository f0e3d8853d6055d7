// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which callers may connect by TCP: their address, how often, and how many.  If a limit
 * is reached, a connection in its handshake makes room, because whoever may connect, but
 * has no certificate, can leave such ones.
 */
#include <netinet/in.h>
#include <string.h>

#include "agent/base/clock.h"
#include "tcp_listener.h"

/* Unless the configuration has other numbers. */
#define PER_ADDRESS_MAX 64
#define HALF_OPEN_MAX 64

static bool have_same_address(const struct sockaddr_storage *a,
			      const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr,
			       sizeof(struct in6_addr));
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* Which connections a limit concerns. */
struct crowd {
	bool is_of_address;
	bool is_half_open;
};

/*
 * Is there room for one more from @address in a crowd that may have @most?  If not, the
 * oldest one of it that is in its handshake makes room, one from the same address first.
 */
static bool tcp_listener__make_room(struct tcp_listener *listener,
				    const struct sockaddr_storage *address,
				    struct crowd crowd, uint32_t most)
{
	struct tcp_peer *peer, *oldest = NULL, *oldest_own = NULL;
	uint32_t count = 0;
	bool is_own;

	TAILQ_FOREACH(peer, &listener->peers.list, link) {
		is_own = have_same_address(address, &peer->address);
		if ((crowd.is_of_address && !is_own) ||
		    (crowd.is_half_open && peer->established))
			continue;
		count++;
		if (peer->established)
			continue;
		oldest = oldest ?: peer;
		if (is_own)
			oldest_own = oldest_own ?: peer;
	}
	if (count < most)
		return true;
	peer = oldest_own ?: oldest;
	if (!peer)
		return false;
	if (peer->state != TCP_PEER_LEAVING)
		count__add(&listener->peers.refused->handshakes, 1);
	tcp_peer__end(peer, "makes room: it is still in its handshake");
	return true;
}

bool tcp_listener__allows(const struct tcp_listener *listener,
			  const struct sockaddr_storage *address)
{
	const struct dart_prefixes *allowed = listener->admission.allowed;

	return allowed->is_given &&
	       dart_prefixes__contain(allowed,
				      (const struct sockaddr *)address);
}

const char *tcp_listener__refuse(struct tcp_listener *listener,
				 const struct sockaddr_storage *address)
{
	const struct crowd own = { .is_of_address = true }, all = {},
			   half_open = { .is_half_open = true };
	const struct tcp_admission *admission = &listener->admission;
	const uint32_t most = admission->most ?: CALLERS_MAX;
	const uint32_t per_address = admission->per_address ?: PER_ADDRESS_MAX;
	struct tcp_counts *refused = listener->peers.refused;

	if (!tcp_listener__allows(listener, address)) {
		count__add(&refused->not_allowed, 1);
		return "an address is not in allow: callers of the configuration";
	}
	/* All of the crowds may begin again at the same time, and once more. */
	if (!handshake_rates__take(&listener->rates, address, 2 * per_address,
				   2 * most,
				   clock__nanoseconds(CLOCK_BOOTTIME))) {
		count__add(&refused->limited, 1);
		return "too many connections begin, in all or from an address";
	}
	if (!tcp_listener__make_room(listener, address, own, per_address) ||
	    !tcp_listener__make_room(listener, address, all, most)) {
		count__add(&refused->limited, 1);
		return "as many are connected, in all or from an address, as the configuration allows";
	}
	tcp_listener__make_room(listener, address, half_open,
				admission->half_open ?: HALF_OPEN_MAX);
	return NULL;
}

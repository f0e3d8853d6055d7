// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits callers over TCP: by their address, their rate and their number.  If a limit is reached, a
 * connection in its handshake makes room, because a caller with an allowed address but without a
 * certificate can leave such connections; see crowd.h.
 */
#include <libdart/clock.h>

#include "agent/base/crowd.h"
#include "tcp_listener.h"

/* Unless the configuration sets other numbers. */
#define PER_ADDRESS_MAX 64
#define HALF_OPEN_MAX 64

/* Which connections a limit concerns. */
struct concern {
	bool is_of_address;
	bool is_half_open;
};

static const struct sockaddr *address_of(const struct sockaddr_storage *address)
{
	return (const struct sockaddr *)address;
}

static bool concern__has(const struct concern *concern, const struct sockaddr *address,
			 const struct tcp_peer *peer)
{
	if (concern->is_half_open && peer->established)
		return false;
	return !concern->is_of_address || have_same_address(address, address_of(&peer->address));
}

/*
 * Is there room for another connection from @address among the connections of @concern, of which
 * there may be @most?  If not, closes a connection of @concern that is in its handshake, if any.
 */
static bool tcp_listener__make_room(struct tcp_listener *listener, const struct sockaddr *address,
				    struct concern concern, uint32_t most)
{
	struct tcp_peer *peer;
	struct crowd crowd;
	uint32_t count = 0;

	crowd__open(&crowd, listener->rates.seed, address);
	TAILQ_FOREACH(peer, &listener->peers.list, link) {
		if (!concern__has(&concern, address, peer))
			continue;
		count++;
		if (!peer->established)
			crowd__count(&crowd, address_of(&peer->address));
	}
	if (count < most)
		return true;
	TAILQ_FOREACH(peer, &listener->peers.list, link)
		if (!peer->established && concern__has(&concern, address, peer))
			crowd__choose(&crowd, address_of(&peer->address), peer);
	peer = crowd.victim;
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
	       dart_prefixes__contain(allowed, (const struct sockaddr *)address);
}

const char *tcp_listener__refuse(struct tcp_listener *listener,
				 const struct sockaddr_storage *address)
{
	const struct concern own = { .is_of_address = true }, all = {},
			     half_open = { .is_half_open = true };
	const struct tcp_admission *admission = &listener->admission;
	const uint32_t most = admission->most ?: CALLERS_MAX;
	const uint32_t per_address = admission->per_address ?: PER_ADDRESS_MAX;
	const struct sockaddr *from = address_of(address);
	struct tcp_counts *refused = listener->peers.refused;

	if (!tcp_listener__allows(listener, address)) {
		count__add(&refused->not_allowed, 1);
		return "an address is not in allow: callers of the configuration";
	}
	/* All of the crowds may begin again at the same time, and once more. */
	if (!handshake_rates__take(&listener->rates, from, 2 * per_address, 2 * most,
				   dart_clock__ns(CLOCK_BOOTTIME))) {
		count__add(&refused->limited, 1);
		return "too many connections begin, in all or from an address";
	}
	if (!tcp_listener__make_room(listener, from, own, per_address) ||
	    !tcp_listener__make_room(listener, from, all, most)) {
		count__add(&refused->limited, 1);
		return "as many are connected, in all or from an address, as the configuration allows";
	}
	tcp_listener__make_room(listener, from, half_open, admission->half_open ?: HALF_OPEN_MAX);
	return NULL;
}

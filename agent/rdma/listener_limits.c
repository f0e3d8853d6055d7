// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits peers: the number of all peers of a kind, of peers from one address, and of connections
 * that are not established.  If a limit is reached, a connection that is not established makes
 * room, because requests with forged addresses leave such connections; see crowd.h.
 */
#include <errno.h>

#include <libdart/clock.h>

#include "agent/base/crowd.h"
#include "listener.h"

/* Unless the configuration sets other numbers. */
#define PEERS_MAX 1024
#define PER_ADDRESS_MAX 64
#define HALF_OPEN_MAX 64

/*
 * Connect requests that are answered per second.  Each costs a queue pair, a fraction of a
 * millisecond; a reader of stores asks anew for each query.
 */
#define HANDSHAKES_PER_SECOND 200
#define HANDSHAKES_PER_SECOND_OF_ADDRESS 50

/* Lower bound of the reserve, however low the limits are: each query of a store connects. */
#define RESERVE_MIN 128

/* Shortest time between two probes of all peers when the limits are reached. */
#define PROBES_NS INT64_C(1000000000)

/* Which connections a limit concerns; NULL: any. */
struct concern {
	const struct peer_kind *kind;
	const struct sockaddr *address;
	bool is_half_open;
};

static bool concern__has(const struct concern *concern, const struct connection *connection)
{
	return (!concern->kind || connection->kind == concern->kind) &&
	       (!concern->is_half_open || !connection->established) &&
	       (!concern->address ||
		have_same_address(rdma_get_peer_addr(connection->id), concern->address));
}

/* False if the limit is reached for @address and no half-open connection can make room. */
static bool listener__make_room(struct listener *listener, const struct sockaddr *address,
				const struct concern *concern, uint32_t most)
{
	struct connection *connection;
	struct crowd crowd;
	uint32_t count = 0;

	crowd__open(&crowd, listener->rates.seed, address);
	TAILQ_FOREACH(connection, &listener->connections, link) {
		if (!concern__has(concern, connection))
			continue;
		count++;
		if (!connection->established)
			crowd__count(&crowd, rdma_get_peer_addr(connection->id));
	}
	if (count < most)
		return true;
	TAILQ_FOREACH(connection, &listener->connections, link)
		if (!connection->established && concern__has(concern, connection))
			crowd__choose(&crowd, rdma_get_peer_addr(connection->id), connection);
	if (!crowd.victim)
		return false;
	listener__end(listener, crowd.victim, "makes room: it did not establish its connection");
	return true;
}

/* Probe all connected peers: the places of vanished peers become free for new connections. */
static void listener__probe_all(struct listener *listener)
{
	int64_t now = dart_clock__ns(CLOCK_BOOTTIME);
	struct connection *connection;

	if (listener->probed && now - listener->probed < PROBES_NS)
		return;
	listener->probed = now;
	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established)
			connection__probe(connection);
}

static uint32_t reserve(uint32_t limit)
{
	return limit > RESERVE_MIN / 2 ? 2 * limit : RESERVE_MIN;
}

int listener__open_rates(struct listener *listener)
{
	return handshake_rates__open(&listener->rates, HANDSHAKES_PER_SECOND,
				     HANDSHAKES_PER_SECOND_OF_ADDRESS);
}

static bool is_allowed(const struct peer_service *service, struct rdma_cm_id *id)
{
	if (!service->allowed)
		return true;
	if (service->needs_list && !service->allowed->is_given)
		return false;
	return dart_prefixes__contain(service->allowed, rdma_get_peer_addr(id));
}

int listener__admit(struct listener *listener, const struct peer_service *service,
		    struct rdma_cm_id *id, struct dart_error *error)
{
	const struct sockaddr *address = rdma_get_peer_addr(id);
	const struct listener_limits *limits = listener->limits;
	uint32_t most = service->most ?: PEERS_MAX;
	uint32_t per_address = limits->per_address ?: PER_ADDRESS_MAX;
	const struct concern same_kind = { .kind = service->kind };
	const struct concern same_address = { .address = address };
	const struct concern half_open = { .is_half_open = true };

	if (!is_allowed(service, id))
		return dart_error__set(
			error, EACCES,
			"its address is not in allow: %s of the agent's configuration",
			service->list);
	/* All peers may reconnect at the same time, and once more. */
	if (!handshake_rates__take(&listener->rates, address, reserve(per_address), reserve(most),
				   dart_clock__ns(CLOCK_BOOTTIME)))
		return dart_error__set(
			error, EUSERS,
			"too many connections begin, in all or from its address (wait some seconds)");
	if (!listener__make_room(listener, address, &same_kind, most)) {
		listener__probe_all(listener);
		return dart_error__set(error, EUSERS,
				       "as many %ss are connected as the configuration allows (%u)",
				       service->kind->name, most);
	}
	if (!listener__make_room(listener, address, &same_address, per_address)) {
		listener__probe_all(listener);
		return dart_error__set(
			error, EUSERS,
			"as many peers are connected from its address as the configuration allows (%u)",
			per_address);
	}
	listener__make_room(listener, address, &half_open, limits->half_open ?: HALF_OPEN_MAX);
	return 0;
}

void listener__enforce(struct listener *listener)
{
	struct connection *connection = TAILQ_FIRST(&listener->connections);
	const struct peer_service *service;
	struct connection *next;

	for (; connection; connection = next) {
		next = TAILQ_NEXT(connection, link);
		for (service = listener->services; service->kind; service++)
			if (service->kind == connection->kind)
				break;
		if (service->kind && !is_allowed(service, connection->id))
			listener__end(
				listener, connection,
				"disconnected: the configuration no longer allows its address");
	}
}

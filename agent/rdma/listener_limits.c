// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which peers may connect, and how many: all of a kind, from one address, and before
 * they are established.  If a limit is reached, the oldest connection that is not
 * established makes room, because requests with forged addresses leave such ones.
 */
#include <errno.h>
#include <string.h>

#include "listener.h"

/* Unless the configuration has other numbers. */
#define PEERS_MAX 1024
#define PER_ADDRESS_MAX 64
#define HALF_OPEN_MAX 64

/* Which connections a limit concerns; NULL: any. */
struct crowd {
	const struct peer_kind *kind;
	const struct sockaddr *address;
	bool is_half_open;
};

static bool have_same_address(const struct sockaddr *a,
			      const struct sockaddr *b)
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

static bool crowd__has(const struct crowd *crowd,
		       const struct connection *connection)
{
	return (!crowd->kind || connection->kind == crowd->kind) &&
	       (!crowd->is_half_open || !connection->established) &&
	       (!crowd->address ||
		have_same_address(rdma_get_peer_addr(connection->id),
				  crowd->address));
}

/* False if one more is too many, and none of them is half-open. */
static bool listener__make_room(struct listener *listener,
				const struct crowd *crowd, uint32_t most)
{
	struct connection *connection, *oldest = NULL;
	uint32_t count = 0;

	TAILQ_FOREACH(connection, &listener->connections, link) {
		if (!crowd__has(crowd, connection))
			continue;
		count++;
		if (!oldest && !connection->established)
			oldest = connection;
	}
	if (count < most)
		return true;
	if (!oldest)
		return false;
	listener__end(listener, oldest,
		      "makes room: it did not establish its connection");
	return true;
}

static bool is_allowed(const struct peer_service *service,
		       struct rdma_cm_id *id)
{
	if (!service->allowed)
		return true;
	if (service->needs_list && !service->allowed->is_given)
		return false;
	return dart_prefixes__contain(service->allowed, rdma_get_peer_addr(id));
}

int listener__admit(struct listener *listener,
		    const struct peer_service *service, struct rdma_cm_id *id,
		    struct dart_error *error)
{
	const struct listener_limits *limits = listener->limits;
	uint32_t most = service->most ?: PEERS_MAX;
	uint32_t per_address = limits->per_address ?: PER_ADDRESS_MAX;
	const struct crowd same_kind = { .kind = service->kind };
	const struct crowd same_address = { .address = rdma_get_peer_addr(id) };
	const struct crowd half_open = { .is_half_open = true };

	if (!is_allowed(service, id))
		return dart_error__set(
			error, EACCES,
			"its address is not in allow: %s of the agent's configuration",
			service->list);
	if (!listener__make_room(listener, &same_kind, most))
		return dart_error__set(
			error, EUSERS,
			"as many %ss are connected as the configuration allows (%u)",
			service->kind->name, most);
	if (!listener__make_room(listener, &same_address, per_address))
		return dart_error__set(
			error, EUSERS,
			"as many peers are connected from its address as the configuration allows (%u)",
			per_address);
	listener__make_room(listener, &half_open,
			    limits->half_open ?: HALF_OPEN_MAX);
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

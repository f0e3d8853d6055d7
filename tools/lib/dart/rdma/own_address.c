// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds an address of this host that belongs to an RDMA device. */
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/own_address_internal.h>
#include <libdart/rdma/verbs.h>

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	if (address->sa_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* GIDs are IPv6 addresses; the GID of an IPv4 address is ::ffff:a.b.c.d. */
static bool is_usable(const struct ibv_gid_entry *entry)
{
	const struct in6_addr *gid = (const void *)entry->gid.raw;

	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2)
		return false;
	if (IN6_IS_ADDR_V4MAPPED(gid))
		return gid->s6_addr[12] != IN_LOOPBACKNET;
	return !IN6_IS_ADDR_LOOPBACK(gid) && !IN6_IS_ADDR_LINKLOCAL(gid);
}

static bool find_gid(struct ibv_context *device, struct in6_addr *gid)
{
	struct ibv_gid_entry *entries;
	ssize_t count = dart_verbs__gids(device, &entries);
	bool is_found = false;
	ssize_t i;

	for (i = 0; i < count && !is_found; i++) {
		is_found = is_usable(&entries[i]);
		if (is_found)
			memcpy(gid, entries[i].gid.raw, sizeof(*gid));
	}
	if (count >= 0)
		free(entries);
	return is_found;
}

static bool has_gid(struct ibv_device *device, struct in6_addr *gid)
{
	struct ibv_context *context = ibv_open_device(device);
	bool is_found;

	if (!context)
		return false;
	is_found = find_gid(context, gid);
	ibv_close_device(context);
	return is_found;
}

static void set_address(struct sockaddr_storage *own, const struct in6_addr *gid, in_port_t port)
{
	struct sockaddr_in *in = (void *)own;
	struct sockaddr_in6 *in6 = (void *)own;

	memset(own, 0, sizeof(*own));
	if (IN6_IS_ADDR_V4MAPPED(gid)) {
		in->sin_family = AF_INET;
		in->sin_port = port;
		memcpy(&in->sin_addr, &gid->s6_addr[12], sizeof(in->sin_addr));
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = port;
		in6->sin6_addr = *gid;
	}
}

struct sockaddr *dart_own_address__replace(struct sockaddr *address, struct sockaddr_storage *own)
{
	/* Ports of both families are at the same place. */
	const in_port_t port = ((const struct sockaddr_in *)address)->sin_port;
	struct ibv_device **devices, **device;
	struct in6_addr gid;
	bool is_found = false;

	if (!is_loopback(address))
		return address;
	/* Do not ask librdmacm, which would keep all devices open. */
	devices = ibv_get_device_list(NULL);
	if (!devices)
		return address;
	for (device = devices; *device && !is_found; device++)
		is_found = has_gid(*device, &gid);
	ibv_free_device_list(devices);
	if (!is_found)
		return address;
	set_address(own, &gid, port);
	return (struct sockaddr *)own;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* The path of a connection: addresses, MTU, speed of the port. */
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>

#include <libdart/rdma/path_internal.h>

struct code {
	uint8_t code;
	uint32_t value;
};

static uint32_t find(const struct code *codes, size_t count, uint8_t code)
{
	for (size_t i = 0; i < count; i++) {
		if (codes[i].code == code)
			return codes[i].value;
	}
	return 0;
}

uint64_t dart_path__link_speed(uint8_t speed, uint8_t width)
{
	/* Mbit/s of a lane: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR. */
	static const struct code speeds[] = {
		{ 1, 2500 },   { 2, 5000 },   { 4, 10000 },  { 8, 10000 },
		{ 16, 14000 }, { 32, 25000 }, { 64, 50000 }, { 128, 100000 },
	};
	static const struct code widths[] = {
		{ 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 },
	};

	return 1000000ULL * find(speeds, sizeof(speeds) / sizeof(*speeds), speed) *
	       find(widths, sizeof(widths) / sizeof(*widths), width);
}

uint32_t dart_path__mtu(const struct rdma_cm_id *id)
{
	/* enum ibv_mtu: 1 is 256 bytes. */
	if (id->route.num_paths > 0 && id->route.path_rec &&
	    id->route.path_rec->mtu >= IBV_MTU_256 && id->route.path_rec->mtu <= IBV_MTU_4096)
		return 128U << id->route.path_rec->mtu;
	return 0;
}

void dart_path__print_address(const struct sockaddr *address, char text[46])
{
	socklen_t length = address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
							    sizeof(struct sockaddr_in);

	if (getnameinfo(address, length, text, 46, NULL, 0, NI_NUMERICHOST))
		*text = '\0';
}

void dart_path__of_rdma(const struct rdma_cm_id *id, uint64_t bits_per_s,
			struct dart_endpoint_path *path)
{
	*path = (struct dart_endpoint_path){ };
	if (!id->verbs)
		return;
	snprintf(path->device, sizeof(path->device), "%s", ibv_get_device_name(id->verbs->device));
	dart_path__print_address(rdma_get_local_addr((struct rdma_cm_id *)id), path->source);
	dart_path__print_address(rdma_get_peer_addr((struct rdma_cm_id *)id), path->destination);
	path->mtu = dart_path__mtu(id);
	path->own_mtu = path->mtu;
	path->bits_per_s = bits_per_s;
}

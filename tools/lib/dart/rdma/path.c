// SPDX-License-Identifier: LGPL-2.1-or-later
/* Describes the way of a connection. */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

#include <libdart/rdma/read_queue_internal.h>

#include "path_internal.h"

void dart_path__print_address(const struct sockaddr *address, char text[46])
{
	socklen_t length = address->sa_family == AF_INET6 ?
				   sizeof(struct sockaddr_in6) :
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
	snprintf(path->device, sizeof(path->device), "%s",
		 ibv_get_device_name(id->verbs->device));
	dart_path__print_address(rdma_get_local_addr((struct rdma_cm_id *)id),
				 path->source);
	dart_path__print_address(rdma_get_peer_addr((struct rdma_cm_id *)id),
				 path->destination);
	path->mtu = dart_read_queue__mtu(id);
	path->own_mtu = path->mtu;
	path->bits_per_s = bits_per_s;
}

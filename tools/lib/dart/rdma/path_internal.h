/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The path of a connection, in words and numbers. */
#ifndef DART_PATH_H
#define DART_PATH_H

#include <rdma/rdma_cma.h>
#include <stdint.h>

#include <libdart/rdma/path.h>

/*
 * Returns the bits per second of a port with @speed and @width as in struct ibv_port_attr, codes of
 * the InfiniBand architecture; 0 if one of them is not known.  Ethernet uses the next code that is
 * as fast: 1 Gbit/s counts as 2.5, 25 as 25.  So does soft-RoCE on an interface that does not know
 * its speed.
 */
uint64_t dart_path__link_speed(uint8_t speed, uint8_t width);

/* Bytes of a packet's payload on the path that @id has resolved; 0: not known. */
uint32_t dart_path__mtu(const struct rdma_cm_id *id);

/* Writes "" if the address cannot be written as text. */
void dart_path__print_address(const struct sockaddr *address, char text[46]);
/* All zeros before the route of @id is known. */
void dart_path__of_rdma(const struct rdma_cm_id *id, uint64_t bits_per_s,
			struct dart_endpoint_path *path);

#endif /* DART_PATH_H */

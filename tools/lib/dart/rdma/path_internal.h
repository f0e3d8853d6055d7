/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of a connection, in words and numbers. */
#ifndef DART_PATH_H
#define DART_PATH_H

#include <rdma/rdma_cma.h>

#include <libdart/rdma/path.h>

/* "" if it cannot be written. */
void dart_path__print_address(const struct sockaddr *address, char text[46]);
/* All zeros before the route of @id is known. */
void dart_path__of_rdma(const struct rdma_cm_id *id, uint64_t bits_per_s,
			struct dart_endpoint_path *path);

#endif /* DART_PATH_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits for the connection and the READs of one endpoint, with a time limit. */
#ifndef DART_BLOCKING_READS_H
#define DART_BLOCKING_READS_H

#include <libdart/rdma/endpoint.h>

/*
 * Connects with @length bytes of private data at @request.  Returns 0 with @endpoint, or
 * sets @error and returns -errno: as dart_endpoint__connect_with(), -ECONNREFUSED,
 * -ECONNRESET, or -ETIMEDOUT after @timeout_ms.
 */
int dart_blocking__connect(const char *host, uint16_t port, const void *request, size_t length,
			   int64_t timeout_ms, struct dart_endpoint **endpoint,
			   struct dart_error *error);

/*
 * READs all of @reads, and sets @landing to memory of @size bytes, in which they land.  Returns
 * 0, or sets @error and returns -errno: -ECONNRESET if the other end disconnected, -ETIMEDOUT
 * after @timeout_ms, or that of the READ.
 */
int dart_blocking__read(struct dart_endpoint *endpoint, const struct dart_read *reads,
			uint32_t count, size_t size, int64_t timeout_ms, void **landing,
			struct dart_error *error);

#endif /* DART_BLOCKING_READS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* READs from a host, each of which the test waits for; a failed handshake fails the test. */
#ifndef DART_TEST_HOST_READS_H
#define DART_TEST_HOST_READS_H

#include <libdart/rdma/endpoint.h>
#include <libdart/table/table.h>

/* Waits for a minute at most until @fd is readable. */
void host_reads__wait_for(int fd);

/* A connection to dartd on @host, which the caller frees. */
struct dart_endpoint *host_reads__connect(const char *host);

/*
 * READs into the landing memory of @endpoint, at *@landing, whose bytes are @pattern before.
 * Returns 1, or -errno if the host refused.
 */
int host_reads__read(struct dart_endpoint *endpoint, const struct dart_read *read,
		     unsigned char pattern, void **landing);

/* The table that the host publishes, which the caller frees. */
struct dart_table *host_reads__table(struct dart_endpoint *endpoint);

#endif /* DART_TEST_HOST_READS_H */

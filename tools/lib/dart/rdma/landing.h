/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that READs of an endpoint can land in: dart_endpoint__register() makes it, see
 * there.
 */
#ifndef DART_RDMA_LANDING_H
#define DART_RDMA_LANDING_H

struct dart_landing;

void *dart_landing__memory(const struct dart_landing *landing);
/*
 * No READ is in flight to it, or the endpoint has failed.  dart_endpoint__free() frees the
 * remaining ones.  NULL is allowed.
 */
void dart_landing__free(struct dart_landing *landing);

#endif /* DART_RDMA_LANDING_H */

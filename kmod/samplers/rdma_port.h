/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_RDMA_PORT_H
#define DART_ZERO_RDMA_PORT_H

/* To call before the first sampler exists.  The module then knows all RDMA devices. */
int dart_rdma_sampler_init(void);
/* To call when no sampler is opened any more.  Questions to devices find none from then on. */
void dart_rdma_sampler_exit(void);

#endif /* DART_ZERO_RDMA_PORT_H */

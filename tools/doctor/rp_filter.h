/* SPDX-License-Identifier: GPL-2.0-only */
/* Check "rp_filter": the kernel does not drop packets because of their interface. */
#ifndef RP_FILTER_H
#define RP_FILTER_H

#include "findings.h"
#include "rdma_port.h"

void check_rp_filter(struct findings *findings, const struct rdma_port *port);

#endif /* RP_FILTER_H */

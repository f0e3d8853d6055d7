/* SPDX-License-Identifier: GPL-2.0-only */
/* Check "firewall": this host lets RoCE through, which is UDP to port 4791. */
#ifndef FIREWALL_H
#define FIREWALL_H

#include "findings.h"
#include "rdma_port.h"

/* @program: the command for root if only root can see the rules. */
void check_firewall(struct findings *findings, const struct rdma_port *port, const char *program);

#endif /* FIREWALL_H */

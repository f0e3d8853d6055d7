// SPDX-License-Identifier: GPL-2.0-only
/* NAT for IPv6 and IPv4, which a load balancer needs, for BMv2's simple_switch. */
#include <core.p4>
#include <v1model.p4>

#define TEA_IPV6
#include "functions/nat.p4"
#include "tea/pipeline.p4"

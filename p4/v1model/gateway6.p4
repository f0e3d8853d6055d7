// SPDX-License-Identifier: GPL-2.0-only
/* A VPN gateway whose tunnels are of IPv6 and IPv4, for BMv2's simple_switch. */
#include <core.p4>
#include <v1model.p4>

#define TEA_IPV6
#include "tunnel_hash.p4"
#include "functions/gateway.p4"
#include "tea/pipeline.p4"

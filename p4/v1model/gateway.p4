// SPDX-License-Identifier: GPL-2.0-only
/* A VPN gateway for BMv2's simple_switch. */
#include <core.p4>
#include <v1model.p4>

#include "tunnel_hash.p4"
#include "functions/gateway.p4"
#include "tea/pipeline.p4"

// SPDX-License-Identifier: GPL-2.0-only
/* A load balancer of layer 4 for Tofino: see ../functions/balancer.p4. */
#include <core.p4>
#include <tna.p4>

#define TEA_CELLS	2
#define TEA_STASH_ENTRIES 16384
#define TEA_KEY_BYTES	13
#define TEA_VALUE_BYTES	6
#define TEA_VALUE(v)	v.address, v.port

#include "tea/headers.p4"
#include "tea/value.p4"

/* The value: address and port of the server. */
control FunctionApply(inout headers_t headers, in tea_value_t value)
{
	action set_destination()
	{
		headers.ipv4.destination = value.address;
		headers.ports.destination = value.port;
	}

	apply {
		set_destination();
	}
}

#include "tea/pipeline.p4"

// SPDX-License-Identifier: GPL-2.0-only
/* NAT for Tofino: see ../functions/nat.p4 and schemas/nat.yaml. */
#include <core.p4>
#include <tna.p4>

#define TEA_CELLS	2
#define TEA_STASH_ENTRIES 16384
#define TEA_KEY_BYTES	13
#define TEA_VALUE_BYTES	7
#define TEA_VALUE(v)	v.address, v.port, v.last

#include "tea/headers.p4"
#include "tea/value.p4"

/* The value: new address, new port, flags (bit 0: of the source; no flow is tracked). */
control FunctionApply(inout headers_t headers, in tea_value_t value)
{
	action set_source()
	{
		headers.ipv4.source = value.address;
		headers.ports.source = value.port;
	}

	action set_destination()
	{
		headers.ipv4.destination = value.address;
		headers.ports.destination = value.port;
	}

	apply {
		if (value.last[0:0] == 1)
			set_source();
		else
			set_destination();
	}
}

#include "tea/pipeline.p4"

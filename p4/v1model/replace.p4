// SPDX-License-Identifier: GPL-2.0-only
/* Makes room for a request of RDMA in a mirrored packet. */
#ifndef DART_V1MODEL_REPLACE_P4
#define DART_V1MODEL_REPLACE_P4

#include "headers.p4"

/* Leaves nothing of the packet that a request takes the place of. */
control RemovePacket(inout headers_t headers)
{
	RemoveExtras() remove_extras;

	apply {
		headers.ethernet.setInvalid();
		remove_extras.apply(headers);
		headers.ipv4.setInvalid();
		headers.ipv6.setInvalid();
		headers.udp.setInvalid();
		headers.int_shim.setInvalid();
		headers.int_md.setInvalid();
		headers.hop[0].setInvalid();
		headers.hop[1].setInvalid();
		headers.hop[2].setInvalid();
		headers.hop[3].setInvalid();
		headers.hop[4].setInvalid();
		headers.int_tail.setInvalid();
		headers.ports.setInvalid();
	}
}

#endif /* DART_V1MODEL_REPLACE_P4 */

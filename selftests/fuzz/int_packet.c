// SPDX-License-Identifier: GPL-2.0-only
/* Packets with INT-MD, as dart-report parses them. */
#include <errno.h>

#include "fuzz.h"
#include "tools/report/int_packet.h"

static void parse(const uint8_t *frame, size_t size)
{
	struct int_packet packet;
	uint32_t hop;
	int ret;

	ret = int_packet__parse(frame, size, 5000, &packet);
	require(!ret || ret == -ENODATA || ret == -EBADMSG);
	if (!ret) {
		require(packet.key_length == 13 || packet.key_length == 37);
		require(packet.hops && packet.hops <= INT_PACKET_HOPS_MAX);
		for (hop = packet.hops; hop < INT_PACKET_HOPS_MAX; hop++)
			require(!packet.path[hop]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = exact_copy(data, size);

	parse(frame, size);
	repair_ipv4(frame, size);
	parse(frame, size);
	free(frame);
	return 0;
}

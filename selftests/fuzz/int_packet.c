// SPDX-License-Identifier: GPL-2.0-only
/* Packets with INT-MD, and postcards, as dart-report parses them. */
#include <errno.h>

#include <libdart/report/translator.h>

#include "fuzz.h"
#include "tools/report/int_packet.h"

static void parse(const uint8_t *frame, size_t size)
{
	struct int_packet packet;
	uint32_t hop;
	int ret;

	ret = int_packet__parse(frame, size, 5000, &packet);
	require(!ret || ret == -ENODATA || ret == -EBADMSG || ret == -E2BIG);
	if (!ret) {
		require(packet.key_length == 13 || packet.key_length == 37);
		require(packet.hops && packet.hops <= INT_PACKET_HOPS_MAX);
		for (hop = packet.hops; hop < INT_PACKET_HOPS_MAX; hop++)
			require(!packet.path[hop]);
	}
}

static void check_postcard(const uint8_t *datagram, size_t length)
{
	struct dart_postcard postcard;
	int ret = dart_postcard__read(datagram, length, &postcard);

	require(!ret || ret == -EBADMSG);
	if (!ret) {
		require(postcard.key_length && postcard.key_length + 8 == length);
		require(postcard.hop < postcard.hops && postcard.hops <= DART_POSTCARD_HOPS_MAX);
		require(postcard.value && postcard.value != DART_POSTCARD_NO_HOP);
	}
}

static void find_postcard(const uint8_t *frame, size_t size)
{
	const uint8_t *datagram;
	size_t length;
	int ret = int_packet__find_datagram(frame, size, 5000, &datagram, &length);

	require(!ret || ret == -ENODATA || ret == -EBADMSG || ret == -E2BIG);
	if (!ret)
		check_postcard(datagram, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = exact_copy(data, size);

	check_postcard(frame, size);
	parse(frame, size);
	find_postcard(frame, size);
	repair_ipv4(frame, size);
	parse(frame, size);
	find_postcard(frame, size);
	free(frame);
	return 0;
}

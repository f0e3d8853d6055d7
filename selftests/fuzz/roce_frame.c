// SPDX-License-Identifier: GPL-2.0-only
/*
 * RoCE frames: bytes are parsed as a frame; and taken as a collector, a key and a
 * value they become a frame that is parsed to the same report.
 */
#include <libdart/report/roce_frame.h>

#include "fuzz.h"
#include "selftests/lib/roce_frame_parse.h"

struct input {
	uint8_t source_mac[ETH_ALEN];
	uint8_t mac[ETH_ALEN];
	uint32_t reporter, ip, qpn, rkey, psn;
	uint64_t base;
	uint8_t slots_log2, value_length, checksum, redundancy, copy;
	uint8_t key_length;
	uint8_t key[DART_STORE_KEY_MAX];
	uint8_t value[DART_STORE_VALUE_MAX];
};

/* Enough for the slots and the redundancy of each collector with this checksum. */
static const struct dart_store_hash *hash_of(uint32_t checksum_bits)
{
	static struct dart_store_hash *hashes[65];
	const struct dart_store_geometry geometry = {
		.slots = UINT64_C(1) << 32,
		.value_length = 4,
		.checksum_bits = checksum_bits,
		.redundancy = DART_STORE_REDUNDANCY_MAX,
	};

	if (!hashes[checksum_bits])
		require(!dart_store_hash__new(&geometry, &hashes[checksum_bits]));
	return hashes[checksum_bits];
}

static void build(const struct input *input)
{
	const struct dart_collector collector = {
		.mac = { input->mac[0], input->mac[5] },
		.reporter.s_addr = input->reporter,
		.ip.s_addr = input->ip,
		.qpn = input->qpn & DART_ROCE_PSN_MASK,
		.rkey = input->rkey,
		.base = input->base,
		.geometry = {
			.slots = UINT64_C(1) << input->slots_log2 % 33,
			.value_length = 4 + input->value_length % 61,
			.checksum_bits = 8 << input->checksum % 4,
			.redundancy = 1 + input->redundancy % 8,
		},
	};
	const struct dart_store_geometry *geometry = &collector.geometry;
	uint32_t copy = input->copy % geometry->redundancy;
	uint32_t psn = input->psn & DART_ROCE_PSN_MASK;
	size_t slot_length = dart_store_geometry__slot_length(geometry), length;
	uint8_t frame[DART_ROCE_FRAME_MAX];
	struct dart_store_place place;
	struct roce_report report;

	dart_store_hash__place(hash_of(geometry->checksum_bits), input->key,
			       1 + input->key_length % DART_STORE_KEY_MAX, &place);
	length = dart_roce_frame__build(&collector, input->source_mac, &place, copy, input->value,
					psn, frame);
	require(length <= sizeof(frame));
	require(!roce_frame__parse(frame, length, &report));
	require(report.share == place.share && report.psn == psn && report.qpn == collector.qpn &&
		report.rkey == collector.rkey);
	require(report.address ==
		collector.base + place.slots[copy] % geometry->slots * slot_length);
	require(report.slot_length == slot_length);
	require(!memcmp(report.slot + geometry->checksum_bits / 8, input->value,
			geometry->value_length));
	require(!memcmp(report.mac, collector.mac, ETH_ALEN) &&
		!memcmp(report.source_mac, input->source_mac, ETH_ALEN));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = exact_copy(data, size);
	struct roce_report report;
	struct input input = {};

	roce_frame__parse(frame, size, &report);
	free(frame);
	memcpy(&input, data, size < sizeof(input) ? size : sizeof(input));
	build(&input);
	return 0;
}

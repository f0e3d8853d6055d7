// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of reports: the parser returns the report that a frame was built from, and
 * notices each changed bit. vectors.c compares their bytes with golden frames.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>

#include "selftests/lib/roce_frame_parse.h"
#include "selftests/unit/unit.h"

static const uint8_t source_mac[] = { 2, 0, 0, 0, 0, 9 };

static struct dart_collector collector_of(uint32_t checksum_bits, uint32_t value_length)
{
	struct dart_collector collector = {
		.name = "paths",
		.mac = { 2, 0, 0, 0, 0, 1 },
		.qpn = 0xfedcba,
		.rkey = 0x89abcdef,
		.base = 0x123456789a000000,
		.geometry = {
			.slots = 1 << 10,
			.value_length = value_length,
			.checksum_bits = checksum_bits,
			.redundancy = 2,
		},
	};

	inet_pton(AF_INET, "10.0.0.2", &collector.reporter);
	inet_pton(AF_INET, "10.0.0.1", &collector.ip);
	return collector;
}

/* Copy 1 of the key "key"; returns the length. */
static size_t build(const struct dart_collector *collector, uint64_t slots, uint32_t psn,
		    const uint8_t *value, struct dart_store_place *place, uint8_t *frame)
{
	struct dart_store_geometry geometry = collector->geometry;
	struct dart_store_hash *hash;

	geometry.slots = slots;
	assert_int_equal(dart_store_hash__new(&geometry, &hash), 0);
	dart_store_hash__place(hash, "key", 3, place);
	dart_store_hash__free(hash);
	return dart_roce_frame__build(collector, source_mac, place, 1, value, psn, frame);
}

static void test_read_back(void **state)
{
	static const uint32_t bits[] = { 8, 16, 32, 64 };
	uint8_t frame[DART_ROCE_FRAME_MAX], value[DART_STORE_VALUE_MAX];
	struct roce_report report;
	struct dart_store_place place;
	uint32_t length;
	size_t i;

	for (i = 0; i < sizeof(value); i++)
		value[i] = i + 1;
	for (i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		for (length = DART_STORE_VALUE_MIN; length <= DART_STORE_VALUE_MAX; length++) {
			struct dart_collector collector = collector_of(bits[i], length);
			size_t size = build(&collector, 1 << 10, 0x1234567, value, &place, frame);

			assert_true(size <= sizeof(frame));
			assert_int_equal(roce_frame__parse(frame, size, &report), 0);
			assert_memory_equal(report.mac, collector.mac, 6);
			assert_memory_equal(report.source_mac, source_mac, 6);
			assert_int_equal(report.reporter.s_addr, collector.reporter.s_addr);
			assert_int_equal(report.ip.s_addr, collector.ip.s_addr);
			assert_int_equal(report.share, place.share);
			assert_int_equal(report.qpn, collector.qpn);
			assert_int_equal(report.psn, 0x234567);
			assert_int_equal(report.rkey, collector.rkey);
			assert_int_equal(report.slot_length, bits[i] / 8 + length);
			assert_true(report.address ==
				    collector.base + place.slots[1] * report.slot_length);
			assert_memory_equal(report.slot + bits[i] / 8, value, length);
		}
	}
}

static void test_larger_place(void **state)
{
	const struct dart_collector collector = collector_of(32, 20);
	uint8_t frames[2][DART_ROCE_FRAME_MAX], value[20] = { 1 };
	struct dart_store_place place;
	size_t length;

	length = build(&collector, 1 << 10, 5, value, &place, frames[0]);
	assert_int_equal(build(&collector, UINT64_C(1) << 32, 5, value, &place, frames[1]), length);
	assert_memory_equal(frames[0], frames[1], length);
}

static void test_no_other_bit(void **state)
{
	const struct dart_collector collector = collector_of(32, 21);
	const size_t after_macs = 2 * ETH_ALEN;
	uint8_t frame[DART_ROCE_FRAME_MAX], value[21] = { 1 };
	struct roce_report report;
	struct dart_store_place place;
	size_t length, bit;

	length = build(&collector, 1 << 10, 5, value, &place, frame);
	for (bit = 8 * after_macs; bit < 8 * length; bit++) {
		frame[bit / 8] ^= 1 << bit % 8;
		assert_int_equal(roce_frame__parse(frame, length, &report), -EBADMSG);
		frame[bit / 8] ^= 1 << bit % 8;
	}
	assert_int_equal(roce_frame__parse(frame, length, &report), 0);
}

/* The buffer is exactly as large as the frame. */
static void test_any_bytes(void **state)
{
	const struct dart_collector collector = collector_of(32, 20);
	uint8_t frame[DART_ROCE_FRAME_MAX], value[20] = { 1 };
	struct dart_random random = dart_random__of(1);
	struct roce_report report;
	struct dart_store_place place;
	size_t whole, length, i;

	whole = build(&collector, 1 << 10, 5, value, &place, frame);
	for (length = 0; length <= sizeof(frame); length++) {
		uint8_t *part = malloc(length + !length);

		memcpy(part, frame, length < whole ? length : whole);
		assert_int_equal(roce_frame__parse(part, length, &report),
				 length == whole ? 0 : -EBADMSG);
		free(part);
	}
	for (i = 0; i < 100000; i++) {
		uint8_t *noise = malloc(whole);
		size_t from = 2 * ETH_ALEN + dart_random__below(&random, whole - 2 * ETH_ALEN);

		memcpy(noise, frame, whole);
		for (length = from; length < whole; length++)
			noise[length] = dart_random__next(&random);
		assert_int_equal(roce_frame__parse(noise, whole, &report),
				 memcmp(noise, frame, whole) ? -EBADMSG : 0);
		free(noise);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a frame is parsed to the report it was built from, for each checksum width and value length",
		     test_read_back),
		TEST("a key's place in the largest store gives the same frame as its place in a smaller one",
		     test_larger_place),
		TEST("a frame with any single bit flipped behind the MAC addresses is refused",
		     test_no_other_bit),
		TEST("a frame of any other length, or with random bytes at its end, is refused",
		     test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

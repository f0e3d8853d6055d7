// SPDX-License-Identifier: GPL-2.0-only
/* The XDP reporter passes frames that it cannot read, unchanged, and counts them. */
#include <string.h>

#include <arpa/inet.h>
#include <linux/bpf.h>

#include <libdart/random.h>

#include "selftests/lib/roce_frame_parse.h"
#include "selftests/lib/test.h"
#include "selftests/lib/xdp_reporter.h"

/* Offsets in a postcard over IPv4: the length of its report, and its inner packet. */
#define REPORT_WORDS 51
#define INNER_IP 78

#define IP 14
#define CHECKSUM_AT (IP + 10)
#define IP_END (IP + 20)

/* A good frame with one flaw; the checksum of IPv4 becomes right for a changed header. */
static const struct flaw {
	const char *what;
	enum xdp_reporter_counter counter;
	bool is_postcard;
	bool is_rest;		/* its report ends with the datagram */
	size_t length;		/* cut to this, 0: not at all */
	size_t at;		/* offset of @count other @bytes */
	uint8_t bytes[2];
	size_t count;
} flaws[] = {
	{ "another port", OTHERS, .at = 36, .bytes = { 0, 53 }, .count = 2 },
	{ "TCP to this port", OTHERS, .at = 23, .bytes = { 6 }, .count = 1 },
	{ "ARP", OTHERS, .at = 12, .bytes = { 8, 6 }, .count = 2 },
	{ "a first fragment", OTHERS, .at = 20, .bytes = { 0x20, 0 },
	  .count = 2 },
	{ "a later fragment", OTHERS, .at = 20, .bytes = { 0, 9 }, .count = 2 },
	{ "IP version 6 in IPv4", OTHERS, .at = 14, .bytes = { 0x65 },
	  .count = 1 },
	{ "an IP header of 16 bytes", OTHERS, .at = 14, .bytes = { 0x44 },
	  .count = 1 },
	{ "IP that ends in its header", OTHERS, .at = 16, .bytes = { 0, 19 },
	  .count = 2 },
	{ "options up to the end", OTHERS, .length = 60, .at = 14,
	  .bytes = { 0x4f }, .count = 1 },
	{ "a tag of a VLAN before no IP", OTHERS, .at = 12, .bytes = { 0x81, 0 },
	  .count = 2 },
	{ "cut in the tag", OTHERS, .length = 17, .at = 12, .bytes = { 0x81, 0 },
	  .count = 2 },
	{ "Ethernet alone", OTHERS, .length = 14 },
	{ "cut in IP", OTHERS, .length = 33 },
	{ "cut in UDP", OTHERS, .length = 41 },
	{ "cut behind UDP", TRUNCATED, .length = 42 },
	{ "cut in the MD header", TRUNCATED, .length = 57 },
	{ "cut behind the MD header", TRUNCATED, .length = 58 },
	{ "cut in the stack", TRUNCATED, .length = 65 },
	{ "UDP of 7 bytes", MALFORMED, .at = 38, .bytes = { 0, 7 },
	  .count = 2 },
	{ "UDP longer than IP", MALFORMED, .at = 16, .bytes = { 0, 159 },
	  .count = 2 },
	{ "UDP shorter than INT", MALFORMED, .at = 38, .bytes = { 0, 31 },
	  .count = 2 },
	{ "INT-MX", MALFORMED, .at = 42, .bytes = { 0x34 }, .count = 1 },
	{ "NPT 0", MALFORMED, .at = 42, .bytes = { 0x10 }, .count = 1 },
	{ "NPT 3", MALFORMED, .at = 42, .bytes = { 0x1c }, .count = 1 },
	{ "no MD header", MALFORMED, .at = 43, .bytes = { 2 }, .count = 1 },
	{ "more INT than UDP", MALFORMED, .at = 43, .bytes = { 255 },
	  .count = 1 },
	{ "version 1", MALFORMED, .at = 46, .bytes = { 0x10 }, .count = 1 },
	{ "hops of 0 words", MALFORMED, .at = 48, .bytes = { 0 }, .count = 1 },
	{ "two hops and a half", MALFORMED, .at = 48, .bytes = { 3 },
	  .count = 1 },
	{ "hops exceeded", INCOMPLETE, .at = 46, .bytes = { 0x24 },
	  .count = 1 },
	{ "MTU exceeded", INCOMPLETE, .at = 46, .bytes = { 0x22 },
	  .count = 1 },
	{ "no node IDs", ANONYMOUS, .at = 50, .bytes = { 0x40 }, .count = 1 },
	{ "an empty stack", ANONYMOUS, .at = 43, .bytes = { 3 }, .count = 1 },
	{ "a report of version 1", MALFORMED, true, .at = 42,
	  .bytes = { 0x10 }, .count = 1 },
	{ "a report of IOAM", MALFORMED, true, .at = 50, .bytes = { 0x24 },
	  .count = 1 },
	{ "two reports", MALFORMED, true, .at = 51, .bytes = { 5 },
	  .count = 1 },
	{ "more metadata than report", MALFORMED, true, .at = 52,
	  .bytes = { 200 }, .count = 1 },
	{ "a datagram without a report", MALFORMED, true, true, .at = 38,
	  .bytes = { 0, 16 }, .count = 2 },
	{ "a datagram without a group", MALFORMED, true, true, .at = 38,
	  .bytes = { 0, 8 }, .count = 2 },
	{ "a datagram that ends in its report", MALFORMED, true, true,
	  .at = 38, .bytes = { 0, 27 }, .count = 2 },
	{ "a report of nothing", ANONYMOUS, true, .at = 50, .bytes = { 0x10 },
	  .count = 1 },
	{ "a report of a TLV", ANONYMOUS, true, .at = 50, .bytes = { 0x11 },
	  .count = 1 },
	{ "a damaged inner packet", DAMAGED, true, .at = INNER_IP + 12,
	  .bytes = { 1 }, .count = 1 },
	{ "another version of the inner packet", MALFORMED, true,
	  .at = INNER_IP, .bytes = { 0x65 }, .count = 1 },
	{ "options of the inner packet up to the end", TRUNCATED, true,
	  .length = INNER_IP + 22, .at = INNER_IP, .bytes = { 0x46 }, .count = 1 },
	{ "cut in the group", TRUNCATED, true, .length = 49 },
	{ "cut in the metadata", TRUNCATED, true, .length = 65 },
	{ "cut in the inner packet", TRUNCATED, true, .length = 80 },
};

static size_t build_good(bool is_postcard, uint8_t frame[INT_FRAME_MAX])
{
	static const uint8_t key[13] = {
		10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, IPPROTO_UDP,
	};
	static const __be32 words[4] = { 1, 2, 3, 4 };
	const struct int_frame what = {
		.key = key,
		.key_length = sizeof(key),
		.path = words,
		.hops = 2,
		.hop_words = 2,
		.payload = 100,
	};
	const struct postcard postcard = {
		.key = key,
		.key_length = sizeof(key),
		.node = 9,
		.metadata = words,
		.words = 4,
	};

	return is_postcard ? postcard__build(&postcard, frame) : int_frame__build(&what, frame);
}

static void test_passed(void **state)
{
	struct xdp_reporter *reporter;
	uint8_t frame[INT_FRAME_MAX];
	const struct flaw *flaw;
	size_t i, length;

	reporter = *state = xdp_reporter__attach(32, DART_STORE_SHARES);
	for (i = 0; i < 2; i++) {
		length = build_good(i, frame);
		assert_int_equal(xdp_reporter__run(reporter, frame, &length, true), XDP_TX);
	}
	for (i = 0; i < sizeof(flaws) / sizeof(flaws[0]); i++) {
		flaw = &flaws[i];
		length = build_good(flaw->is_postcard, frame);
		if (flaw->is_rest)
			frame[REPORT_WORDS] = 0xff;
		memcpy(frame + flaw->at, flaw->bytes, flaw->count);
		if (flaw->at >= IP && flaw->at < IP_END)
			int_frame__set_checksum(frame);
		xdp_reporter__expect_passed(reporter, frame, flaw->length ?: length, flaw->counter,
					    flaw->what);
	}
	assert_int_equal(xdp_reporter__count(reporter, REPORTS), 2);
}

/* Adds options after the header of IPv4; returns the new length. */
static size_t add_options(uint8_t *frame, size_t length)
{
	static const uint8_t nops[4] = { 1, 1, 1, 1 };

	memmove(frame + IP_END + sizeof(nops), frame + IP_END, length - IP_END);
	memcpy(frame + IP_END, nops, sizeof(nops));
	frame[IP]++;
	frame[IP + 3] += sizeof(nops);
	int_frame__set_checksum(frame);
	return length + sizeof(nops);
}

/* Sends each frame that differs from this frame in one bit of the IPv4 header. */
static void expect_damaged(struct xdp_reporter *reporter, const uint8_t *good,
			   size_t length, size_t end)
{
	const uint64_t before = xdp_reporter__count(reporter, DAMAGED);
	const uint64_t others = xdp_reporter__count(reporter, OTHERS);
	const size_t other_bits = 8 + 14 + 8;
	uint8_t frame[INT_FRAME_MAX];
	size_t bit, size;

	/* Bits of the first byte, of fragments and of the protocol make it no telemetry. */
	for (bit = 0; bit < (end - IP) * 8; bit++) {
		memcpy(frame, good, length);
		frame[IP + bit / 8] ^= 1 << bit % 8;
		size = length;
		assert_int_equal(xdp_reporter__run(reporter, frame, &size, true), XDP_PASS);
		assert_int_equal(size, length);
		frame[IP + bit / 8] ^= 1 << bit % 8;
		assert_memory_equal(frame, good, length);
	}
	assert_int_equal(xdp_reporter__count(reporter, OTHERS) - others, other_bits);
	assert_int_equal(xdp_reporter__count(reporter, DAMAGED) - before,
			 (end - IP) * 8 - other_bits);
}

static void test_damaged(void **state)
{
	struct xdp_reporter *reporter;
	uint8_t frame[INT_FRAME_MAX];
	size_t i, length, size;

	reporter = *state = xdp_reporter__attach(32, DART_STORE_SHARES);
	for (i = 0; i < 4; i++) {
		length = build_good(i % 2, frame);
		if (i / 2)
			length = add_options(frame, length);
		expect_damaged(reporter, frame, length, IP_END + (i / 2 ? 4 : 0));
		size = length;
		assert_int_equal(xdp_reporter__run(reporter, frame, &size, true), XDP_TX);
	}
	assert_int_equal(xdp_reporter__count(reporter, REPORTS), 4);
}

static void test_zeros(void **state)
{
	struct xdp_reporter *reporter;
	uint8_t frame[INT_FRAME_MAX];
	size_t i, length;

	reporter = *state = xdp_reporter__attach(32, DART_STORE_SHARES);
	for (i = 0; i < 2; i++) {
		length = build_good(false, frame);
		/* The identification, which was 0, takes the whole checksum. */
		memcpy(frame + IP + 4, frame + CHECKSUM_AT, 2);
		int_frame__set_checksum(frame);
		assert_int_equal(frame[CHECKSUM_AT] | frame[CHECKSUM_AT + 1], 0);
		memset(frame + CHECKSUM_AT, i ? 0xff : 0, 2);
		assert_int_equal(xdp_reporter__run(reporter, frame, &length, true), XDP_TX);
	}
	assert_int_equal(xdp_reporter__count(reporter, REPORTS), 2);
}

static void test_random_flaws(void **state)
{
	struct xdp_reporter *reporter;
	struct dart_random random = dart_random__of(3);
	uint8_t good[INT_FRAME_MAX], frame[INT_FRAME_MAX];
	struct roce_report report;
	uint32_t i, reports = 0, verdict;
	size_t good_length, length, bytes;

	reporter = *state = xdp_reporter__attach(32, DART_STORE_SHARES);
	for (i = 0; i < 2000; i++) {
		good_length = build_good(i % 2, good);
		for (bytes = 1 + dart_random__below(&random, 3); bytes; bytes--)
			good[12 + dart_random__below(&random, 80)] = dart_random__next(&random);
		if (!dart_random__below(&random, 4))
			good_length = 14 + dart_random__below(&random, good_length - 14);
		memcpy(frame, good, good_length);
		length = good_length;
		verdict = xdp_reporter__run(reporter, frame, &length, true);
		if (verdict == XDP_PASS) {
			assert_int_equal(length, good_length);
			assert_memory_equal(frame, good, length);
			continue;
		}
		reports++;
		assert_int_equal(verdict, XDP_TX);
		assert_int_equal(roce_frame__parse(frame, length, &report), 0);
	}
	assert_int_equal(xdp_reporter__count(reporter, REPORTS), reports);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("each frame that is not a whole, well-formed INT frame passes unchanged, and is counted by its flaw",
			     test_passed, NULL, xdp_reporter__detach),
		TEST_FIXTURE("telemetry with one wrong bit in the header of IPv4, with or without options, passes unchanged and is counted as damaged",
			     test_damaged, NULL, xdp_reporter__detach),
		TEST_FIXTURE("telemetry whose checksum of IPv4 is 0 or 0xffff, both of which are right, is reported",
			     test_zeros, NULL, xdp_reporter__detach),
		TEST_FIXTURE("2000 frames with random flaws either pass unchanged or become valid reports",
			     test_random_flaws, NULL, xdp_reporter__detach),
	};

	return cmocka_run_group_tests_name("reporter_flaws", tests, xdp_reporter__setup,
					   xdp_reporter__teardown);
}

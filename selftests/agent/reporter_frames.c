// SPDX-License-Identifier: GPL-2.0-only
/* The XDP reporter's reports equal those of libdart byte for byte. */
#include <string.h>

#include <arpa/inet.h>
#include <linux/bpf.h>

#include <libdart/random.h>

#include "selftests/lib/test.h"
#include "selftests/lib/xdp_reporter.h"

#define CHI_SQUARED_7	40.5	/* 7 degrees of freedom, p = 10^-6 */

static void random_bytes(struct dart_random *random, void *bytes, size_t length)
{
	uint8_t *at = bytes;

	while (length--)
		*at++ = dart_random__next(random);
}

/* A random flow and path that INT can describe. */
static void random_int(struct dart_random *random, uint8_t key[37],
		       __be32 path[7], struct int_frame *what)
{
	static const uint8_t protocols[] = { 17, 17, 6, 33, 132, 136 };

	random_bytes(random, key, 37);
	random_bytes(random, path, 7 * sizeof(*path));
	*what = (struct int_frame){
		.key = key,
		.key_length = dart_random__below(random, 2) ? 13 : 37,
		.path = path,
		.hops = 1 + dart_random__below(random, 7),
		.hop_words = 1 + dart_random__below(random, 6),
		.is_before_l4 = dart_random__below(random, 2),
		.payload = dart_random__below(random, 3) * dart_random__below(random, 500),
	};
	key[what->key_length - 1] = protocols[dart_random__below(random, sizeof(protocols))];
}

static void run_int(struct xdp_reporter *reporter, struct dart_random *random)
{
	uint8_t frame[INT_FRAME_MAX], key[37];
	bool is_from_interface = dart_random__below(random, 2);
	__be32 path[7], value[5] = { 0 };
	struct int_frame what;
	size_t length;
	uint32_t hops;

	random_int(random, key, path, &what);
	hops = what.hops < 5 ? what.hops : 5;
	memcpy(value, path, hops * sizeof(*path));
	length = int_frame__build(&what, frame);
	assert_int_equal(xdp_reporter__run(reporter, frame, &length, is_from_interface),
			 is_from_interface ? XDP_TX : XDP_REDIRECT);
	xdp_reporter__expect(reporter, frame, length, key, what.key_length, value);
}

static void test_paths(void **state)
{
	struct xdp_reporter *reporter;
	struct dart_random random = dart_random__of(1);
	uint32_t bits, i;

	for (bits = 8; bits <= 64; bits *= 2) {
		reporter = *state = xdp_reporter__attach(bits, DART_STORE_SHARES);
		for (i = 0; i < 400; i++)
			run_int(reporter, &random);
		assert_int_equal(xdp_reporter__count(reporter, REPORTS), 400);
		xdp_reporter__detach(state);
	}
}

static void test_no_ports(void **state)
{
	struct xdp_reporter *reporter;
	uint8_t frame[INT_FRAME_MAX], key[13] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const __be32 path[5] = { htonl(7) };
	struct int_frame what = {
		.key = key,
		.key_length = sizeof(key),
		.path = path,
		.hops = 1,
		.hop_words = 1,
	};
	size_t length;

	reporter = *state = xdp_reporter__attach(32, DART_STORE_SHARES);
	key[12] = IPPROTO_ICMP;
	key[8] = 9;
	length = int_frame__build(&what, frame);
	key[8] = 0;
	assert_int_equal(xdp_reporter__run(reporter, frame, &length, true), XDP_TX);
	xdp_reporter__expect(reporter, frame, length, key, sizeof(key), path);
}

static void run_postcard(struct xdp_reporter *reporter, struct dart_random *random)
{
	uint8_t frame[INT_FRAME_MAX], key[41];
	__be32 metadata[8], value[5] = { 0 };
	struct postcard what = {
		.key = key,
		.key_length = dart_random__below(random, 2) ? 13 : 37,
		.metadata = metadata,
		.words = dart_random__below(random, 9),
		.has_ethernet = dart_random__below(random, 2),
	};
	size_t length;

	random_bytes(random, key, sizeof(key));
	random_bytes(random, metadata, sizeof(metadata));
	what.node = dart_random__next(random);
	key[what.key_length - 1] = IPPROTO_TCP;
	length = postcard__build(&what, frame);
	assert_int_equal(xdp_reporter__run(reporter, frame, &length, true), XDP_TX);

	memcpy(key + what.key_length, &what.node, sizeof(what.node));
	memcpy(value, metadata, (what.words < 5 ? what.words : 5) * 4);
	xdp_reporter__expect(reporter, frame, length, key, what.key_length + 4, value);
}

static void test_postcards(void **state)
{
	struct xdp_reporter *reporter;
	struct dart_random random = dart_random__of(2);
	uint32_t i;

	reporter = *state = xdp_reporter__attach(32, DART_STORE_SHARES);
	for (i = 0; i < 400; i++)
		run_postcard(reporter, &random);
}

/* By Pearson's test. */
static void test_random_copies(void **state)
{
	struct xdp_reporter *reporter;
	const uint32_t rounds = 4000, number = 7;
	const double expected = rounds / 8.;
	uint32_t copies[8] = { 0 }, i;
	uint8_t frame[INT_FRAME_MAX], key[13] = { 0 };
	const __be32 path[5] = { htonl(1), htonl(2) };
	struct int_frame what = {
		.key = key,
		.key_length = sizeof(key),
		.path = path,
		.hops = 2,
		.hop_words = 1,
	};
	double chi_squared = 0;
	size_t length;

	reporter = *state = xdp_reporter__attach(32, DART_STORE_SHARES);
	/* A flow of the first collector with 8 copies. */
	key[12] = IPPROTO_UDP;
	while (reporter->shares[dart_store__crc(DART_STORE_SHARE, key, 13) %
				  DART_STORE_SHARES] != number)
		key[0]++;
	for (i = 0; i < rounds; i++) {
		length = int_frame__build(&what, frame);
		assert_int_equal(xdp_reporter__run(reporter, frame, &length, true), XDP_TX);
		copies[xdp_reporter__expect(reporter, frame, length, key, 13, path)]++;
	}
	for (i = 0; i < 8; i++)
		chi_squared += (copies[i] - expected) * (copies[i] - expected) / expected;
	print_message("# chi-squared of 8 copies: %.1f\n", chi_squared);
	assert_true(chi_squared < CHI_SQUARED_7);
}

static void test_unassigned_shares(void **state)
{
	struct xdp_reporter *reporter;
	uint8_t frame[INT_FRAME_MAX], key[13] = { 0 };
	const __be32 path[5] = { htonl(1) };
	struct int_frame what = {
		.key = key,
		.key_length = sizeof(key),
		.path = path,
		.hops = 1,
		.hop_words = 1,
	};
	uint32_t i, shared = 0;
	size_t length;

	reporter = *state = xdp_reporter__attach(32, DART_STORE_SHARES / 2);
	key[12] = IPPROTO_UDP;
	for (i = 0; i < 200; i++) {
		key[0] = i;
		length = int_frame__build(&what, frame);
		if (dart_store__crc(DART_STORE_SHARE, key, 13) % DART_STORE_SHARES >=
		    DART_STORE_SHARES / 2) {
			xdp_reporter__expect_passed(reporter, frame, length, UNASSIGNED,
						    "a share without collector");
			continue;
		}
		assert_int_equal(xdp_reporter__run(reporter, frame, &length, true), XDP_TX);
		xdp_reporter__expect(reporter, frame, length, key, 13, path);
		shared++;
	}
	assert_in_range(shared, 1, 199);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("frames with INT-MD of random flows become libdart's reports, for each width of checksums",
			     test_paths, NULL, xdp_reporter__detach),
		TEST_FIXTURE("the flow of a protocol without ports is reported with ports of 0",
			     test_no_ports, NULL, xdp_reporter__detach),
		TEST_FIXTURE("postcards become libdart's reports, with the node in the key",
			     test_postcards, NULL, xdp_reporter__detach),
		TEST_FIXTURE("each of 8 copies is reported equally often",
			     test_random_copies, NULL, xdp_reporter__detach),
		TEST_FIXTURE("frames of a share without a collector pass unchanged, and are counted",
			     test_unassigned_shares, NULL, xdp_reporter__detach),
	};

	return cmocka_run_group_tests_name("reporter_frames", tests, xdp_reporter__setup,
					   xdp_reporter__teardown);
}

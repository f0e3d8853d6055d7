// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the reporter makes of frames, byte for byte beside libdart's: the program
 * that `dartctl reporter attach` has attached is run on them (BPF_PROG_TEST_RUN).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <net/if.h>

#include <dart/collectors.h>
#include <dart/random.h>
#include <dart/roce_frame.h>

#include "../helpers/int_frame.h"

#define INTERFACE	"reporter0"
#define PINS		"/sys/fs/bpf/dart/reporter/" INTERFACE
#define SOURCE		"10.78.0.1"
#define COLLECTORS	64
#define FIRST_PSN	0xfffffe	/* wraps at once */
#define CHI_SQUARED_7	40.5	/* 7 degrees of freedom, p = 10^-6 */

static const uint8_t source_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x78 };

/* In the order of struct reporter. */
enum counter {
	REPORTS,
	OTHERS,
	TRUNCATED,
	MALFORMED,
	INCOMPLETE,
	ANONYMOUS,
	UNASSIGNED,
	CRAMPED,
	COUNTERS,
};

struct collectors_under_test {
	struct dart_collector list[COLLECTORS];
	uint32_t sent[COLLECTORS];
	uint16_t shares[DART_STORE_SHARES];
	struct dart_store_hash *hash;	/* of most slots and copies */
	int program;
	int counters;
};

static struct collectors_under_test *under_test;

static void run(const char *command)
{
	if (system(command))
		fail_msg("%s", command);
}

/* Half of the collectors differ from the others in all that may differ. */
static void make_collector(struct dart_collector *collector, uint32_t i,
			   uint32_t checksum_bits)
{
	*collector = (struct dart_collector){
		.mac = { 2, 0, 0, 1, 0, i },
		.reporter.s_addr = inet_addr(SOURCE),
		.ip.s_addr = htonl(0x0a4e0100 + i),
		.qpn = 0xfffff0 - i * 0x10101,
		.rkey = 0xfedcba98 ^ i * 0x01010101,
		.first_psn = FIRST_PSN,
		.base = i * 0x0123456789abcdULL << 6,
		.geometry = {
			.slots = 1ULL << i % 33,
			.value_length = 20,
			.checksum_bits = checksum_bits,
			.redundancy = 1 + i % 8,
		},
	};
	snprintf(collector->name, sizeof(collector->name), "store%u", i);
}

/* @assigned: how many of the shares have a collector */
static void write_file(const char *path, uint32_t assigned)
{
	json_t *list = json_array(), *json;
	uint32_t i, part = assigned / COLLECTORS, share;
	char shares[32];

	for (share = 0; share < DART_STORE_SHARES; share++)
		under_test->shares[share] = share < assigned ?
					    share / part : DART_COLLECTOR_NONE;
	for (i = 0; i < COLLECTORS; i++) {
		json = dart_collector__to_json(&under_test->list[i]);
		snprintf(shares, sizeof(shares), "%u-%u", i * part,
			 (i + 1) * part - 1);
		json_object_set_new(json, "shares", json_string(shares));
		json_array_append_new(list, json);
	}
	json = json_pack("{s:i, s:o}", "dart_collectors", 1, "collectors",
			 list);
	assert_int_equal(json_dump_file(json, path, 0), 0);
	json_decref(json);
}

static void attach(uint32_t checksum_bits, uint32_t assigned)
{
	const struct dart_store_geometry geometry = {
		.slots = 1ULL << 32,
		.value_length = 20,
		.checksum_bits = checksum_bits,
		.redundancy = DART_STORE_REDUNDANCY_MAX,
	};
	DECLARE_LIBBPF_OPTS(bpf_xdp_query_opts, query);
	uint32_t i;

	under_test = calloc(1, sizeof(*under_test));
	for (i = 0; i < COLLECTORS; i++)
		make_collector(&under_test->list[i], i, checksum_bits);
	assert_int_equal(dart_store_hash__new(&geometry, &under_test->hash),
			 0);
	write_file("/tmp/collectors.json", assigned);
	run("dartctl reporter attach " INTERFACE
	    " --collectors /tmp/collectors.json --report-port 5001 >&2");
	assert_int_equal(bpf_xdp_query(if_nametoindex(INTERFACE), 0, &query),
			 0);
	under_test->program = bpf_prog_get_fd_by_id(query.prog_id ?:
						    query.skb_prog_id);
	under_test->counters = bpf_obj_get(PINS "/counters");
	assert_true(under_test->program >= 0 && under_test->counters >= 0);
}

static void detach(void)
{
	close(under_test->program);
	close(under_test->counters);
	dart_store_hash__free(under_test->hash);
	free(under_test);
	under_test = NULL;
	run("dartctl reporter detach " INTERFACE);
}

/* After a test that has failed. */
static int clear_away(void **state)
{
	if (under_test)
		detach();
	return 0;
}

static int setup(void **state)
{
	run("ip link add " INTERFACE " address 02:00:00:00:00:78 type dummy && "
	    "ip address add " SOURCE "/24 dev " INTERFACE " && "
	    "ip link set " INTERFACE " up");
	return 0;
}

static int teardown(void **state)
{
	run("ip link delete " INTERFACE);
	return 0;
}

/* Runs the program on the frame, which becomes what is left of it. */
static uint32_t run_program(uint8_t frame[INT_FRAME_MAX], size_t *length,
			    bool is_from_interface)
{
	struct xdp_md context = {
		.data_end = *length,
		.ingress_ifindex = if_nametoindex(INTERFACE),
	};
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame,
			    .data_size_in = *length, .data_out = frame,
			    .data_size_out = INT_FRAME_MAX, .repeat = 1);

	if (is_from_interface) {
		options.ctx_in = &context;
		options.ctx_size_in = sizeof(context);
	}
	assert_int_equal(bpf_prog_test_run_opts(under_test->program, &options),
			 0);
	*length = options.data_size_out;
	return options.retval;
}

static uint64_t count(enum counter counter)
{
	uint64_t row[COUNTERS], sum = 0;
	uint32_t cpu;

	for (cpu = 0; !bpf_map_lookup_elem(under_test->counters, &cpu, row);
	     cpu++)
		sum += row[counter];
	return sum;
}

/*
 * The frame is the report of @value under @key, as one of the copies, which is
 * returned.
 */
static uint32_t assert_report(const uint8_t *frame, size_t length,
			      const uint8_t *key, size_t key_length,
			      const void *value)
{
	uint8_t expected[DART_ROCE_FRAME_MAX];
	const struct dart_collector *collector;
	struct dart_store_place place;
	uint32_t number, copy;

	dart_store_hash__place(under_test->hash, key, key_length, &place);
	number = under_test->shares[place.share];
	assert_int_not_equal(number, DART_COLLECTOR_NONE);
	collector = &under_test->list[number];

	for (copy = 0; copy < collector->geometry.redundancy; copy++)
		if (dart_roce_frame__build(collector, source_mac, &place, copy,
					   value,
					   FIRST_PSN + under_test->sent[number],
					   expected) == length &&
		    !memcmp(frame, expected, length))
			break;
	if (copy == collector->geometry.redundancy)
		assert_memory_equal(frame, expected, length);
	under_test->sent[number]++;
	return copy;
}

static void random_bytes(struct dart_random *random, void *bytes,
			 size_t length)
{
	uint8_t *at = bytes;

	while (length--)
		*at++ = dart_random__next(random);
}

/* Any of the flows and paths that INT can tell of. */
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
		.payload = dart_random__below(random, 3) *
			   dart_random__below(random, 500),
	};
	key[what->key_length - 1] =
		protocols[dart_random__below(random, sizeof(protocols))];
}

static void run_int(struct dart_random *random)
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
	assert_int_equal(run_program(frame, &length, is_from_interface),
			 is_from_interface ? XDP_TX : XDP_REDIRECT);
	assert_report(frame, length, key, what.key_length, value);
}

static void test_paths(void **state)
{
	struct dart_random random = dart_random__of(1);
	uint32_t bits, i;

	for (bits = 8; bits <= 64; bits *= 2) {
		attach(bits, DART_STORE_SHARES);
		for (i = 0; i < 400; i++)
			run_int(&random);
		assert_int_equal(count(REPORTS), 400);
		detach();
	}
}

/* The ports of ICMP and the like are 0. */
static void test_no_ports(void **state)
{
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

	attach(32, DART_STORE_SHARES);
	key[12] = IPPROTO_ICMP;
	key[8] = 9;
	length = int_frame__build(&what, frame);
	key[8] = 0;
	assert_int_equal(run_program(frame, &length, true), XDP_TX);
	assert_report(frame, length, key, sizeof(key), path);
	detach();
}

static void run_postcard(struct dart_random *random)
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
	assert_int_equal(run_program(frame, &length, true), XDP_TX);

	memcpy(key + what.key_length, &what.node, sizeof(what.node));
	memcpy(value, metadata, (what.words < 5 ? what.words : 5) * 4);
	assert_report(frame, length, key, what.key_length + 4, value);
}

static void test_postcards(void **state)
{
	struct dart_random random = dart_random__of(2);
	uint32_t i;

	attach(32, DART_STORE_SHARES);
	for (i = 0; i < 400; i++)
		run_postcard(&random);
	detach();
}

/* Which of 8 copies is chosen, by Pearson's test. */
static void test_random_copies(void **state)
{
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

	attach(32, DART_STORE_SHARES);
	/* A flow that the first collector with 8 copies has. */
	key[12] = IPPROTO_UDP;
	while (under_test->shares[dart_store__crc(DART_STORE_SHARE, key, 13) %
				  DART_STORE_SHARES] != number)
		key[0]++;
	for (i = 0; i < rounds; i++) {
		length = int_frame__build(&what, frame);
		assert_int_equal(run_program(frame, &length, true), XDP_TX);
		copies[assert_report(frame, length, key, 13, path)]++;
	}
	for (i = 0; i < 8; i++)
		chi_squared += (copies[i] - expected) * (copies[i] - expected) /
			       expected;
	print_message("# chi-squared of 8 copies: %.1f\n", chi_squared);
	assert_true(chi_squared < CHI_SQUARED_7);
	detach();
}

/* A good frame with some bytes other than they should be. */
static const struct flaw {
	const char *what;
	enum counter counter;
	bool is_postcard;
	size_t length;		/* cut to this, 0: not at all */
	size_t at;		/* where 1 or 2 bytes differ, */
	uint8_t bytes[2];
	size_t count;		/* as many */
} flaws[] = {
	{ "another port", OTHERS, .at = 36, .bytes = { 0, 53 }, .count = 2 },
	{ "TCP to this port", OTHERS, .at = 23, .bytes = { 6 }, .count = 1 },
	{ "no IP", OTHERS, .at = 12, .bytes = { 8, 6 }, .count = 2 },
	{ "a fragment", OTHERS, .at = 20, .bytes = { 0x20, 0 }, .count = 2 },
	{ "the rest of one", OTHERS, .at = 20, .bytes = { 0, 9 }, .count = 2 },
	{ "no IPv4", OTHERS, .at = 14, .bytes = { 0x65 }, .count = 1 },
	{ "an IP header of 16 bytes", OTHERS, .at = 14, .bytes = { 0x44 },
	  .count = 1 },
	{ "options up to the end", OTHERS, .length = 60, .at = 14,
	  .bytes = { 0x4f }, .count = 1 },
	{ "Ethernet alone", OTHERS, .length = 14 },
	{ "cut in IP", OTHERS, .length = 33 },
	{ "cut in UDP", OTHERS, .length = 41 },
	{ "cut behind UDP", TRUNCATED, .length = 42 },
	{ "cut in the MD header", TRUNCATED, .length = 57 },
	{ "cut behind the MD header", TRUNCATED, .length = 58 },
	{ "cut in the stack", TRUNCATED, .length = 65 },
	{ "UDP of 7 bytes", MALFORMED, .at = 38, .bytes = { 0, 7 },
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
	{ "a report of nothing", ANONYMOUS, true, .at = 50, .bytes = { 0x10 },
	  .count = 1 },
	{ "a report of a TLV", ANONYMOUS, true, .at = 50, .bytes = { 0x11 },
	  .count = 1 },
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

	return is_postcard ? postcard__build(&postcard, frame) :
			     int_frame__build(&what, frame);
}

static void assert_passed(const uint8_t *frame, size_t length,
			  enum counter counter, const char *what)
{
	uint8_t passed[INT_FRAME_MAX];
	uint64_t before = count(counter);
	size_t passed_length = length;

	memcpy(passed, frame, length);
	if (run_program(passed, &passed_length, true) != XDP_PASS ||
	    passed_length != length || memcmp(passed, frame, length))
		fail_msg("%s: not passed as it was", what);
	if (count(counter) != before + 1)
		fail_msg("%s: not counted", what);
}

static void test_passed(void **state)
{
	uint8_t frame[INT_FRAME_MAX];
	const struct flaw *flaw;
	size_t i, length;

	attach(32, DART_STORE_SHARES);
	for (i = 0; i < 2; i++) {
		length = build_good(i, frame);
		assert_int_equal(run_program(frame, &length, true), XDP_TX);
	}
	for (i = 0; i < sizeof(flaws) / sizeof(flaws[0]); i++) {
		flaw = &flaws[i];
		length = build_good(flaw->is_postcard, frame);
		memcpy(frame + flaw->at, flaw->bytes, flaw->count);
		assert_passed(frame, flaw->length ?: length, flaw->counter,
			      flaw->what);
	}
	assert_int_equal(count(REPORTS), 2);
	detach();
}

/* Any other bytes in any places: a report that is one, or what it was. */
static void test_random_flaws(void **state)
{
	struct dart_random random = dart_random__of(3);
	uint8_t good[INT_FRAME_MAX], frame[INT_FRAME_MAX];
	struct dart_roce_report report;
	uint32_t i, reports = 0, verdict;
	size_t good_length, length, bytes;

	attach(32, DART_STORE_SHARES);
	for (i = 0; i < 2000; i++) {
		good_length = build_good(i % 2, good);
		for (bytes = 1 + dart_random__below(&random, 3); bytes; bytes--)
			good[12 + dart_random__below(&random, 80)] =
				dart_random__next(&random);
		if (!dart_random__below(&random, 4))
			good_length = 14 + dart_random__below(
						&random, good_length - 14);
		memcpy(frame, good, good_length);
		length = good_length;
		verdict = run_program(frame, &length, true);
		if (verdict == XDP_PASS) {
			assert_int_equal(length, good_length);
			assert_memory_equal(frame, good, length);
			continue;
		}
		reports++;
		assert_int_equal(verdict, XDP_TX);
		assert_int_equal(dart_roce_frame__parse(frame, length, &report),
				 0);
	}
	assert_int_equal(count(REPORTS), reports);
	detach();
}

static void test_nobody(void **state)
{
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

	attach(32, DART_STORE_SHARES / 2);
	key[12] = IPPROTO_UDP;
	for (i = 0; i < 200; i++) {
		key[0] = i;
		length = int_frame__build(&what, frame);
		if (dart_store__crc(DART_STORE_SHARE, key, 13) %
		    DART_STORE_SHARES >= DART_STORE_SHARES / 2) {
			assert_passed(frame, length, UNASSIGNED, "nobody's");
			continue;
		}
		assert_int_equal(run_program(frame, &length, true), XDP_TX);
		assert_report(frame, length, key, 13, path);
		shared++;
	}
	assert_in_range(shared, 1, 199);
	detach();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_paths, clear_away),
		cmocka_unit_test_teardown(test_no_ports, clear_away),
		cmocka_unit_test_teardown(test_postcards, clear_away),
		cmocka_unit_test_teardown(test_random_copies, clear_away),
		cmocka_unit_test_teardown(test_passed, clear_away),
		cmocka_unit_test_teardown(test_random_flaws, clear_away),
		cmocka_unit_test_teardown(test_nobody, clear_away),
	};

	return cmocka_run_group_tests_name("reporter_frames", tests, setup,
					   teardown);
}

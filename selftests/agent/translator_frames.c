// SPDX-License-Identifier: GPL-2.0-only
/* The paths that the XDP translator reports equal those of libdart's translator byte for byte. */
#include <endian.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <libdart/clock.h>
#include <libdart/random.h>
#include <libdart/report/roce_frame.h>
#include <libdart/report/translator.h>

#include "selftests/lib/test.h"
#include "selftests/lib/xdp_reporter.h"

#define PLACES	5

static struct xdp_reporter *xdp;

static int end(void **state)
{
	void *attached = xdp;

	(void)state;
	xdp = NULL;
	return xdp_reporter__detach(&attached);
}

/* ---- frames */

struct packet {
	struct ethhdr ethernet;
	struct iphdr ip;
	struct udphdr udp;
	uint8_t version, key_length, hop, hops;
	__be32 value;
	uint8_t key[DART_STORE_KEY_MAX + 1];
} __attribute__((packed));

#define HEADERS offsetof(struct packet, version)

static size_t build(const struct dart_postcard *postcard, struct packet *packet)
{
	const size_t payload = DART_POSTCARD_HEADER + postcard->key_length;

	*packet = (struct packet){
		.ethernet.h_proto = htobe16(ETH_P_IP),
		.ip = {
			.version = 4,
			.ihl = 5,
			.tot_len = htobe16(sizeof(packet->ip) + sizeof(packet->udp) + payload),
			.ttl = 64,
			.protocol = IPPROTO_UDP,
		},
		.udp = {
			.dest = htobe16(POSTCARD_PORT),
			.len = htobe16(sizeof(packet->udp) + payload),
		},
		.version = DART_POSTCARD_VERSION,
		.key_length = postcard->key_length,
		.hop = postcard->hop,
		.hops = postcard->hops,
		.value = htobe32(postcard->value),
	};
	memcpy(packet->key, postcard->key, postcard->key_length);
	packet->ip.check = dart_roce_frame__ip_checksum(&packet->ip);
	return HEADERS + payload;
}

/* Runs the program on the postcard.  The frame becomes its report, if it returns XDP_TX. */
static uint32_t tell(const struct dart_postcard *postcard, uint8_t frame[INT_FRAME_MAX],
		     size_t *length)
{
	struct packet packet;

	*length = build(postcard, &packet);
	memcpy(frame, &packet, *length);
	return xdp_reporter__run(xdp, frame, length, true);
}

/* The collector of the report has a slot of this number. */
static void expect(const uint8_t *frame, size_t length, const struct dart_translator_report *report)
{
	const struct dart_collector *collector;
	struct dart_store_place place;
	uint32_t copy;

	copy = xdp_reporter__expect(xdp, frame, length, report->key, report->key_length,
				    report->value);
	if (report->is_complete)
		return;
	dart_store_hash__place(xdp->hash, report->key, report->key_length, &place);
	collector = &xdp->collectors[xdp->shares[place.share]];
	/* In a small store, several slots of a key are one. */
	if (collector->geometry.slots > 1 << 20)
		assert_int_equal(copy, report->number % collector->geometry.redundancy);
}

/* A key of 13 bytes and others, by its number. */
static void make_key(uint32_t number, struct dart_postcard *postcard)
{
	static const uint32_t lengths[] = { 13, 37, 41, 1, 8 };
	struct dart_random random = dart_random__of(number + 1);
	uint32_t i;

	postcard->key_length = lengths[number % 5];
	for (i = 0; i < postcard->key_length; i++)
		postcard->key[i] = dart_random__next(&random);
}

/* ---- tests */

static struct dart_postcard random_postcard(struct dart_random *random)
{
	const uint32_t flow = dart_random__below(random, 60);
	struct dart_postcard postcard = { .hops = 2 + flow % 4 };

	make_key(flow, &postcard);
	postcard.hop = dart_random__below(random, postcard.hops);
	/* One of 50 postcards is of another path. */
	if (!dart_random__below(random, 50))
		postcard.hops = 2 + dart_random__below(random, 4);
	postcard.value = 1 + flow * 8 + postcard.hop + !dart_random__below(random, 50);
	if (postcard.hop >= postcard.hops)
		postcard.hop = 0;
	return postcard;
}

static void test_random_postcards(void **state)
{
	struct dart_translator_report reports[DART_TRANSLATOR_REPORTS_MAX];
	struct dart_random random = dart_random__of(1);
	const struct dart_translator_counts *counts;
	struct dart_translator *translator;
	uint64_t gathered = 0, reported = 0;
	struct dart_postcard postcard;
	uint8_t frame[INT_FRAME_MAX];
	uint32_t action, i;
	size_t length;
	int due;

	(void)state;
	xdp = xdp_reporter__attach_translator("--rows 2^5 --age 60min");
	assert_int_equal(dart_translator__new(5, PLACES, UINT64_MAX, &translator), 0);
	for (i = 0; i < 1200; i++) {
		postcard = random_postcard(&random);
		due = dart_translator__add(translator, &postcard, 0, reports);
		action = tell(&postcard, frame, &length);
		/* No path has one hop, which could make two reports due. */
		assert_in_range(due, 0, 1);
		assert_int_equal(action, due ? XDP_TX : XDP_DROP);
		if (due)
			expect(frame, length, &reports[0]);
		gathered += !due;
		reported += due;
	}
	counts = dart_translator__counts(translator);
	assert_true(counts->complete > 20 && counts->evicted > 20 && counts->changed > 20);
	assert_int_equal(xdp_reporter__count(xdp, GATHERED), gathered);
	assert_int_equal(xdp_reporter__count(xdp, REPORTS), reported);

	/* The paths that wait in the end. */
	for (i = 0; i < 32; i++) {
		length = 64;
		if (xdp_reporter__flush(xdp, i, frame, &length) != XDP_TX)
			continue;
		assert_true(dart_translator__expire(translator, UINT64_MAX, &reports[0]));
		reported++;
	}
	assert_false(dart_translator__expire(translator, UINT64_MAX, &reports[0]));
	assert_int_equal(xdp_reporter__count(xdp, REPORTS), reported);
	dart_translator__free(translator);
}

static struct dart_translator_report report_of(const struct dart_postcard *postcard)
{
	struct dart_translator_report report = {
		.key_length = postcard->key_length,
		.is_complete = postcard->hops == 1,
	};
	uint32_t place, value;

	memcpy(report.key, postcard->key, postcard->key_length);
	for (place = 0; place < PLACES; place++) {
		value = place == postcard->hop	? postcard->value :
			place < postcard->hops	? DART_POSTCARD_UNKNOWN :
						  DART_POSTCARD_NO_HOP;
		value = htobe32(value);
		memcpy(report.value + 4 * place, &value, sizeof(value));
	}
	return report;
}

static void test_two_reports(void **state)
{
	struct dart_postcard first = { .hops = 2, .hop = 1, .value = 7 };
	struct dart_postcard second = { .hops = 1, .value = 8 };
	struct dart_translator_report report;
	uint8_t frame[INT_FRAME_MAX];
	size_t length;

	(void)state;
	xdp = xdp_reporter__attach_translator("--rows 1 --age 60min");
	make_key(0, &first);
	make_key(1, &second);
	assert_int_equal(tell(&first, frame, &length), XDP_DROP);
	assert_int_equal(tell(&second, frame, &length), XDP_TX);
	report = report_of(&first);
	expect(frame, length, &report);
	assert_int_equal(tell(&second, frame, &length), XDP_TX);
	report = report_of(&second);
	expect(frame, length, &report);
	assert_int_equal(tell(&second, frame, &length), XDP_DROP);
	length = 64;
	assert_int_equal(xdp_reporter__flush(xdp, 0, frame, &length), XDP_DROP);
}

/* The value at a place of the report. */
static uint32_t value_at(const uint8_t *frame, uint32_t place)
{
	uint32_t value;

	memcpy(&value, frame + sizeof(struct dart_roce_headers) + 4 + 4 * place, sizeof(value));
	return be32toh(value);
}

static void test_age(void **state)
{
	struct dart_postcard silent = { .hops = 2, .hop = 1, .value = 7 };
	struct dart_postcard loud = { .hops = 2, .value = 8 };
	const uint64_t begun = dart_clock__ns(CLOCK_MONOTONIC);
	struct dart_translator_report report;
	uint8_t frame[INT_FRAME_MAX];
	bool is_silent = false;
	uint32_t number = 0;
	size_t length;

	(void)state;
	xdp = xdp_reporter__attach_translator("--rows 2^4 --age 500ms");
	make_key(0, &silent);
	make_key(5, &loud);
	assert_int_equal(tell(&silent, frame, &length), XDP_DROP);
	while (!is_silent) {
		assert_in_range(dart_clock__ns(CLOCK_MONOTONIC), begun, begun + 60000000000ULL);
		if (tell(&loud, frame, &length) != XDP_TX)
			continue;
		/* The path of the other flow ages as well. */
		is_silent = value_at(frame, 1) == silent.value;
		report = report_of(is_silent ? &silent : &loud);
		report.number = number++;
		expect(frame, length, &report);
	}
	assert_true(dart_clock__ns(CLOCK_MONOTONIC) - begun > 400000000);
}

static void test_refused_postcards(void **state)
{
	static const struct refused {
		const char *what;
		size_t at;	/* in the packet: a byte that changes */
		uint8_t byte;
		enum xdp_reporter_counter counter;
	} refused[] = {
		{ "another version", offsetof(struct packet, version), 2, MALFORMED },
		{ "no key", offsetof(struct packet, key_length), 0, MALFORMED },
		{ "a key of 14 bytes", offsetof(struct packet, key_length), 14, MALFORMED },
		{ "a key of 65 bytes", offsetof(struct packet, key_length), 65, MALFORMED },
		{ "a hop after the last one", offsetof(struct packet, hop), 5, MALFORMED },
		{ "no hops", offsetof(struct packet, hops), 0, MALFORMED },
		{ "17 hops", offsetof(struct packet, hops), 17, MALFORMED },
		{ "6 hops", offsetof(struct packet, hops), 6, UNASSIGNED },
		{ "the value of an unknown hop", offsetof(struct packet, value) + 3, 0, MALFORMED },
		{ "another length", offsetof(struct packet, udp.len) + 1, 30, MALFORMED },
		{ "another port", offsetof(struct packet, udp.dest) + 1, 0, OTHERS },
		{ "another protocol", offsetof(struct packet, ip.protocol), 6, OTHERS },
		{ "a wrong checksum", offsetof(struct packet, ip.ttl), 63, DAMAGED },
	};
	struct dart_postcard postcard = { .hops = 5, .hop = 1, .value = 7 };
	struct packet packet;
	size_t length, i;

	(void)state;
	xdp = xdp_reporter__attach_translator("");
	make_key(0, &postcard);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		length = build(&postcard, &packet);
		((uint8_t *)&packet)[refused[i].at] = refused[i].byte;
		xdp_reporter__expect_passed(xdp, (uint8_t *)&packet, length, refused[i].counter,
					    refused[i].what);
	}
	length = build(&postcard, &packet);
	xdp_reporter__expect_passed(xdp, (uint8_t *)&packet, HEADERS + 7, TRUNCATED, "a cut header");
	xdp_reporter__expect_passed(xdp, (uint8_t *)&packet, length - 1, TRUNCATED, "a cut key");
	postcard.value = DART_POSTCARD_NO_HOP;
	length = build(&postcard, &packet);
	xdp_reporter__expect_passed(xdp, (uint8_t *)&packet, length, MALFORMED,
				    "the value after the last hop");
	postcard.value = 7;
	postcard.key_length = 42;
	length = build(&postcard, &packet);
	xdp_reporter__expect_passed(xdp, (uint8_t *)&packet, length, UNASSIGNED,
				    "a key of 42 bytes");
	assert_int_equal(xdp_reporter__count(xdp, GATHERED), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("random postcards in few rows become the reports of libdart's translator",
			     test_random_postcards, NULL, end),
		TEST_FIXTURE("a path that is complete waits while its postcard reports another one",
			     test_two_reports, NULL, end),
		TEST_FIXTURE("postcards of another flow report a path whose time has passed",
			     test_age, NULL, end),
		TEST_FIXTURE("invalid postcards, and keys and paths that are too long, pass unchanged",
			     test_refused_postcards, NULL, end),
	};

	return cmocka_run_group_tests_name("translator_frames", tests, xdp_reporter__setup,
					   xdp_reporter__teardown);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports over a reliable connection to a model of its queue pair, as IBTA volume 1, section 9.7,
 * and soft-RoCE have it, over a network that loses frames of both directions.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include <dart/store.h>
#include <libdart/random.h>
#include <libdart/report/report_builder.h>

#include "selftests/unit/unit.h"

#define FIRST_PSN	0xfffff0	/* PSNs wrap soon */
#define MASK		0xffffff
#define ANSWER_LENGTH	(offsetof(struct dart_roce_headers, reth) + 4 + DART_ROCE_ICRC_LENGTH)
#define SYNDROME_ACK	0x1f
#define SYNDROME_SEQUENCE 0x60
#define SYNDROME_ACCESS	0x62

static const struct dart_collector collector = {
	.name = "paths",
	.reporter.s_addr = 0x0200000a,
	.ip.s_addr = 0x0100000a,
	.qpn = 17,
	.rkey = 5,
	.first_psn = FIRST_PSN,
	.base = UINT64_C(5) << 32,
	.is_reliable = true,
	.geometry = { 16, 20, 32, 2 },
};

/* The queue pair, and how many frames of 1,000 each direction loses. */
struct model {
	uint32_t expected;
	uint32_t acknowledged; /* PSN after the last executed request; soft-RoCE: 0 at first */
	bool has_refused; /* one NAK was sent since the last request */
	bool is_broken;
	uint64_t arrived; /* reports */
	uint32_t loss;
	struct dart_random random;
	uint64_t now;
};

static bool is_lost(struct model *model)
{
	return dart_random__below(&model->random, 1000) < model->loss;
}

static void answer(struct model *model, struct dart_report_builder *builder, uint8_t syndrome,
		   uint32_t psn)
{
	uint8_t frame[ANSWER_LENGTH] = { 0 };
	struct dart_roce_headers headers = {
		.ethernet.h_proto = htobe16(ETH_P_IP),
		.ip = {
			.version = 4,
			.ihl = 5,
			.protocol = IPPROTO_UDP,
			.saddr = collector.ip.s_addr,
			.daddr = collector.reporter.s_addr,
			.tot_len = htobe16(ANSWER_LENGTH - sizeof(headers.ethernet)),
		},
		.udp.dest = htobe16(DART_STORE_UDP_PORT),
		.bth = {
			.opcode = DART_STORE_BTH_ACKNOWLEDGE,
			.queue_pair = htobe32(collector.qpn),
			.psn = htobe32(psn & MASK),
		},
	};
	__le32 icrc;

	if (is_lost(model))
		return;
	memcpy(frame, &headers, offsetof(struct dart_roce_headers, reth));
	frame[offsetof(struct dart_roce_headers, reth)] = syndrome;
	icrc = dart_roce_frame__icrc(frame, sizeof(frame));
	memcpy(frame + sizeof(frame) - sizeof(icrc), &icrc, sizeof(icrc));
	dart_report_builder__take(builder, frame, sizeof(frame), model->now);
}

/* What the queue pair does with a frame. */
static void receive(struct model *model, struct dart_report_builder *builder, const uint8_t *frame,
		    uint64_t now)
{
	struct dart_roce_headers headers;
	uint32_t psn, ahead;

	model->now = now;
	memcpy(&headers, frame, sizeof(headers));
	assert_int_equal(headers.bth.opcode, DART_STORE_BTH_RELIABLE);
	if (is_lost(model) || model->is_broken)
		return;
	psn = be32toh(headers.bth.psn) & MASK;
	ahead = (psn - model->expected) & MASK;
	if (ahead && ahead < 0x800000) {
		if (!model->has_refused)
			answer(model, builder, SYNDROME_SEQUENCE, model->expected);
		model->has_refused = true;
		return;
	}
	if (ahead) {
		answer(model, builder, SYNDROME_ACK, model->acknowledged - 1);
		return;
	}
	if (headers.reth.length && be32toh(headers.reth.rkey) != collector.rkey) {
		model->is_broken = true;
		answer(model, builder, SYNDROME_ACCESS, model->expected);
		return;
	}
	model->has_refused = false;
	model->expected = model->acknowledged = (model->expected + 1) & MASK;
	model->arrived += !!headers.reth.length;
	if (be32toh(headers.bth.psn) & DART_ROCE_BTH_ACKREQ)
		answer(model, builder, SYNDROME_ACK, psn);
}

/* Time in which nothing but probes is sent, in steps of 1 ms. */
static void wait(struct model *model, struct dart_report_builder *builder, uint64_t *now, int ms)
{
	uint8_t frame[DART_ROCE_FRAME_MAX];

	for (; ms; ms--) {
		*now += 1000000;
		if (dart_report_builder__probe(builder, 0, *now, frame))
			receive(model, builder, frame, *now);
	}
}

static void report(struct model *model, struct dart_report_builder *builder, uint64_t *now, int count)
{
	uint8_t frame[DART_ROCE_FRAME_MAX], value[20] = { 0 };
	struct dart_store_place place;

	dart_report_builder__find(builder, "key", 3, &place);
	for (; count; count--) {
		dart_report_builder__report(builder, &place, 0, value, frame);
		receive(model, builder, frame, *now);
		*now += 100000;
		if (dart_report_builder__probe(builder, 0, *now, frame))
			receive(model, builder, frame, *now);
	}
}

static struct dart_report_builder *begin(struct dart_collectors *collectors)
{
	static const uint8_t mac[ETH_ALEN] = { 2 };
	struct dart_report_builder *builder;

	assert_int_equal(dart_report_builder__new(collectors, mac, 1, &builder), 0);
	return builder;
}

/* The expected PSN counts exactly the reports that arrived, however many frames are lost. */
static void check_run(struct model *model, int reports)
{
	struct dart_collector list[1] = { collector };
	struct dart_collectors collectors = { .count = 1, .list = list };
	struct dart_report_builder *builder = begin(&collectors);
	const uint64_t before = model->arrived;
	struct dart_report_progress progress = dart_report_builder__progress(builder, 0);
	uint64_t now = 0;
	int i;

	assert_int_equal(progress.state, DART_REPORT_ASKING);
	for (i = 0; i < 20000 && progress.state == DART_REPORT_ASKING; i++) {
		wait(model, builder, &now, 1);
		progress = dart_report_builder__progress(builder, 0);
	}
	assert_int_equal(progress.state, DART_REPORT_FOLLOWED);
	report(model, builder, &now, reports);
	progress = dart_report_builder__progress(builder, 0);
	for (i = 0; i < 20000 && !progress.is_settled; i++) {
		wait(model, builder, &now, 1);
		progress = dart_report_builder__progress(builder, 0);
	}
	assert_true(progress.is_settled);
	assert_int_equal(progress.reports, reports);
	assert_int_equal(progress.arrived, model->arrived - before);
	if (!model->loss) {
		assert_int_equal(progress.arrived, reports);
		assert_int_equal(progress.stops, 0);
		assert_true(dart_report_builder__due(builder, 0) == UINT64_MAX);
	}
	/* A stop whose NAK is lost, too, costs the reports until probes are answered. */
	assert_true(model->loss > 10 || reports < 1000 ||
		    2 * progress.arrived > progress.reports);
	dart_report_builder__free(builder);
}

static void test_runs(void **state)
{
	static const uint32_t losses[] = { 0, 1, 10, 50 };
	/* A fresh queue pair, used ones near and far from the first PSN, and one that is silent. */
	static const uint32_t places[] = { 0, 1, 5000, 0x7fffff, 0x800000, 0x800001, 0xfffff0 };
	struct model model;
	size_t i, j;

	for (i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		for (j = 0; j < 2 * sizeof(places) / sizeof(*places); j++) {
			model = (struct model){
				.expected = (FIRST_PSN + places[j / 2]) & MASK,
				.acknowledged = places[j / 2] ? FIRST_PSN + places[j / 2] : 0,
				.has_refused = j % 2,
				.loss = losses[i],
				.random = dart_random__of(j),
			};
			check_run(&model, 2000);
			/* Another run of a reporter, which begins with the first PSN again. */
			check_run(&model, 300);
		}
}

/* A NAK is lost: the probe after DART_STORE_PROBE_REPORTS reports finds the stop. */
static void test_lost_refusal(void **state)
{
	struct dart_collector list[1] = { collector };
	struct dart_collectors collectors = { .count = 1, .list = list };
	struct dart_report_builder *builder = begin(&collectors);
	struct model model = { .expected = FIRST_PSN };
	struct dart_report_progress progress;
	uint64_t now = 0;

	wait(&model, builder, &now, 1);
	report(&model, builder, &now, 10);
	model.loss = 1000;
	report(&model, builder, &now, 1);
	model.loss = 0;
	model.has_refused = true;
	report(&model, builder, &now, 1000);
	wait(&model, builder, &now, 100);
	progress = dart_report_builder__progress(builder, 0);
	assert_true(progress.is_settled);
	assert_int_equal(progress.stops, 1);
	assert_int_equal(progress.arrived, model.arrived);
	/* 10,000 reports a second, for the time of a stall and two probes. */
	assert_in_range(progress.reports - progress.arrived, 2, 450);
	dart_report_builder__free(builder);
}

/* The first probe and its retries are all answered late: the queue pair has not stopped. */
static void test_late_answers(void **state)
{
	struct dart_collector list[1] = { collector };
	struct dart_collectors collectors = { .count = 1, .list = list };
	struct dart_report_builder *builder = begin(&collectors);
	struct model model = { .expected = FIRST_PSN };
	uint8_t probes[2][DART_ROCE_FRAME_MAX];
	struct dart_report_progress progress;
	uint64_t now = 1;
	int i;

	for (i = 0; i < 2; i++) {
		assert_true(dart_report_builder__probe(builder, 0, now, probes[i]));
		now = dart_report_builder__due(builder, 0);
	}
	receive(&model, builder, probes[0], now);
	report(&model, builder, &now, 1);
	wait(&model, builder, &now, 20);
	receive(&model, builder, probes[1], now);
	report(&model, builder, &now, 100);
	wait(&model, builder, &now, 100);
	progress = dart_report_builder__progress(builder, 0);
	assert_true(progress.is_settled);
	assert_int_equal(progress.arrived, 101);
	assert_int_equal(progress.stops, 0);
	dart_report_builder__free(builder);
}

/* After an invalid report nothing is asked any more, and another queue pair is followed anew. */
static void test_refused(void **state)
{
	struct dart_collector list[2] = { collector, collector };
	struct dart_collectors collectors = { .count = 1, .list = list };
	struct dart_collectors others = { .count = 1, .list = list + 1 };
	struct dart_report_builder *builder;
	struct model model = { .expected = FIRST_PSN };
	struct dart_report_progress progress;
	uint64_t now = 0;

	list[0].rkey = 6;
	list[1].epoch = 2;
	builder = begin(&collectors);
	wait(&model, builder, &now, 1);
	report(&model, builder, &now, 3);
	progress = dart_report_builder__progress(builder, 0);
	assert_int_equal(progress.state, DART_REPORT_REFUSED);
	assert_int_equal(progress.arrived, 0);
	assert_true(dart_report_builder__due(builder, 0) == UINT64_MAX);

	model = (struct model){ .expected = FIRST_PSN };
	assert_int_equal(dart_report_builder__replace(builder, &others), 0);
	wait(&model, builder, &now, 1);
	report(&model, builder, &now, 5);
	wait(&model, builder, &now, 50);
	progress = dart_report_builder__progress(builder, 0);
	assert_true(progress.is_settled);
	assert_int_equal(progress.arrived, 5);
	assert_int_equal(progress.lost_before, 3);
	dart_report_builder__free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the expected PSN counts the reports that arrived, at any loss, from any PSN on",
		     test_runs),
		TEST("a probe finds a queue pair that stopped although its NAK was lost",
		     test_lost_refusal),
		TEST("an answer to a repeated probe is not taken for a stop", test_late_answers),
		TEST("a broken queue pair is known, and the next one is followed", test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

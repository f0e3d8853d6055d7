// SPDX-License-Identifier: GPL-2.0-only
/* A builder of reports goes on when a store has rotated, or when its agent was restarted. */
#include <libdart/report/report_builder.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "selftests/unit/unit.h"

#define PSN_AT	51	/* in a frame: 24 bits */
#define BASE_AT	54	/* 64 bits, plus the place of the slot */
#define RKEY_AT	62

static struct dart_collector make(uint32_t qpn, uint32_t rkey, uint64_t epoch)
{
	return (struct dart_collector){
		.name = "paths",
		.reporter.s_addr = htonl(0x0a000002),
		.ip.s_addr = htonl(0x0a000001),
		.qpn = qpn,
		.rkey = rkey,
		.first_psn = 100,
		.base = (uint64_t)rkey << 32,
		.epoch = epoch,
		.geometry = { 16, 20, 32, 2 },
		.redundancy_max = 8,
	};
}

static uint32_t number(const uint8_t *frame, size_t at, size_t bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | frame[at++];
	return value;
}

/* Builds a report, and checks its PSN, key and base. */
static void expect(struct dart_report_builder *builder, uint32_t copy, uint32_t psn, uint32_t rkey)
{
	uint8_t frame[DART_ROCE_FRAME_MAX], value[20] = { 0 };
	struct dart_store_place place;

	assert_non_null(dart_report_builder__find(builder, "key", 3, &place));
	assert_true(dart_report_builder__report(builder, &place, copy, value, frame));
	assert_int_equal(number(frame, PSN_AT, 3), psn);
	assert_int_equal(number(frame, RKEY_AT, 4), rkey);
	assert_int_equal(number(frame, BASE_AT, 4), rkey);
}

static void test_replace(void **state)
{
	struct dart_collector list[2] = { make(17, 5, 1), make(17, 6, 1) }, other;
	struct dart_collectors first = { .count = 1, .list = list };
	struct dart_collectors second = { .count = 1, .list = list + 1 };
	struct dart_collectors foreign = { .count = 1, .list = &other };
	const uint8_t mac[ETH_ALEN] = { 2 };
	struct dart_report_builder *builder;

	assert_int_equal(dart_report_builder__new(&first, mac, 1, &builder), 0);
	expect(builder, 0, 100, 5);
	expect(builder, 1, 101, 5);
	/* A rotation: the queue pair stays, and its PSN goes on. */
	list[1].geometry.redundancy = 8;
	assert_int_equal(dart_report_builder__replace(builder, &second), 0);
	expect(builder, 7, 102, 6);
	/* A restart: a queue pair of the same number, in another epoch. */
	list[0] = make(17, 7, 2);
	assert_int_equal(dart_report_builder__replace(builder, &first), 0);
	expect(builder, 0, 100, 7);

	other = make(17, 8, 2);
	other.geometry.slots = 32;
	assert_int_equal(dart_report_builder__replace(builder, &foreign), -EINVAL);
	other = make(17, 8, 2);
	other.redundancy_max = 4;
	assert_int_equal(dart_report_builder__replace(builder, &foreign), -EINVAL);
	other = make(17, 8, 2);
	foreign.count = 2;
	assert_int_equal(dart_report_builder__replace(builder, &foreign), -EINVAL);
	/* Shares may move. */
	first.shares[3] = DART_COLLECTOR_NONE;
	assert_int_equal(dart_report_builder__replace(builder, &first), 0);
	expect(builder, 0, 101, 7);
	dart_report_builder__free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("PSNs go on at a rotation and begin again after a restart, and other stores are refused",
		     test_replace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

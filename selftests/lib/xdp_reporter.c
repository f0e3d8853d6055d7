// SPDX-License-Identifier: GPL-2.0-only
/* The XDP reporter on a dummy interface, run on single frames. */
#include "xdp_reporter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <endian.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <net/if.h>

#include <libdart/report/roce_frame.h>

#include "command.h"
#include "test.h"

#define INTERFACE	"reporter0"
#define PINS		"/sys/fs/bpf/dart/reporter/" INTERFACE
#define SOURCE		"10.78.0.1"
#define COLLECTORS	XDP_REPORTER_COLLECTORS
#define FIRST_PSN	0xfffffe	/* wraps at once */

const uint8_t xdp_reporter__mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x78 };

/* Collectors differ in all fields that may differ. */
static void make_collector(struct dart_collector *collector, uint32_t i, uint32_t checksum_bits)
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
		.is_reliable = i % 3 == 2,
	};
	snprintf(collector->name, sizeof(collector->name), "store%u", i);
}

static void write_file(struct xdp_reporter *reporter, const char *path, uint32_t assigned)
{
	json_t *list = json_array(), *json;
	uint32_t i, part = assigned / COLLECTORS, share;
	char shares[32];

	for (share = 0; share < DART_STORE_SHARES; share++)
		reporter->shares[share] = share < assigned ? share / part : DART_COLLECTOR_NONE;
	for (i = 0; i < COLLECTORS; i++) {
		json = dart_collector__to_json(&reporter->collectors[i]);
		snprintf(shares, sizeof(shares), "%u-%u", i * part, (i + 1) * part - 1);
		json_object_set_new(json, "shares", json_string(shares));
		json_array_append_new(list, json);
	}
	json = json_pack("{s:i, s:o}", "dart_collectors", 1, "collectors", list);
	assert_int_equal(json_dump_file(json, path, 0), 0);
	json_decref(json);
}

/* Opens the program that was attached. */
static void open_program(struct xdp_reporter *reporter)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_query_opts, query);

	assert_int_equal(bpf_xdp_query(if_nametoindex(INTERFACE), 0, &query), 0);
	reporter->program = bpf_prog_get_fd_by_id(query.prog_id ?: query.skb_prog_id);
	reporter->counters = bpf_obj_get(PINS "/counters");
	reporter->flush = bpf_obj_get(PINS "/flush");
	assert_true(reporter->program >= 0 && reporter->counters >= 0);
}

struct xdp_reporter *xdp_reporter__attach_journal(struct dart_journal_target *target)
{
	struct xdp_reporter *reporter = calloc(1, sizeof(*reporter));
	json_t *json;

	assert_non_null(reporter);
	make_collector(&target->collector, 5, 32);
	target->collector.is_reliable = false; /* journals are over UC only */
	json = json_pack("{s:i, s:[o]}", "dart_journals", 1, "journals",
			 dart_journal_target__to_json(target));
	assert_int_equal(json_dump_file(json, "/tmp/journals.json", 0), 0);
	json_decref(json);
	run("dartctl xdp attach " INTERFACE " --journal /tmp/journals.json >&2");
	open_program(reporter);
	assert_true(reporter->flush >= 0);
	return reporter;
}

static struct xdp_reporter *attach(uint32_t checksum_bits, uint32_t assigned, const char *options)
{
	const struct dart_store_geometry geometry = {
		.slots = 1ULL << 32,
		.value_length = 20,
		.checksum_bits = checksum_bits,
		.redundancy = DART_STORE_REDUNDANCY_MAX,
	};
	struct xdp_reporter *reporter = calloc(1, sizeof(*reporter));
	char command[256];
	uint32_t i;

	assert_non_null(reporter);
	for (i = 0; i < COLLECTORS; i++)
		make_collector(&reporter->collectors[i], i, checksum_bits);
	assert_int_equal(dart_store_hash__new(&geometry, &reporter->hash), 0);
	write_file(reporter, "/tmp/collectors.json", assigned);
	snprintf(command, sizeof(command),
		 "dartctl xdp attach " INTERFACE " --collectors /tmp/collectors.json %s >&2",
		 options);
	run(command);
	open_program(reporter);
	return reporter;
}

struct xdp_reporter *xdp_reporter__attach(uint32_t checksum_bits, uint32_t assigned)
{
	return attach(checksum_bits, assigned, "--report-port 5001");
}

struct xdp_reporter *xdp_reporter__attach_translator(const char *options)
{
	char all[128];

	snprintf(all, sizeof(all), "--postcards 5001 %s", options);
	return attach(32, DART_STORE_SHARES, all);
}

int xdp_reporter__detach(void **state)
{
	struct xdp_reporter *reporter = *state;

	if (!reporter)
		return 0;
	close(reporter->program);
	close(reporter->counters);
	if (reporter->flush >= 0)
		close(reporter->flush);
	dart_store_hash__free(reporter->hash);
	free(reporter);
	*state = NULL;
	run("dartctl xdp detach " INTERFACE);
	return 0;
}

int xdp_reporter__setup(void **state)
{
	run("ip link add " INTERFACE " address 02:00:00:00:00:78 type dummy && "
	    "ip address add " SOURCE "/24 dev " INTERFACE " && "
	    "ip link set " INTERFACE " up");
	return 0;
}

int xdp_reporter__teardown(void **state)
{
	run("ip link delete " INTERFACE);
	return 0;
}

uint32_t xdp_reporter__run(struct xdp_reporter *reporter, uint8_t frame[INT_FRAME_MAX],
			   size_t *length, bool is_from_interface)
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
	assert_int_equal(bpf_prog_test_run_opts(reporter->program, &options), 0);
	*length = options.data_size_out;
	return options.retval;
}

uint32_t xdp_reporter__flush(struct xdp_reporter *reporter, uint32_t number,
			     uint8_t frame[INT_FRAME_MAX], size_t *length)
{
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = *length,
			    .data_out = frame, .data_size_out = INT_FRAME_MAX, .repeat = 1);

	memset(frame, 0, *length);
	memcpy(frame, &number, sizeof(number));
	assert_int_equal(bpf_prog_test_run_opts(reporter->flush, &options), 0);
	*length = options.data_size_out;
	return options.retval;
}

uint64_t xdp_reporter__count(struct xdp_reporter *reporter, enum xdp_reporter_counter counter)
{
	/* Rows are whole cache lines. */
	uint64_t row[(XDP_REPORTER_COUNTERS + 7) / 8 * 8], sum = 0;
	uint32_t cpu;

	for (cpu = 0; !bpf_map_lookup_elem(reporter->counters, &cpu, row); cpu++)
		sum += row[counter];
	return sum;
}

/*
 * Makes a report over a reliable connection one that asks for nothing, and returns its PSN.  Nobody
 * answers here, so reports may have PSNs of before.
 */
static uint32_t ask_nothing(uint8_t *frame, size_t length)
{
	struct dart_roce_headers headers;
	__le32 icrc = dart_roce_frame__icrc(frame, length);

	assert_memory_equal(frame + length - sizeof(icrc), &icrc, sizeof(icrc));
	memcpy(&headers, frame, sizeof(headers));
	headers.bth.psn &= htobe32(DART_ROCE_PSN_MASK);
	memcpy(frame, &headers, sizeof(headers));
	icrc = dart_roce_frame__icrc(frame, length);
	memcpy(frame + length - sizeof(icrc), &icrc, sizeof(icrc));
	return be32toh(headers.bth.psn);
}

uint32_t xdp_reporter__expect(struct xdp_reporter *reporter, const uint8_t *frame, size_t length,
			      const uint8_t *key, size_t key_length, const void *value)
{
	uint8_t expected[DART_ROCE_FRAME_MAX], report[DART_ROCE_FRAME_MAX];
	const struct dart_collector *collector;
	struct dart_store_place place;
	uint32_t number, copy, psn;

	dart_store_hash__place(reporter->hash, key, key_length, &place);
	number = reporter->shares[place.share];
	assert_int_not_equal(number, DART_COLLECTOR_NONE);
	collector = &reporter->collectors[number];
	assert_in_range(length, sizeof(struct dart_roce_headers), sizeof(report));
	memcpy(report, frame, length);
	psn = FIRST_PSN + reporter->sent[number];
	if (collector->is_reliable)
		psn = ask_nothing(report, length);

	for (copy = 0; copy < collector->geometry.redundancy; copy++)
		if (dart_roce_frame__build(collector, xdp_reporter__mac, &place, copy, value, psn,
					   expected) == length &&
		    !memcmp(report, expected, length))
			break;
	if (copy == collector->geometry.redundancy)
		assert_memory_equal(report, expected, length);
	reporter->sent[number]++;
	return copy;
}

void xdp_reporter__expect_passed(struct xdp_reporter *reporter, const uint8_t *frame, size_t length,
				 enum xdp_reporter_counter counter, const char *what)
{
	uint8_t passed[INT_FRAME_MAX];
	uint64_t before = xdp_reporter__count(reporter, counter);
	size_t passed_length = length;

	memcpy(passed, frame, length);
	if (xdp_reporter__run(reporter, passed, &passed_length, true) != XDP_PASS ||
	    passed_length != length || memcmp(passed, frame, length))
		fail_msg("%s: not passed unchanged", what);
	if (xdp_reporter__count(reporter, counter) != before + 1)
		fail_msg("%s: not counted", what);
}

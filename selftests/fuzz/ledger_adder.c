// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers to an adder: bytes are orders to add, to send, to let time pass, and to take frames, which
 * are the bytes that follow or an answer with any syndrome and PSN.  The adder never claims more
 * than it was told, and has no more requests on their way than the collector can answer again.
 */
#include <arpa/inet.h>

#include <libdart/report/ledger_adder.h>

#include "fuzz.h"

#define ROWS 2
#define AT_TRANSPORT 42 /* the BTH in a frame */
#define ANSWER 70 /* bytes of an answer's frame */
#define NS_PER_MS UINT64_C(1000000)
#define FIRST_PSN 0xfffffa /* soon 0 */

static const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 2 };

static struct dart_ledger_target target = {
	.collector = {
		.name = "flows",
		.reporter.s_addr = 0x0200000a,
		.ip.s_addr = 0x0100000a,
		.qpn = 17,
		.rkey = 4660,
		.base = UINT64_C(1) << 40,
		.first_psn = FIRST_PSN,
	},
	.geometry = { .rows = ROWS, .words_log2 = 4 },
};

/* The bytes that are left. */
struct orders {
	const uint8_t *bytes;
	size_t left;
};

static uint8_t take(struct orders *orders)
{
	if (!orders->left)
		return 0;
	orders->left--;
	return *orders->bytes++;
}

struct run {
	struct dart_ledger_adder *adder;
	uint64_t now;
	uint64_t added; /* sum of all amounts */
	uint64_t sent; /* requests, each counted once */
};

static void add(struct run *run, struct orders *orders)
{
	const uint8_t key[] = { take(orders) % 32, 1 };
	const uint8_t amount = take(orders);

	if (!dart_ledger_adder__add(run->adder, key, sizeof(key), amount, run->now))
		run->added += amount;
}

static void send_all(struct run *run)
{
	const struct dart_ledger_adder_counts *counts = dart_ledger_adder__counts(run->adder);
	uint8_t frame[DART_LEDGER_FRAME];
	uint64_t repeats = counts->repeats;

	while (dart_ledger_adder__next(run->adder, run->now, frame)) {
		run->sent += counts->repeats == repeats;
		repeats = counts->repeats;
		/* Another queue pair gets requests again that one refused. */
		if (counts->renewals || counts->refusals)
			continue;
		require(run->sent <= counts->requests);
		require(run->sent - counts->executed <= DART_LEDGER_OUTSTANDING);
	}
}

/* A frame that is an answer but for its syndrome and its PSN. */
static void answer(struct run *run, struct orders *orders)
{
	const uint8_t syndrome = take(orders);
	const struct dart_roce_transport transport = {
		.opcode = syndrome >> 5 ? DART_LEDGER_BTH_ACKNOWLEDGE : DART_LEDGER_BTH_ANSWER,
		.psn = (FIRST_PSN + (int8_t)take(orders)) & DART_ROCE_PSN_MASK,
	};
	const size_t length = syndrome >> 5 ? ANSWER - 8 : ANSWER;
	struct dart_collector back = target.collector;
	uint8_t frame[ANSWER] = {};

	back.ip = target.collector.reporter;
	back.reporter = target.collector.ip;
	frame[AT_TRANSPORT + 12] = syndrome;
	dart_roce_frame__wrap(&back, mac, 0xd000, &transport, length, frame);
	dart_ledger_adder__take(run->adder, frame, length, run->now);
}

static void take_bytes(struct run *run, struct orders *orders)
{
	size_t length = take(orders);
	uint8_t *frame;

	if (length > orders->left)
		length = orders->left;
	frame = exact_copy(orders->bytes, length);
	dart_ledger_adder__take(run->adder, frame, length, run->now);
	free(frame);
	orders->bytes += length;
	orders->left -= length;
}

static void renew(struct run *run)
{
	struct dart_ledger_target other = target;

	other.collector.epoch = dart_ledger_adder__target(run->adder)->collector.epoch + 1;
	require(!dart_ledger_adder__renew(run->adder, &other));
}

static void obey(struct run *run, struct orders *orders)
{
	switch (take(orders) % 8) {
	case 0:
	case 1:
		add(run, orders);
		break;
	case 2:
		dart_ledger_adder__flush(run->adder, take(orders) & 1, run->now);
		break;
	case 3:
		send_all(run);
		break;
	case 4:
	case 5:
		answer(run, orders);
		break;
	case 6:
		take_bytes(run, orders);
		break;
	case 7:
		run->now += take(orders) * 10 * NS_PER_MS;
		if (!(run->now % 7))
			renew(run);
		break;
	}
}

static void check(const struct run *run)
{
	const struct dart_ledger_adder_counts *counts = dart_ledger_adder__counts(run->adder);
	int row;

	require(counts->executed <= counts->requests);
	for (row = 0; row <= ROWS; row++)
		require(counts->lost[row] <= run->added);
	if (!counts->executed)
		for (row = 0; row <= ROWS; row++)
			require(counts->lost[row] == run->added);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct orders orders = { data, size };
	struct run run = {};

	require(!dart_ledger_adder__new(&target, mac, 8, &run.adder));
	while (orders.left)
		obey(&run, &orders);
	dart_ledger_adder__give_up(run.adder);
	check(&run);
	dart_ledger_adder__free(run.adder);
	return 0;
}

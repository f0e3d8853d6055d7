// SPDX-License-Identifier: GPL-2.0-only
/*
 * An adder and a collector in memory, which serves requests as IBTA volume 1, section 9.4.5 says,
 * with a network between both that loses, repeats and delays frames: the words of the collector end
 * with what was added, exactly.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include <libdart/report/ledger_adder.h>

#include "selftests/unit/unit.h"

#define MS UINT64_C(1000000)
#define ROWS 2
#define WORDS 16
#define LENGTH (8 * (ROWS * WORDS + 1))
#define KEYS 200
#define AT_TRANSPORT 42 /* the BTH in a frame */
#define FLIGHT_MAX 256 /* frames on their way */
#define ANSWER 70 /* bytes of an answer's frame */

static const uint8_t mac[] = { 2, 0, 0, 0, 0, 2 };

/* ---- the collector */

struct collector {
	struct dart_ledger_target target;
	uint64_t words[ROWS * WORDS + 1];
	uint32_t expected; /* PSN */
	uint32_t saved; /* requests that it can answer again */
	bool has_refused, is_in_error;
	bool is_rkey_bad;
	uint64_t executed, repeated;
};

/* A frame on its way. */
struct frame {
	uint64_t due;
	bool is_answer;
	size_t length;
	uint8_t bytes[DART_LEDGER_FRAME];
};

struct network {
	struct collector collector;
	struct dart_ledger_adder *adder;
	struct dart_random random;
	uint32_t lost, twice, late; /* frames of 1000 */
	uint64_t now;
	struct frame flight[FLIGHT_MAX];
	size_t count;
};

static uint64_t read_64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return be64toh(value);
}

static uint32_t read_32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return be32toh(value);
}

static void launch(struct network *network, bool is_answer, const uint8_t *bytes, size_t length)
{
	const uint32_t fate = dart_random__below(&network->random, 1000);
	uint64_t delay = MS;
	uint32_t copies = 1;

	if (fate < network->lost)
		return;
	if (fate < network->lost + network->twice)
		copies = 2;
	else if (fate < network->lost + network->twice + network->late)
		delay += 7 * MS;
	for (; copies && network->count < FLIGHT_MAX; copies--, delay += MS) {
		struct frame *frame = &network->flight[network->count++];

		*frame = (struct frame){ network->now + delay, is_answer, length, {} };
		memcpy(frame->bytes, bytes, length);
	}
}

/* Sends the frame of an answer, made of a request that goes back. */
static void answer(struct network *network, const uint8_t *request, uint8_t syndrome, uint32_t psn)
{
	const struct dart_collector *to = &network->collector.target.collector;
	struct dart_collector back = *to;
	const struct dart_roce_transport transport = {
		.opcode = syndrome >> 5 ? DART_LEDGER_BTH_ACKNOWLEDGE : DART_LEDGER_BTH_ANSWER,
		.psn = psn,
	};
	uint8_t frame[ANSWER] = {};
	const size_t length = syndrome >> 5 ? ANSWER - 8 : ANSWER;

	back.ip = to->reporter;
	back.reporter = to->ip;
	back.qpn = read_32(request + AT_TRANSPORT + 4) & DART_ROCE_PSN_MASK;
	frame[AT_TRANSPORT + 12] = syndrome;
	dart_roce_frame__wrap(&back, mac, 0xd000, &transport, length, frame);
	launch(network, true, frame, length);
}

static void execute(struct collector *collector, const uint8_t *atomic)
{
	const uint64_t offset = read_64(atomic) - collector->target.collector.base;

	assert_int_equal(offset % 8, 0);
	assert_true(offset < LENGTH);
	collector->words[offset / 8] += read_64(atomic + 12);
	collector->executed++;
	collector->expected = (collector->expected + 1) & DART_ROCE_PSN_MASK;
	collector->has_refused = false;
	if (collector->saved < DART_LEDGER_OUTSTANDING)
		collector->saved++;
}

static void serve(struct network *network, const uint8_t *frame)
{
	struct collector *collector = &network->collector;
	const uint8_t *transport = frame + AT_TRANSPORT;
	const uint32_t psn = read_32(transport + 8) & DART_ROCE_PSN_MASK;
	const uint32_t ahead = (psn - collector->expected) & DART_ROCE_PSN_MASK;
	const uint32_t behind = (collector->expected - psn) & DART_ROCE_PSN_MASK;

	assert_int_equal(transport[0], DART_LEDGER_BTH_OPCODE);
	if (collector->is_in_error ||
	    (read_32(transport + 4) & DART_ROCE_PSN_MASK) != collector->target.collector.qpn)
		return;
	if (!ahead && collector->is_rkey_bad) {
		collector->is_in_error = true;
		answer(network, frame, 0x62, psn);
	} else if (!ahead) {
		assert_int_equal(read_32(transport + 20), collector->target.collector.rkey);
		execute(collector, transport + 12);
		answer(network, frame, 0, psn);
	} else if (ahead < 1u << 23) {
		assert_true(ahead < DART_LEDGER_OUTSTANDING);
		if (!collector->has_refused)
			answer(network, frame, 0x60, collector->expected);
		collector->has_refused = true;
	} else if (behind <= collector->saved) {
		collector->repeated++;
		answer(network, frame, 0, psn);
	}
}

/* ---- the network */

/* Lets a step of time pass: delivers the frames that are due, and sends what may be sent. */
static void pass(struct network *network, uint64_t step)
{
	uint8_t frame[DART_LEDGER_FRAME];
	struct frame due;
	size_t i;

	network->now += step;
	for (i = 0; i < network->count;) {
		if (network->flight[i].due > network->now) {
			i++;
			continue;
		}
		due = network->flight[i];
		memmove(&network->flight[i], &network->flight[i + 1],
			(--network->count - i) * sizeof(due));
		if (due.is_answer)
			dart_ledger_adder__take(network->adder, due.bytes, due.length,
						network->now);
		else
			serve(network, due.bytes);
	}
	while (dart_ledger_adder__next(network->adder, network->now, frame))
		launch(network, false, frame, sizeof(frame));
}

static void begin(struct network *network, uint32_t rows, uint64_t seed)
{
	struct dart_ledger_target *target = &network->collector.target;

	*network = (struct network){ .random = dart_random__of(seed), .now = 1 };
	*target = (struct dart_ledger_target){
		.collector = {
			.name = "flows",
			.reporter.s_addr = inet_addr("10.0.0.2"),
			.ip.s_addr = inet_addr("10.0.0.1"),
			.qpn = 17,
			.rkey = 0x1234,
			.base = 0x10000,
			.epoch = 1,
			/* It wraps. */
			.first_psn = DART_ROCE_PSN_MASK - 1000,
		},
		.geometry = { ROWS, 4 },
	};
	network->collector.expected = target->collector.first_psn;
	assert_int_equal(dart_ledger_adder__new(target, mac, rows, &network->adder), 0);
}

static void end(struct network *network)
{
	dart_ledger_adder__free(network->adder);
}

/* Adds to @keys keys in turn, @amounts times; true sums are added to @sums. */
static void add(struct network *network, uint32_t amounts, uint64_t sums[KEYS])
{
	uint32_t i, key;

	for (i = 0; i < amounts; i++) {
		key = dart_random__below(&network->random, KEYS);
		while (dart_ledger_adder__add(network->adder, &key, sizeof(key), key + 1,
					      network->now))
			pass(network, MS / 10);
		sums[key] += key + 1;
		if (i % 8 == 0)
			pass(network, MS / 100);
	}
}

static void finish(struct network *network)
{
	uint32_t i;

	while (!dart_ledger_adder__flush(network->adder, true, network->now))
		pass(network, MS);
	for (i = 0; i < 100000 && !dart_ledger_adder__is_idle(network->adder); i++)
		pass(network, MS);
	assert_true(dart_ledger_adder__is_idle(network->adder));
	/* What the network still delays changes nothing. */
	for (i = 0; i < 20; i++)
		pass(network, MS);
}

/* The words of @sums, without a cache or requests. */
static void expect(const struct dart_ledger_geometry *geometry, const uint64_t sums[KEYS],
		   uint64_t words[ROWS * WORDS + 1])
{
	struct dart_store_place place;
	struct dart_store_hash *hash;
	uint32_t key, row;

	memset(words, 0, LENGTH);
	assert_int_equal(dart_ledger_geometry__hash(geometry, &hash), 0);
	for (key = 0; key < KEYS; key++) {
		dart_store_hash__place(hash, &key, sizeof(key), &place);
		for (row = 0; row < ROWS; row++)
			words[row * WORDS + place.slots[row]] += sums[key];
		words[ROWS * WORDS] += sums[key];
	}
	dart_store_hash__free(hash);
}

static void check_exact(struct network *network, const uint64_t sums[KEYS])
{
	const struct dart_ledger_adder_counts *counts = dart_ledger_adder__counts(network->adder);
	uint64_t words[ROWS * WORDS + 1];

	expect(&network->collector.target.geometry, sums, words);
	assert_memory_equal(network->collector.words, words, LENGTH);
	assert_int_equal(counts->requests, network->collector.executed);
	assert_int_equal(counts->lost[0] + counts->lost[1] + counts->lost[2], 0);
}

/* ---- tests */

static void test_quiet(void **state)
{
	uint64_t sums[KEYS] = {};
	struct network network;

	begin(&network, 1, 1);
	add(&network, 3000, sums);
	finish(&network);
	check_exact(&network, sums);
	assert_int_equal(dart_ledger_adder__counts(network.adder)->amounts, 3000);
	assert_int_equal(dart_ledger_adder__counts(network.adder)->repeats, 0);
	end(&network);
}

static void test_cache(void **state)
{
	uint64_t sums[KEYS] = {};
	struct network network;

	begin(&network, 1024, 2);
	add(&network, 3000, sums);
	finish(&network);
	check_exact(&network, sums);
	/* Few keys share a row. */
	assert_true(dart_ledger_adder__counts(network.adder)->requests < 3000);
	end(&network);
}

static void test_faults(void **state)
{
	uint32_t seed;

	for (seed = 0; seed < 30; seed++) {
		uint64_t sums[KEYS] = {};
		struct network network;

		begin(&network, seed % 2 ? 1 : 64, seed);
		network.lost = 20 * (seed % 4);
		network.twice = 30 * (seed / 4 % 3);
		network.late = 40 * (seed / 2 % 3);
		add(&network, 2000, sums);
		finish(&network);
		check_exact(&network, sums);
		if (network.lost)
			assert_true(dart_ledger_adder__counts(network.adder)->repeats > 0);
		if (network.twice)
			assert_true(network.collector.repeated > 0);
		end(&network);
	}
}

/*
 * An earlier run of @used requests used the queue pair.  No amount is lost in silence: all arrive, or
 * no request has an answer.
 */
static void run_again(uint32_t used)
{
	uint64_t sums[KEYS] = {}, words[ROWS * WORDS + 1];
	const uint64_t none[ROWS * WORDS + 1] = {};
	struct network network;
	uint32_t i;

	begin(&network, 64, used);
	network.collector.expected = (network.collector.expected + used) & DART_ROCE_PSN_MASK;
	network.collector.saved = used < DART_LEDGER_OUTSTANDING ? used : DART_LEDGER_OUTSTANDING;
	for (i = 0; i < 5; i++) {
		assert_int_equal(dart_ledger_adder__add(network.adder, &i, sizeof(i), 7, 1), 0);
		sums[i] += 7;
	}
	dart_ledger_adder__flush(network.adder, true, network.now);
	for (i = 0; i < 3000; i++)
		pass(&network, MS);
	expect(&network.collector.target.geometry, sums, words);
	if (used < DART_LEDGER_PRECEDING) {
		assert_true(dart_ledger_adder__is_idle(network.adder));
		assert_memory_equal(network.collector.words, words, LENGTH);
	} else {
		assert_int_equal(dart_ledger_adder__counts(network.adder)->executed, 0);
		assert_memory_equal(network.collector.words, none, LENGTH);
		dart_ledger_adder__give_up(network.adder);
		assert_int_equal(dart_ledger_adder__counts(network.adder)->lost[ROWS], 5 * 7);
	}
	end(&network);
}

static void test_again(void **state)
{
	uint32_t used;

	for (used = 0; used <= 3 * DART_LEDGER_PRECEDING; used++)
		run_again(used);
}

static void test_time(void **state)
{
	uint64_t sums[KEYS] = {}, before;
	struct network network;
	uint32_t i;

	begin(&network, 64, 3);
	add(&network, 1, sums);
	before = network.now;
	for (i = 0; !network.collector.words[ROWS * WORDS] && i < 3000; i++) {
		dart_ledger_adder__flush(network.adder, false, network.now);
		pass(&network, MS);
	}
	assert_true(network.now - before >= DART_LEDGER_FLUSH_MS * MS);
	assert_true(network.now - before < DART_LEDGER_FLUSH_MS * MS + 20 * MS);
	check_exact(&network, sums);
	end(&network);
}

/* Nothing answers for a minute: the adder asks less and less often, and then all is there. */
static void test_silence(void **state)
{
	uint64_t sums[KEYS] = {};
	struct network network;
	uint64_t asked;
	uint32_t i;

	begin(&network, 1, 4);
	network.lost = 1000;
	for (i = 0; i < 60000; i++) {
		uint32_t key = i % KEYS;

		if (!dart_ledger_adder__add(network.adder, &key, sizeof(key), 1, network.now))
			sums[key]++;
		pass(&network, MS);
	}
	asked = dart_ledger_adder__counts(network.adder)->repeats;
	assert_true(asked > 50 * DART_LEDGER_OUTSTANDING && asked < 70 * DART_LEDGER_OUTSTANDING);
	assert_true(dart_ledger_adder__due(network.adder) > network.now);
	network.lost = 0;
	finish(&network);
	check_exact(&network, sums);
	end(&network);
}

/* The agent makes another queue pair while requests are on their way. */
static void replace(struct network *network)
{
	struct dart_collector *collector = &network->collector.target.collector;

	collector->qpn++;
	collector->epoch++;
	collector->rkey += 0x100;
	collector->first_psn = dart_random__below(&network->random, DART_ROCE_PSN_MASK);
	network->collector.expected = collector->first_psn;
	network->collector.saved = 0;
	network->collector.has_refused = false;
	network->collector.is_in_error = false;
	network->collector.is_rkey_bad = false;
	assert_int_equal(dart_ledger_adder__renew(network->adder, &network->collector.target), 0);
}

static void test_restarts(void **state)
{
	const struct dart_ledger_adder_counts *counts;
	uint64_t sums[KEYS] = {}, words[ROWS * WORDS + 1];
	struct network network;
	uint64_t missing[ROWS + 1] = {};
	uint32_t i;

	begin(&network, 1, 5);
	network.lost = 20;
	for (i = 0; i < 10; i++) {
		add(&network, 500, sums);
		replace(&network);
	}
	finish(&network);
	counts = dart_ledger_adder__counts(network.adder);
	assert_int_equal(counts->renewals, 10);
	expect(&network.collector.target.geometry, sums, words);
	for (i = 0; i < ROWS * WORDS + 1; i++) {
		assert_true(network.collector.words[i] <= words[i]);
		missing[i / WORDS] += words[i] - network.collector.words[i];
	}
	for (i = 0; i <= ROWS; i++)
		assert_true(missing[i] <= counts->lost[i]);
	assert_true(counts->lost[0] > 0);
	/* At most the requests that had no answer. */
	assert_true(counts->lost[0] <= 10 * DART_LEDGER_OUTSTANDING * KEYS);
	end(&network);
}

/* A refusal tells which requests the collector executed, so no amount is lost. */
static void test_refusal(void **state)
{
	uint64_t sums[KEYS] = {};
	struct network network;
	uint32_t i;

	begin(&network, 1, 6);
	add(&network, 500, sums);
	network.collector.is_rkey_bad = true;
	for (i = 0; i < 1000 && !dart_ledger_adder__is_broken(network.adder); i++)
		pass(&network, MS);
	assert_true(dart_ledger_adder__is_broken(network.adder));
	assert_true(dart_ledger_adder__due(network.adder) == UINT64_MAX);
	replace(&network);
	add(&network, 500, sums);
	finish(&network);
	check_exact(&network, sums);
	assert_int_equal(dart_ledger_adder__counts(network.adder)->refusals, 1);
	end(&network);
}

static void test_giving_up(void **state)
{
	const struct dart_ledger_adder_counts *counts;
	uint64_t sums[KEYS] = {}, total = 0;
	struct network network;
	uint32_t key;

	begin(&network, 64, 7);
	network.lost = 1000;
	for (key = 0; key < KEYS; key++)
		if (!dart_ledger_adder__add(network.adder, &key, sizeof(key), 3, network.now))
			sums[key] += 3;
	pass(&network, MS);
	dart_ledger_adder__give_up(network.adder);
	for (key = 0; key < KEYS; key++)
		total += sums[key];
	counts = dart_ledger_adder__counts(network.adder);
	for (key = 0; key <= ROWS; key++)
		assert_int_equal(counts->lost[key], total);
	assert_true(dart_ledger_adder__is_idle(network.adder));
	end(&network);
}

static void test_other_ledger(void **state)
{
	struct dart_ledger_target other;
	struct network network;

	begin(&network, 1, 8);
	other = network.collector.target;
	assert_int_equal(dart_ledger_adder__renew(network.adder, &other), 0);
	assert_int_equal(dart_ledger_adder__counts(network.adder)->renewals, 0);
	other.geometry.words_log2++;
	assert_int_not_equal(dart_ledger_adder__renew(network.adder, &other), 0);
	assert_int_not_equal(dart_ledger_adder__new(&other, mac, 3, &network.adder), 0);
	end(&network);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("each amount is in its words, and in the total", test_quiet),
		TEST("a cache takes fewer requests", test_cache),
		TEST("a queue pair that an earlier run used swallows no amount", test_again),
		TEST("frames that get lost, come twice or late change nothing", test_faults),
		TEST("an amount is sent after a second", test_time),
		TEST("without answers the adder repeats its requests once a second", test_silence),
		TEST("another queue pair loses at most what counts as lost", test_restarts),
		TEST("after a refusal nothing is lost", test_refusal),
		TEST("an adder that gives up counts all that is missing", test_giving_up),
		TEST("an adder does not go on with another ledger", test_other_ledger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

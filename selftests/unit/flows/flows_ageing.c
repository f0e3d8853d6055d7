// SPDX-License-Identifier: GPL-2.0-only
/* Flows in the table age by the stamps of a switch, of which each has cells for few keys. */
#include <dart/tea.h>
#include <libdart/store/store_hash.h>

#include "tools/flows/packet/question.h"

#define ASK answer_question
#include "flows_nat_scene.h"

#define UNIT_NS ((1ULL << DART_TEA_USE_SHIFT) * 1000)
#define TIMEOUT 100ULL /* seconds, of UDP */
#define FLOWS 2000

/* The switch: <dart/tea_use.h>, from its text. */
static struct {
	uint32_t cells; /* of a register */
	uint64_t stamps[DART_TEA_USE_STAMPS][65536];
	bool is_dumb;
	uint64_t questions, flows;
	uint64_t most_late_ns; /* of the ends of flows that were used by use() */
} machine;

static const uint32_t polynomials[DART_TEA_USE_STAMPS] = { DART_TEA_ROW_0, DART_TEA_ROW_1 };

static void answer_question(void *subject, uint32_t number, struct flow *const *flows,
			    unsigned int count)
{
	static const uint8_t sender[6] = { 2, 0, 0, 0, 0, 9 };
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	uint64_t idle[DART_TEA_USE_KEYS], least[FUNCTION_QUESTION_FLOWS];
	struct question_frame frame;
	unsigned int i, stamp;
	uint32_t read, crc;
	uint8_t *bytes;

	machine.questions++;
	machine.flows += count;
	if (machine.is_dumb)
		return;
	question__begin(&frame, sender, number);
	for (i = 0; i < 2 * count; i++) {
		function__entry(scene.function, flows[i / 2], i % 2, key, value);
		question__put_key(&frame, i, key, FLOW_KEY_LENGTH);
	}
	assert_false(question__read_answer(&frame, sizeof(frame), &read, idle));
	frame.bytes[15] = DART_TEA_USE_ANSWER;
	for (i = 0; i < DART_TEA_USE_KEYS * DART_TEA_USE_STAMPS; i++) {
		bytes = frame.bytes + 22 + 4 * i;
		stamp = i % DART_TEA_USE_STAMPS;
		crc = (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
		put32(bytes, scene.now / UNIT_NS - machine.stamps[stamp][crc % machine.cells]);
	}
	assert_false(question__read_answer(&frame, sizeof(frame) - 1, &read, idle));
	assert_true(question__read_answer(&frame, sizeof(frame), &read, idle));
	assert_int_equal(read, number);
	for (i = 0; i < FUNCTION_QUESTION_FLOWS; i++)
		least[i] = idle[2 * i] < idle[2 * i + 1] ? idle[2 * i] : idle[2 * i + 1];
	function__answered(scene.function, number, least, scene.now);
	/* A second answer to the same question says nothing. */
	function__answered(scene.function, number, least, scene.now);
}

/* A packet of the flow leaves the switch, in one direction. */
static void use(const struct flow *flow, enum flow_direction direction)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	unsigned int stamp;
	uint32_t crc;

	function__entry(scene.function, flow, direction, key, value);
	for (stamp = 0; stamp < DART_TEA_USE_STAMPS; stamp++) {
		crc = dart_store__crc(polynomials[stamp], key, FLOW_KEY_LENGTH);
		machine.stamps[stamp][crc % machine.cells] = scene.now / UNIT_NS;
	}
}

static struct end host(unsigned int i)
{
	return at(INSIDE + i / 100, 4000 + i % 100);
}

static struct flow *flow_of(unsigned int i)
{
	const struct end inside = host(i), remote = at(REMOTE, 53);

	return function__find(scene.function, IPPROTO_UDP, &inside, &remote);
}

static void begin(unsigned int flows, uint32_t cells)
{
	unsigned int i;

	memset(&machine, 0, sizeof(machine));
	machine.cells = cells;
	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\nlimits: {flows: 1000}\n");
	scene.now = 1000 * SECOND;
	for (i = 0; i < flows; i++)
		out(IPPROTO_UDP, host(i), at(REMOTE, 53));
	settle();
}

/* Whatever is due now is done; the table makes all changes. */
static void work(void)
{
	bool has_more;

	do {
		has_more = function__tick(scene.function, scene.now, true);
		settle();
		scene.now += has_more ? SECOND / 100 : 0;
	} while (has_more);
}

static void pass(unsigned int seconds)
{
	while (seconds--) {
		scene.now += SECOND;
		work();
	}
}

static void test_idle_flow_ends(void **state)
{
	begin(1, 65536);
	pass(TIMEOUT - 1);
	assert_int_equal(machine.questions, 0);
	pass(10);
	assert_int_equal(scene.ended, 1);
	/* Nobody removed its entries only to ask. */
	assert_int_equal(function__counts(scene.function)->removed, 0);
	close_scene();
}

/* The table has not removed its entries yet when a packet comes. */
static void test_packet_at_the_end(void **state)
{
	const struct end remote = at(REMOTE, 53);
	struct end outside, inside;

	begin(2, 65536);
	outside = out(IPPROTO_UDP, host(0), remote);
	scene.now += (TIMEOUT + 1) * SECOND;
	function__tick(scene.function, scene.now, true);
	assert_int_equal(flow_of(0)->state, FLOW_ENDING);
	assert_int_equal(flow_of(1)->state, FLOW_ENDING);
	assert_int_equal(try_back(IPPROTO_UDP, remote, outside, &inside), NAT_TRANSLATED);
	assert_true(end__equal(&inside, &(struct end){ host(0).address, host(0).port }));
	assert_int_equal(out(IPPROTO_UDP, host(0), remote).port, outside.port);
	settle();
	assert_int_equal(flow_of(0)->state, FLOW_ENTERED);
	assert_null(flow_of(1));
	assert_int_equal(scene.ended, 1);
	/* It ages again, and a user's end of it is one, even while it ends by itself. */
	scene.now += (TIMEOUT + 1) * SECOND;
	function__tick(scene.function, scene.now, true);
	assert_int_equal(flow_of(0)->state, FLOW_ENDING);
	function__end(scene.function, flow_of(0));
	assert_int_equal(try_out(IPPROTO_UDP, host(0), remote), NAT_ENDED);
	settle();
	assert_null(flow_of(0));
	assert_int_equal(scene.ended, 2);
	close_scene();
}

/* dartd goes away while entries of a flow are being removed. */
static void test_packet_without_a_table(void **state)
{
	const struct end remote = at(REMOTE, 53);
	struct end outside;

	begin(1, 65536);
	outside = out(IPPROTO_UDP, host(0), remote);
	scene.now += (TIMEOUT + 1) * SECOND;
	function__tick(scene.function, scene.now, true);
	assert_int_equal(flow_of(0)->state, FLOW_ENDING);
	lose_table();
	assert_int_equal(out(IPPROTO_UDP, host(0), remote).port, outside.port);
	scene.changes = 0;
	scene.is_away = false;
	function__compare(scene.function);
	settle();
	assert_int_equal(flow_of(0)->state, FLOW_ENTERED);
	assert_int_equal(scene.ended, 0);
	close_scene();
}

/* Flows that begin while dartd is away are in no table, and age by their packets. */
static void test_ageing_without_a_table(void **state)
{
	struct nat_counts counts;

	begin(1, 65536);
	lose_table();
	out(IPPROTO_UDP, host(1), at(REMOTE, 53));
	out(IPPROTO_UDP, host(2), at(REMOTE, 53));
	assert_int_equal(scene.changes, 0);
	scene.now += (TIMEOUT - 1) * SECOND;
	out(IPPROTO_UDP, host(2), at(REMOTE, 53));
	scene.now += SECOND;
	function__tick(scene.function, scene.now, false);
	/* The switch may still have the entries of the first one. */
	assert_int_equal(flow_of(0)->state, FLOW_ENTERED);
	assert_null(flow_of(1));
	assert_int_equal(flow_of(2)->state, FLOW_KEPT);
	nat__count(scene.function, &counts);
	assert_int_equal(counts.ports[POLICY_UDP], 2);
	scene.is_away = false;
	function__compare(scene.function);
	assert_int_equal(flow_of(2)->state, FLOW_ENTERING);
	settle();
	assert_int_equal(flow_of(2)->state, FLOW_ENTERED);
	pass(TIMEOUT + 10);
	assert_int_equal(function__counts(scene.function)->flows, 0);
	assert_int_equal(scene.ended, 3);
	close_scene();
}

static void test_used_flow_stays(void **state)
{
	const struct function_counts *counts;
	unsigned int i;

	begin(2, 65536);
	counts = function__counts(scene.function);
	/* Each flow is used in one direction, once in almost a time-out. */
	for (i = 0; i < 7; i++) {
		pass(TIMEOUT - 2);
		use(flow_of(0), FLOW_OUT);
		use(flow_of(1), FLOW_BACK);
	}
	assert_int_equal(scene.ended, 0);
	assert_int_equal(counts->removed, 0);
	/* Once in a time-out, or twice. */
	assert_in_range(counts->in_use, 12, 28);
	pass(TIMEOUT - 1);
	assert_int_equal(scene.ended, 0);
	pass(11);
	assert_int_equal(scene.ended, 2);
	assert_int_equal(counts->idle, 2);
	close_scene();
}

/*
 * Flows are used at random: no flow ends early.  Returns how many idle flows end late, because
 * flows in use have both cells of one of their keys.
 */
static unsigned int use_at_random(uint32_t cells)
{
	static uint64_t last[FLOWS];
	unsigned int i, second, late = 0;
	bool is_late[FLOWS] = {};
	uint64_t random = 7;

	begin(FLOWS, cells);
	for (i = 0; i < FLOWS; i++)
		last[i] = scene.now;
	for (second = 0; second < 1000; second++) {
		scene.now += SECOND;
		for (i = 0; i < FLOWS; i++) {
			struct flow *flow = flow_of(i);

			/* Every tenth flow is used always; each other flow only for a while. */
			if (!flow || (i % 10 && second > i % 600))
				continue;
			if (random__below(&random, TIMEOUT / 2))
				continue;
			last[i] = scene.now;
			if (flow->state == FLOW_ENTERED || flow->state == FLOW_ENTERING)
				use(flow, random__below(&random, 2));
			else
				out(IPPROTO_UDP, host(i), at(REMOTE, 53));
		}
		work();
		for (i = 0; i < FLOWS; i++) {
			const uint64_t idle = scene.now - last[i];

			if (!last[i])
				continue;
			if (flow_of(i)) {
				if (i % 10 && idle > (TIMEOUT + 10) * SECOND)
					is_late[i] = true;
				continue;
			}
			assert_true(idle >= TIMEOUT * SECOND);
			last[i] = 0;
		}
	}
	for (i = 0; i < FLOWS; i += 10)
		assert_true(!flow_of(i) == !last[i]);
	for (i = 0; i < FLOWS; i++)
		late += is_late[i];
	return late;
}

static void test_random_use(void **state)
{
	const struct function_counts *counts;

	/*
	 * Ports are random, and keys with them.  At most 4,000 keys have stamps that are young enough:
	 * both cells of a key are among these with 0.4 %, of one of two keys with 0.8 %.
	 */
	assert_in_range(use_at_random(65536), 0, FLOWS / 50);
	counts = function__counts(scene.function);
	assert_int_equal(counts->late, machine.questions);
	assert_int_equal(counts->unanswered, 0);
	close_scene();
	/* Many flows share each cell: they end later, but they end. */
	use_at_random(16);
	assert_true(function__counts(scene.function)->removed > 0);
	pass(20 * TIMEOUT);
	assert_int_equal(function__counts(scene.function)->flows, 0);
	close_scene();
}

/* One flow is in use, and all others have its cells. */
static void test_shared_cells(void **state)
{
	unsigned int i;

	begin(50, 1);
	for (i = 0; i < 10 * TIMEOUT; i++) {
		pass(1);
		if (flow_of(0)->state == FLOW_ENTERED)
			use(flow_of(0), FLOW_OUT);
		else
			out(IPPROTO_UDP, host(0), at(REMOTE, 53));
	}
	assert_int_equal(function__counts(scene.function)->flows, 1);
	assert_int_equal(scene.ended, 49);
	close_scene();
}

static void test_switch_without_answers(void **state)
{
	const struct function_counts *counts;
	unsigned int i;

	begin(FLOWS, 65536);
	counts = function__counts(scene.function);
	machine.is_dumb = true;
	pass(TIMEOUT + 10);
	/* Their entries were removed to ask, most of them without a question before. */
	assert_int_equal(counts->by_state[FLOW_ASKED], FLOWS);
	assert_in_range(counts->unanswered, 1, FLOWS * 3);
	assert_int_equal(scene.ended, 0);
	for (i = 0; i < 8; i++)
		out(IPPROTO_UDP, host(i), at(REMOTE, 53));
	settle();
	pass(TIMEOUT);
	assert_int_equal(scene.ended, FLOWS - 8);
	assert_true(counts->asked < 3 * FLOWS);
	/* It answers again. */
	machine.is_dumb = false;
	for (i = 0; i < 8; i++)
		out(IPPROTO_UDP, host(i), at(REMOTE, 53));
	settle();
	i = counts->removed;
	pass(TIMEOUT + 10);
	assert_int_equal(scene.ended, FLOWS);
	assert_true(counts->idle >= 8 && counts->removed == i);
	close_scene();
}

static void test_flow_ends_while_asked(void **state)
{
	begin(9, 65536);
	machine.is_dumb = true;
	scene.now += TIMEOUT * SECOND;
	function__tick(scene.function, scene.now, true);
	assert_int_equal(machine.flows, 9);
	function__end(scene.function, flow_of(3));
	function__end(scene.function, flow_of(8));
	settle();
	assert_int_equal(scene.ended, 2);
	machine.is_dumb = false;
	pass(5);
	assert_int_equal(scene.ended, 9);
	close_scene();
}

static void test_other_timeouts(void **state)
{
	begin(1, 65536);
	set_policy(read_policy("pools: [{addresses: 203.0.113.1}]\nlimits: {flows: 1000}\n"
			       "# shorter\n"));
	scene.policy->timeout_ns[POLICY_UDP] = 20 * SECOND;
	wheel__renew(scene.function);
	pass(25);
	assert_int_equal(scene.ended, 1);
	close_scene();
}

/* The work for a million flows: as many looks as flows are due, and one question for 8 of them. */
static void test_many_flows(void **state)
{
	enum { MANY = 100000, HOUR = 7440 };
	static struct flow *flows[MANY];
	struct flow_record record = { IPPROTO_TCP, { INSIDE, 1 }, { POOL, 2000 }, { REMOTE, 80 } };
	const struct function_counts *counts;
	unsigned int i;

	memset(&machine, 0, sizeof(machine));
	machine.cells = 65536;
	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\nflows: 200000\n"
			      "limits: {flows: 200000}\n");
	scene.policy->timeout_ns[POLICY_TCP] = HOUR * SECOND;
	scene.now = 100 * HOUR * SECOND;
	for (i = 0; i < MANY; i++) {
		record.remote.address = REMOTE + i;
		assert_int_equal(function__restore(scene.function, &record, scene.now), 0);
		flows[i] =
			function__find(scene.function, IPPROTO_TCP, &record.inside, &record.remote);
	}
	function__compare(scene.function);
	settle();
	counts = function__counts(scene.function);
	/* The last packet of each flow is in another second. */
	for (i = 0; i < MANY; i++) {
		flows[i]->used_ns = scene.now + i % 1000 * SECOND;
		wheel__forget(scene.function, flows[i]);
		TAILQ_REMOVE(flows[i]->queue, flows[i], of_queue);
		wheel__add(scene.function, flows[i]);
	}
	pass(HOUR - 1);
	assert_int_equal(counts->asked, 0);
	for (i = 1; i <= 10; i++) {
		pass(100);
		assert_in_range(scene.ended, (i * 100 - 10) * 100, i * 10000 + 200);
		assert_in_range(counts->asked, i * 10000, i * 10000 + 200);
		assert_in_range(machine.questions, counts->asked / 8, counts->asked / 8 + i * 100);
	}
	pass(10);
	assert_int_equal(scene.ended, MANY);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an idle flow ends within 10 seconds of its time-out", test_idle_flow_ends),
		TEST("a packet of an idle flow whose entries are being removed enters it again",
		     test_packet_at_the_end),
		TEST("so it does when dartd goes away meanwhile", test_packet_without_a_table),
		TEST("flows that begin while dartd is away age by their packets",
		     test_ageing_without_a_table),
		TEST("a flow that the switch uses in one direction stays in the table",
		     test_used_flow_stays),
		TEST("no flow ends early, whatever other flows have its cells", test_random_use),
		TEST("idle flows with the cells of a busy one end, later", test_shared_cells),
		TEST("a switch without answers costs removals, and is asked again",
		     test_switch_without_answers),
		TEST("a flow ends while the switch is asked about it", test_flow_ends_while_asked),
		TEST("flows age by the time-outs of another policy", test_other_timeouts),
		TEST("only flows that are due are looked at", test_many_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

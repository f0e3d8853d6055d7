// SPDX-License-Identifier: GPL-2.0-only
/* Steps of a push of a lookup table, in cases of which each step is known. */
#include "lookup_push.h"

/* Continues with a switch that followed all steps. */
static void settle(struct push *push)
{
	push__free_state(push->now);
	push->now = push->wanted;
	push->wanted = NULL;
	push->last = push->wish.tables;
	push__plan(push);
	assert_int_equal(push->steps.count, 0);
}

static void plan_is(const struct push *push, size_t count, const struct switch_step *steps)
{
	const struct switch_step *step = push->steps.list;
	size_t i;

	for (i = 0; i < push->steps.count && i < count; i++, step++)
		if (memcmp(step, &steps[i], sizeof(*step)))
			fail_msg("step %zu: verb %d, object %d, %u-%u", i, step->verb, step->object,
				 step->first, step->last);
	assert_int_equal(push->steps.count, count);
}

#define PLAN_IS(push, ...)                                          \
	plan_is(push,                                               \
		sizeof((struct switch_step[]){ __VA_ARGS__ }) /     \
			sizeof(struct switch_step),                 \
		(struct switch_step[]){ __VA_ARGS__ })

#define ALL(verb, object, first, last)                              \
	{ SWITCH_##verb, LOOKUP_##object, first, last }
#define ONE(verb, object, number) ALL(verb, object, number, number)

/* The steps for a server that gets a new queue pair, if the switch knows its address. */
#define RENEWED(number)                                             \
	ONE(STOP, SERVER, number), ONE(REMOVE, SERVER, number),     \
	ONE(CHANGE, PSN, number), ONE(ADD, SERVER, number),         \
	ONE(START, SERVER, number)

/* A switch with @count servers, which followed all steps. */
static struct push *settled(uint32_t count)
{
	struct push *push = push__new(count);

	push__plan(push);
	settle(push);
	return push;
}

static void test_first_push(void **state)
{
	struct push *push = push__new(2);
	const uint64_t *values;

	push__stash(push, 0, 3, 0);
	push->wish.options.otherwise[14] = 9;
	push__plan(push);
	PLAN_IS(push, ONE(STOP, SERVER, 0), ONE(STOP, SERVER, 1), ONE(ADD, SELF, 0),
		ONE(CHANGE, PSN, 0), ONE(ADD, FROM, 0), ONE(ADD, SERVER, 0), ONE(CHANGE, PSN, 1),
		ONE(ADD, FROM, 1), ONE(ADD, SERVER, 1), ONE(ADD, GROUP, 0), ONE(ADD, SESSION, 0),
		ONE(ADD, GROUP, 1), ONE(ADD, SESSION, 1), ALL(ADD, STASH, 0, 2),
		ONE(ADD, OTHERWISE, 14), ONE(START, SERVER, 0), ONE(START, SERVER, 1),
		ALL(ADD, SHARE, 0, 511), ALL(ADD, SHARE, 512, 1023));
	values = push->wanted->self.values;
	assert_true(values[SELF_MAC] == 0x02000a000009);
	assert_int_equal(values[SELF_IP], 0x0a000009);
	assert_int_equal(values[SELF_PACKET_LENGTH], 1514);
	assert_int_equal(values[SELF_OUTSTANDING], 16);
	values = push->wanted->servers[1].values;
	assert_true(values[SERVER_MAC] == 0x525400000101);
	assert_int_equal(values[SERVER_IP], 0x0a000101);
	assert_int_equal(values[SERVER_QPN], 18);
	assert_int_equal(values[SERVER_RKEY], 0x1001);
	assert_true(values[SERVER_BASE] == 0x3a5f00000000);
	assert_int_equal(values[SERVER_MASK], 0x3ff);
	assert_int_equal(values[SERVER_ROW_LOG2], 11);
	assert_int_equal(values[SERVER_EPOCH], 78);
	assert_int_equal(push->wanted->first_psns[1].values[0], 5);
	values = push->wanted->from[1].values;
	assert_int_equal(push->wanted->from[1].key, 0x0a000101);
	assert_int_equal(values[FROM_SERVER], 1);
	assert_int_equal(values[FROM_PORT], 1);
	assert_int_equal(values[FROM_EPOCH], 78);
	values = push->wanted->shares[512].values;
	assert_int_equal(values[LOOKUP_SHARE_FIRST], 1);
	assert_int_equal(values[LOOKUP_SHARE_FIRST_PORT], 1);
	assert_int_equal(values[LOOKUP_SHARE_SECOND], 1);
	assert_int_equal(values[LOOKUP_SHARE_SECOND_PORT], 1);
	settle(push);
	push__free(push);
}

/* A new queue pair: only its server stops, and no share leaves. */
static void test_renewed(void **state)
{
	struct push *push = settled(2);

	push->wish.tables.servers[1].qpn = 99;
	push->wish.tables.servers[1].first_psn = 1234;
	push__plan(push);
	PLAN_IS(push, RENEWED(1));
	assert_int_equal(push->wanted->first_psns[1].values[0], 1234);
	settle(push);

	/* After two renewals the device may give the same number again. */
	push->wish.tables.servers[1].first_psn = 4321;
	push__plan(push);
	PLAN_IS(push, RENEWED(1));
	assert_int_equal(push->wanted->first_psns[1].values[0], 4321);
	settle(push);

	/* The device gives the same number again after a restart. */
	push->wish.tables.servers[0].epoch = 500;
	push__plan(push);
	PLAN_IS(push, ONE(STOP, SERVER, 0), ONE(REMOVE, SERVER, 0), ONE(CHANGE, PSN, 0),
		ONE(CHANGE, FROM, 0), ONE(ADD, SERVER, 0), ONE(START, SERVER, 0));
	settle(push);

	/* The address of its interface alone does not touch the queue pair. */
	push->wish.tables.servers[0].mac[5] = 9;
	push__plan(push);
	PLAN_IS(push, ONE(CHANGE, SERVER, 0));
	push__free(push);
}

/* A push that ended between its stop and its start is completed. */
static void test_stopped(void **state)
{
	struct push *push = settled(1);

	push->now->states[0] = LOOKUP_STOPPED;
	push__plan(push);
	PLAN_IS(push, ONE(START, SERVER, 0));
	push->now->states[0] = LOOKUP_SILENT;
	push__plan(push);
	assert_int_equal(push->steps.count, 0);
	/* The push ended before the server got its entry. */
	push->now->states[0] = LOOKUP_STOPPED;
	push->now->servers[0].there = false;
	push__plan(push);
	PLAN_IS(push, ALL(REMOVE, SHARE, 0, 1023), ONE(CHANGE, PSN, 0), ONE(ADD, SERVER, 0),
		ONE(START, SERVER, 0), ALL(ADD, SHARE, 0, 1023));
	push__free(push);
}

/* A server leaves, and its replica stays alone. */
static void test_replica(void **state)
{
	struct push *push = push__new(2);
	struct dart_tea_tables *tables = &push->wish.tables;
	const uint64_t *values;

	memset(tables->shares, 0, sizeof(tables->shares));
	memset(tables->replicas, 1, sizeof(tables->replicas));
	push__plan(push);
	values = push->wanted->shares[1023].values;
	assert_int_equal(values[LOOKUP_SHARE_FIRST], 0);
	assert_int_equal(values[LOOKUP_SHARE_SECOND], 1);
	assert_int_equal(values[LOOKUP_SHARE_SECOND_PORT], 1);
	settle(push);

	tables->servers[0] = tables->servers[1];
	push->wish.ports[0] = 1;
	tables->server_count = 1;
	memset(tables->replicas, DART_TEA_SERVER_NONE, sizeof(tables->replicas));
	push__plan(push);
	PLAN_IS(push, ALL(REMOVE, SHARE, 0, 1023), ONE(STOP, SERVER, 0), ONE(REMOVE, FROM, 0),
		ONE(REMOVE, SERVER, 0), ALL(ADD, SHARE, 0, 1023));
	/* It keeps its number, and its registers. */
	assert_int_equal(push->wanted->shares[0].values[LOOKUP_SHARE_FIRST], 1);
	settle(push);
	push__free(push);
}

/* With all numbers taken, a new server takes the number of a leaving one. */
static void test_full(void **state)
{
	struct push *push = settled(DART_TEA_SERVERS_MAX);

	push->wish.tables.servers[5] = push__server(200);
	push__plan(push);
	PLAN_IS(push, ALL(REMOVE, SHARE, 80, 95), ONE(STOP, SERVER, 5), ONE(REMOVE, FROM, 5),
		ONE(REMOVE, SERVER, 5), ONE(CHANGE, PSN, 5), ONE(ADD, FROM, 5), ONE(ADD, SERVER, 5),
		ONE(START, SERVER, 5), ALL(ADD, SHARE, 80, 95));
	settle(push);
	push__free(push);
}

static void test_stash(void **state)
{
	struct push *push = push__new(1);

	push__stash(push, 1, 6, 0);
	push__plan(push);
	settle(push);
	/* Entries 1 and 2 go, 3 to 6 stay, 7 and 8 come. */
	push__stash(push, 3, 6, 0);
	push__plan(push);
	PLAN_IS(push, ALL(REMOVE, STASH, 0, 1), ALL(ADD, STASH, 4, 5));
	settle(push);
	push->stashed[2].value[0] = 1;
	push__plan(push);
	PLAN_IS(push, ONE(CHANGE, STASH, 2));
	/* An entry with another action is not ours. */
	push->stashed[2].value[0] = 0;
	push->now->stashed[5].is_ours = false;
	push__plan(push);
	PLAN_IS(push, ONE(CHANGE, STASH, 5));
	push->now->stashed[5].is_ours = true;
	/* No program looks cached entries up again. */
	push->now->cached_count = 4;
	push__plan(push);
	PLAN_IS(push, ONE(REMOVE, CACHE, 0));
	push__free(push);
}

static void test_uncovered(void **state)
{
	struct push *push = push__new(1);

	memset(push->wish.tables.shares + 100, DART_TEA_SERVER_NONE, 50);
	push__plan(push);
	assert_false(push->wanted->shares[100].there);
	assert_true(push->wanted->shares[150].there);
	settle(push);
	memset(push->wish.tables.shares, 0, DART_TEA_SHARES);
	push__plan(push);
	PLAN_IS(push, ALL(ADD, SHARE, 100, 149));
	push__free(push);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first push stops servers, gives them registers before their entries, starts them, and adds shares last; a second one has no steps",
		     test_first_push),
		TEST("a new queue pair or table stops its server alone, another MAC stops none",
		     test_renewed),
		TEST("a server that an earlier push left stopped is started, a silent one is left alone",
		     test_stopped),
		TEST("shares leave a server before it is removed, and its replica keeps its number",
		     test_replica),
		TEST("of 64 servers one is replaced by another, which takes its number", test_full),
		TEST("entries of the stash are added, changed and removed one by one, and those of the cache together",
		     test_stash),
		TEST("shares without a server have no entry until they get one", test_uncovered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Places of servers: by their weights, and most of them kept when servers come and go. */
#include <stdlib.h>

#include "selftests/unit/unit.h"
#include "tools/flows/balancer/maglev.h"

#define MOST 100

static uint16_t places[MAGLEV_PLACES], other[MAGLEV_PLACES];

static void set_servers(struct maglev_server servers[static MOST], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		servers[i] = (struct maglev_server){ 0x0a0100010050 + (i << 16), 1 };
}

static size_t count_places(uint16_t server)
{
	size_t count = 0, i;

	for (i = 0; i < MAGLEV_PLACES; i++)
		count += places[i] == server;
	return count;
}

static size_t count_changes(void)
{
	size_t count = 0, i;

	for (i = 0; i < MAGLEV_PLACES; i++)
		count += places[i] != other[i];
	return count;
}

static void test_balance(void **state)
{
	static const size_t counts[] = { 1, 2, 3, 10, MOST };
	struct maglev_server servers[MOST];
	size_t i, server, share;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		set_servers(servers, counts[i]);
		assert_true(maglev__fill(places, servers, counts[i]));
		share = MAGLEV_PLACES / counts[i];
		for (server = 0; server < counts[i]; server++)
			assert_in_range(count_places(server), share, share + 1);
	}
}

/* The heaviest server takes the places that rounding leaves to the 19 others. */
static void test_weights(void **state)
{
	struct maglev_server servers[MOST];
	size_t i, sum = 0, wanted;

	set_servers(servers, 20);
	for (i = 0; i < 20; i++) {
		servers[i].weight = i < 19 ? i : MAGLEV_WEIGHT_MAX;
		sum += servers[i].weight;
	}
	assert_true(maglev__fill(places, servers, 20));
	assert_int_equal(count_places(0), 0);
	for (i = 1; i < 20; i++) {
		wanted = (size_t)MAGLEV_PLACES * servers[i].weight / sum;
		assert_in_range(count_places(i), wanted - 20, wanted + 20);
	}
}

static void test_nobody(void **state)
{
	struct maglev_server servers[MOST];

	set_servers(servers, 2);
	servers[0].weight = servers[1].weight = 0;
	assert_false(maglev__fill(places, servers, 2));
	assert_false(maglev__fill(places, servers, 0));
}

/* The table depends on the servers alone. */
static void test_same(void **state)
{
	struct maglev_server servers[MOST];

	set_servers(servers, 5);
	assert_true(maglev__fill(places, servers, 5));
	assert_true(maglev__fill(other, servers, 5));
	assert_int_equal(count_changes(), 0);
}

/*
 * One of N servers has 1/N of the places.  When it goes, these get another server, and of the
 * others only a few (figure 12 of the paper: below 1 in 50 for tables of this size).
 */
static void test_disruption(void **state)
{
	static const size_t counts[] = { 2, 10, MOST };
	struct maglev_server servers[MOST];
	size_t i, gone, changed, own;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		set_servers(servers, counts[i]);
		assert_true(maglev__fill(places, servers, counts[i]));
		for (gone = 0; gone < counts[i]; gone += counts[i] / 2) {
			servers[gone].weight = 0;
			assert_true(maglev__fill(other, servers, counts[i]));
			servers[gone].weight = 1;
			own = count_places(gone);
			changed = count_changes();
			assert_true(changed >= own);
			assert_in_range(changed - own, 0, MAGLEV_PLACES / 50);
		}
	}
}

/* When a weight changes, about as many places move as the server gets. */
static void test_other_weight(void **state)
{
	struct maglev_server servers[MOST];

	set_servers(servers, 10);
	assert_true(maglev__fill(places, servers, 10));
	servers[3].weight = 2;
	assert_true(maglev__fill(other, servers, 10));
	/* It has 1/10, and gets 2/11: 9/110 more. */
	assert_in_range(count_changes(), MAGLEV_PLACES * 9 / 110, MAGLEV_PLACES / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("servers of equal weight have equally many places", test_balance),
		TEST("servers have places by their weights", test_weights),
		TEST("without servers no place is filled", test_nobody),
		TEST("the same servers have the same places", test_same),
		TEST("when a server goes few places but its own change", test_disruption),
		TEST("when a weight changes few places change", test_other_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

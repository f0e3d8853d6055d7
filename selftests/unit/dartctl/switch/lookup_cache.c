// SPDX-License-Identifier: GPL-2.0-only
/*
 * dartctl maintains the cache of a switch: entries of popular keys come, follow the table,
 * and go. lookup_cache.h plays the switch, its digests and the table's servers.
 */
#include "lookup_cache.h"

struct kept {
	struct switch_cache *cache;
	struct dart_tea_tables tables;
	struct dart_error error;
	int poller;
};

/* A running cache; the value of each key is the key plus 100. */
static struct kept *kept__new(void)
{
	struct kept *kept = calloc(1, sizeof(*kept));
	uint8_t i;

	assert_non_null(kept);
	memset(&device, 0, sizeof(device));
	memset(&digests, 0, sizeof(digests));
	is_server_down = false;
	program_key = KEY;
	kept->tables.geometry.key_length = KEY;
	kept->tables.geometry.value_length = VALUE;
	for (i = 0; i < KEYS; i++)
		table[i] = 100 + i;
	/* Entries that an earlier process left. */
	device.count = 2;
	device.entries[1].handle = 1;
	device.next_handle = 2;
	kept->poller = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(switch_cache__open("ipc:///x", kept->poller,
					    &kept->cache, &kept->error),
			 0);
	assert_int_equal(switch_cache__set_tables(kept->cache, &kept->tables, &kept->error), 0);
	assert_int_equal(switch_cache__receive(kept->cache, NULL, &kept->error), 0);
	assert_int_equal(switch_cache__refresh(kept->cache, NULL, &kept->error), 0);
	assert_int_equal(device.count, 0);
	assert_true(device.threshold > 0);
	assert_int_equal(device.clears, 6);
	return kept;
}

static void kept__free(struct kept *kept)
{
	switch_cache__close(kept->cache);
	close(kept->poller);
	free(kept);
}

static void receive(struct kept *kept)
{
	const uint32_t before = digests.acknowledged;

	assert_int_equal(switch_cache__receive(kept->cache, NULL, &kept->error), 0);
	assert_int_equal(digests.acknowledged, before + 1);
}

static void refresh(struct kept *kept)
{
	assert_int_equal(switch_cache__refresh(kept->cache, NULL, &kept->error), 0);
}

static void test_popular(void **state)
{
	struct kept *kept = kept__new();

	table[3] = ABSENT;
	report(1);
	report(2);
	report(3);
	report(1);
	receive(kept);
	assert_int_equal(device.count, 2);
	assert_int_equal(cached(1), 101);
	assert_int_equal(cached(2), 102);
	kept__free(kept);
}

static void test_followed(void **state)
{
	struct kept *kept = kept__new();

	report(1);
	report(2);
	report(3);
	receive(kept);
	table[1] = 55;
	table[2] = ABSENT;
	refresh(kept);
	assert_int_equal(device.count, 2);
	assert_int_equal(cached(1), 55);
	assert_int_equal(cached(2), ABSENT);
	assert_int_equal(cached(3), 103);
	assert_int_equal(device.clears, 12);
	/* It is there again, and popular. */
	table[2] = 66;
	report(2);
	receive(kept);
	assert_int_equal(cached(2), 66);
	kept__free(kept);
}

/* A full cache: the key with the fewest packets makes room. */
static void test_exchanged(void **state)
{
	struct kept *kept = kept__new();
	uint8_t key;
	uint32_t i;

	for (key = 1; key <= ROOM; key++)
		report(key);
	receive(kept);
	assert_int_equal(device.count, ROOM);
	for (i = 0; i < 3; i++) {
		for (key = 0; key < ROOM; key++)
			device.packets[key] += key == 2 ? 1 : 1000;
		refresh(kept);
	}
	report(9);
	receive(kept);
	assert_int_equal(device.count, ROOM);
	assert_int_equal(cached(9), 109);
	assert_int_equal(cached(3), ABSENT);
	assert_int_equal(cached(4), 104);
	/* No other key is used less. */
	report(10);
	receive(kept);
	assert_int_equal(cached(10), ABSENT);
	kept__free(kept);
}

static void test_unreachable(void **state)
{
	struct kept *kept = kept__new();

	report(1);
	receive(kept);
	is_server_down = true;
	assert_int_equal(switch_cache__refresh(kept->cache, NULL, &kept->error), -EHOSTUNREACH);
	assert_string_equal(kept->error.text, "the server is down");
	assert_int_equal(device.count, 0);
	/* The period still ended. */
	assert_int_equal(device.clears, 12);
	report(2);
	assert_int_equal(switch_cache__receive(kept->cache, NULL, &kept->error), -EHOSTUNREACH);
	assert_int_equal(digests.acknowledged, 2);
	assert_int_equal(device.count, 0);
	is_server_down = false;
	report(2);
	receive(kept);
	assert_int_equal(cached(2), 102);
	kept__free(kept);
}

/* After the switch or its digests are gone, all begins anew. */
static void test_lost(void **state)
{
	struct kept *kept = kept__new();

	report(1);
	receive(kept);
	digests.is_lost = true;
	assert_int_equal(switch_cache__receive(kept->cache, NULL, &kept->error), -ECONNRESET);
	refresh(kept);
	assert_int_equal(device.count, 0);
	report(1);
	receive(kept);
	assert_int_equal(cached(1), 101);
	switch_cache__lose(kept->cache);
	refresh(kept);
	assert_int_equal(device.count, 0);
	kept__free(kept);
}

/* Then the contents of the switch are unknown: everything begins anew. */
static void test_failed(void **state)
{
	struct kept *kept = kept__new();
	uint8_t key;

	for (key = 1; key <= ROOM; key++)
		report(key);
	receive(kept);
	table[2] = ABSENT;
	device.fails = true;
	assert_int_equal(switch_cache__refresh(kept->cache, NULL, &kept->error), -EREMOTEIO);
	/* There is no room for it as long as key 2 is there. */
	report(9);
	assert_int_equal(switch_cache__receive(kept->cache, NULL, &kept->error), 0);
	device.fails = false;
	refresh(kept);
	assert_int_equal(device.count, 0);

	digests.count = 0;
	report(1);
	receive(kept);
	table[1] = 55;
	device.fails = true;
	assert_int_equal(switch_cache__refresh(kept->cache, NULL, &kept->error), -EREMOTEIO);
	device.fails = false;
	refresh(kept);
	assert_int_not_equal(cached(1), 101);
	digests.count = 0;
	report(1);
	receive(kept);
	assert_int_equal(cached(1), 55);
	kept__free(kept);
}

/* A switch may start again with another program. */
static void test_other_program(void **state)
{
	struct kept *kept = kept__new();

	report(1);
	receive(kept);
	switch_cache__lose(kept->cache);
	program_key = KEY - 1;
	assert_int_equal(switch_cache__refresh(kept->cache, NULL, &kept->error), -EINVAL);
	assert_string_equal(kept->error.text, "it has other keys");
	assert_int_equal(device.count, 1);
	assert_int_equal(switch_cache__receive(kept->cache, NULL, &kept->error), 0);
	program_key = KEY;
	refresh(kept);
	assert_int_equal(device.count, 0);
	kept__free(kept);
}

static void test_other_tables(void **state)
{
	struct kept *kept = kept__new();
	struct dart_tea_tables other = kept->tables;

	other.geometry.key_length = KEY + 1;
	report(1);
	receive(kept);
	assert_int_equal(switch_cache__set_tables(kept->cache, &other, &kept->error), 0);
	assert_int_equal(switch_cache__refresh(kept->cache, NULL, &kept->error), -EINVAL);
	/* The switch got their program before they were set. */
	program_key = KEY + 1;
	assert_int_equal(switch_cache__refresh(kept->cache, NULL, &kept->error), 0);
	assert_int_equal(device.count, 0);
	kept__free(kept);
}

static void test_cleared(void **state)
{
	struct kept *kept = kept__new();

	report(1);
	receive(kept);
	assert_int_equal(switch_cache__clear(kept->cache, NULL, &kept->error), 0);
	assert_int_equal(device.count, 0);
	assert_int_equal(device.threshold, 0);
	kept__free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("keys that are reported and have an entry are cached, once", test_popular),
		TEST("a period later cached entries are those of the table", test_followed),
		TEST("in a full cache a popular key takes the place of the one with the fewest packets",
		     test_exchanged),
		TEST("keys of a server that does not answer leave the cache, and come back with it",
		     test_unreachable),
		TEST("a switch that was lost gets an empty cache", test_lost),
		TEST("after a change that failed, the cache begins anew", test_failed),
		TEST("the cache of a program for other tables is left alone", test_other_program),
		TEST("with tables of other sizes the cache begins anew", test_other_tables),
		TEST("at the end the cache is empty and no key is popular", test_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

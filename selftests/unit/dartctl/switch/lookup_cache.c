// SPDX-License-Identifier: GPL-2.0-only
/*
 * dartctl maintains the cache of a switch: entries of popular keys come, follow the table,
 * and go.  lookup_cache.h plays the switch; the server of the table is memory of this process,
 * which dartctl READs over the simulated network.
 */
#include <sys/epoll.h>

#include "lookup_cache.h"
#include "selftests/unit/libdart/tea/tea_server.h"
#include "tools/dartctl/switch/cache/cache.h"

#define KEYS 16
#define ABSENT 0 /* a value of no entry */
#define DOWN "server 10.0.0.0 cannot be asked for table 'nat': "

static const struct dart_tea_geometry geometry = {
	.rows_log2 = 5,
	.cells = CELLS,
	.key_length = KEY,
	.value_length = VALUE,
	.packet_length = 64,
};

struct kept {
	struct device *device;
	struct tea_server server; /* of the table */
	struct thrift *thrift;
	struct switch_cache *cache;
	struct dart_tea_tables tables;
	struct dart_error error;
	int poller;
};

static int try_refresh(struct kept *kept)
{
	const int ret = switch_cache__refresh(kept->cache, kept->thrift, &kept->error);

	device__greet(kept->device);
	return ret;
}

static void refresh(struct kept *kept)
{
	if (try_refresh(kept))
		fail_msg("%s", kept->error.text);
}

static int try_receive(struct kept *kept)
{
	return switch_cache__receive(kept->cache, kept->thrift, &kept->error);
}

static int set_tables(struct kept *kept, const struct dart_tea_tables *tables)
{
	return switch_cache__set_tables(kept->cache, tables, &kept->error);
}

/* A running cache; the value of each key is the key plus 100. */
static struct kept *kept__new(void)
{
	struct kept *kept = calloc(1, sizeof(*kept));
	struct dart_tea_tables *tables;
	struct device *device;
	uint32_t key;

	assert_non_null(kept);
	tables = &kept->tables;
	tea_server__open(&kept->server, &geometry);
	for (key = 0; key < KEYS; key++)
		assert_true(tea_model__insert(&kept->server.model, key, 100 + key) >= 0);
	strcpy(tables->name, "nat");
	tables->geometry = geometry;
	tables->server_count = 1;
	tables->servers[0].ip.s_addr = htonl(10U << 24);
	tables->servers[0].epoch = TEA_MODEL_EPOCH;
	memset(tables->replicas, DART_TEA_SERVER_NONE, sizeof(tables->replicas));
	device = device__new();
	kept->device = device;
	/* Entries that an earlier process left. */
	device->count = 2;
	device->entries[1].handle = 1;
	device->next_handle = 2;
	kept->poller = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(thrift__connect(device->answers->name, &kept->thrift, &kept->error), 0);
	assert_int_equal(
		switch_cache__open(device->address, kept->poller, &kept->cache, &kept->error), 0);
	assert_int_equal(set_tables(kept, tables), 0);
	assert_int_equal(try_receive(kept), 0);
	refresh(kept);
	assert_int_equal(device->count, 0);
	assert_true(device->threshold > 0);
	assert_int_equal(device->clears, 6);
	return kept;
}

static void kept__free(struct kept *kept)
{
	switch_cache__close(kept->cache);
	thrift__close(kept->thrift);
	device__free(kept->device);
	tea_server__close(&kept->server);
	close(kept->poller);
	free(kept);
}

static void report(struct kept *kept, uint32_t key)
{
	uint8_t bytes[KEY];

	tea_model__bytes(key, bytes, KEY);
	device__report(kept->device, bytes);
}

/* Publishes the reports; the poller tells of them. */
static int publish(struct kept *kept)
{
	struct epoll_event event;

	device__publish(kept->device);
	assert_int_equal(epoll_wait(kept->poller, &event, 1, 0), 1);
	return try_receive(kept);
}

static void take_reports(struct kept *kept)
{
	if (publish(kept))
		fail_msg("%s", kept->error.text);
	assert_int_equal(kept->device->acknowledged, kept->device->published);
}

/* The value that the switch caches for a key, or ABSENT. */
static uint32_t cached(const struct kept *kept, uint32_t key)
{
	const struct device *device = kept->device;
	uint8_t bytes[KEY];
	uint32_t i;

	tea_model__bytes(key, bytes, KEY);
	for (i = 0; i < device->count; i++)
		if (!memcmp(device->entries[i].key.bytes, bytes, KEY))
			return device->entries[i].values[0].bytes[0] |
			       device->entries[i].values[0].bytes[1] << 8;
	return ABSENT;
}

/* dartctl has closed its connection to the publisher. */
static bool is_left_alone(const struct kept *kept)
{
	struct pollfd end = { .fd = kept->device->publisher.socket, .events = POLLRDHUP };

	return poll(&end, 1, 0) == 1;
}

static void test_popular(void **state)
{
	struct kept *kept = kept__new();

	tea_model__remove(&kept->server.model, 3);
	report(kept, 1);
	report(kept, 2);
	report(kept, 3);
	report(kept, 1);
	take_reports(kept);
	assert_int_equal(kept->device->count, 2);
	assert_int_equal(cached(kept, 1), 101);
	assert_int_equal(cached(kept, 2), 102);
	kept__free(kept);
}

static void test_followed(void **state)
{
	struct kept *kept = kept__new();

	report(kept, 1);
	report(kept, 2);
	report(kept, 3);
	take_reports(kept);
	tea_model__insert(&kept->server.model, 1, 55);
	tea_model__remove(&kept->server.model, 2);
	refresh(kept);
	assert_int_equal(kept->device->count, 2);
	assert_int_equal(cached(kept, 1), 55);
	assert_int_equal(cached(kept, 2), ABSENT);
	assert_int_equal(cached(kept, 3), 103);
	assert_int_equal(kept->device->clears, 12);
	/* It is there again, and popular. */
	tea_model__insert(&kept->server.model, 2, 66);
	report(kept, 2);
	take_reports(kept);
	assert_int_equal(cached(kept, 2), 66);
	kept__free(kept);
}

/* A full cache: the key with the fewest packets makes room. */
static void test_exchanged(void **state)
{
	struct kept *kept = kept__new();
	uint8_t key;
	uint32_t i;

	for (key = 1; key <= ROOM; key++)
		report(kept, key);
	take_reports(kept);
	assert_int_equal(kept->device->count, ROOM);
	for (i = 0; i < 3; i++) {
		for (key = 0; key < ROOM; key++)
			kept->device->packets[key] += key == 2 ? 1 : 1000;
		refresh(kept);
	}
	report(kept, 9);
	take_reports(kept);
	assert_int_equal(kept->device->count, ROOM);
	assert_int_equal(cached(kept, 9), 109);
	assert_int_equal(cached(kept, 3), ABSENT);
	assert_int_equal(cached(kept, 4), 104);
	/* No other key is used less. */
	report(kept, 10);
	take_reports(kept);
	assert_int_equal(cached(kept, 10), ABSENT);
	kept__free(kept);
}

static void test_unreachable(void **state)
{
	struct kept *kept = kept__new();

	report(kept, 1);
	take_reports(kept);
	kept->server.host.values.rkey++;
	assert_int_equal(try_refresh(kept), -EHOSTUNREACH);
	assert_memory_equal(kept->error.text, DOWN, strlen(DOWN));
	assert_int_equal(kept->device->count, 0);
	/* The period still ended. */
	assert_int_equal(kept->device->clears, 12);
	report(kept, 2);
	assert_int_equal(publish(kept), -EHOSTUNREACH);
	assert_memory_equal(kept->error.text, DOWN, strlen(DOWN));
	assert_int_equal(kept->device->acknowledged, 2);
	assert_int_equal(kept->device->count, 0);
	/* Its agent started again: a new epoch is asked for without a pause. */
	kept->server.host.values.rkey--;
	kept->tables.servers[0].epoch++;
	assert_int_equal(set_tables(kept, &kept->tables), 0);
	report(kept, 2);
	take_reports(kept);
	assert_int_equal(cached(kept, 2), 102);
	kept__free(kept);
}

/* After the switch or its digests are gone, all begins anew. */
static void test_lost(void **state)
{
	struct kept *kept = kept__new();

	report(kept, 1);
	take_reports(kept);
	device__hang_up(kept->device);
	assert_int_equal(try_receive(kept), -ECONNRESET);
	refresh(kept);
	assert_int_equal(kept->device->count, 0);
	report(kept, 1);
	take_reports(kept);
	assert_int_equal(cached(kept, 1), 101);
	switch_cache__lose(kept->cache);
	refresh(kept);
	assert_int_equal(kept->device->count, 0);
	kept__free(kept);
}

/* No process learns of new values then, so the switch must ask for each packet. */
static void test_without_digests(void **state)
{
	struct kept *kept = kept__new();

	report(kept, 1);
	take_reports(kept);
	device__hang_up(kept->device);
	assert_int_equal(try_receive(kept), -ECONNRESET);
	assert_int_equal(unlink(kept->device->address + strlen("ipc://")), 0);
	assert_int_equal(switch_cache__refresh(kept->cache, kept->thrift, &kept->error), -ENOENT);
	assert_int_equal(kept->device->count, 0);
	kept__free(kept);
}

/* Then the contents of the switch are unknown: everything begins anew. */
static void test_failed(void **state)
{
	struct kept *kept = kept__new();
	uint8_t key;

	for (key = 1; key <= ROOM; key++)
		report(kept, key);
	take_reports(kept);
	tea_model__remove(&kept->server.model, 2);
	kept->device->fails = true;
	assert_int_equal(try_refresh(kept), -EREMOTEIO);
	/* Nothing else is tried as long as key 2 is there. */
	assert_true(is_left_alone(kept));
	assert_int_equal(try_receive(kept), 0);
	assert_int_equal(kept->device->count, ROOM);
	kept->device->fails = false;
	refresh(kept);
	assert_int_equal(kept->device->count, 0);

	report(kept, 1);
	take_reports(kept);
	tea_model__insert(&kept->server.model, 1, 55);
	kept->device->fails = true;
	assert_int_equal(try_refresh(kept), -EREMOTEIO);
	kept->device->fails = false;
	refresh(kept);
	assert_int_not_equal(cached(kept, 1), 101);
	report(kept, 1);
	take_reports(kept);
	assert_int_equal(cached(kept, 1), 55);
	kept__free(kept);
}

/* A switch may start again with another program. */
static void test_other_program(void **state)
{
	struct kept *kept = kept__new();

	report(kept, 1);
	take_reports(kept);
	switch_cache__lose(kept->cache);
	kept->device->program_key = KEY - 1;
	assert_int_equal(try_refresh(kept), -EINVAL);
	assert_string_equal(
		kept->error.text,
		"table 'nat' has keys of 4 bytes, values of 2 and 2 cells in a bucket, but the program has 3, 2 and 2");
	assert_int_equal(kept->device->count, 1);
	assert_int_equal(try_receive(kept), 0);
	kept->device->program_key = KEY;
	refresh(kept);
	assert_int_equal(kept->device->count, 0);
	kept__free(kept);
}

static void test_other_tables(void **state)
{
	struct kept *kept = kept__new();
	struct dart_tea_tables other = kept->tables;

	other.geometry.key_length = KEY + 1;
	report(kept, 1);
	take_reports(kept);
	assert_int_equal(set_tables(kept, &other), 0);
	assert_int_equal(try_refresh(kept), -EINVAL);
	/* The switch got their program before they were set. */
	kept->device->program_key = KEY + 1;
	assert_int_equal(try_refresh(kept), 0);
	assert_int_equal(kept->device->count, 0);
	kept__free(kept);
}

static void test_cleared(void **state)
{
	struct kept *kept = kept__new();

	report(kept, 1);
	take_reports(kept);
	assert_int_equal(switch_cache__clear(kept->cache, kept->thrift, &kept->error), 0);
	assert_int_equal(kept->device->count, 0);
	assert_int_equal(kept->device->threshold, 0);
	kept__free(kept);
}

/* Between the loss of a cache and its next beginning. */
static void test_cleared_after_loss(void **state)
{
	struct kept *kept = kept__new();

	report(kept, 1);
	take_reports(kept);
	switch_cache__lose(kept->cache);
	assert_int_equal(switch_cache__clear(kept->cache, kept->thrift, &kept->error), 0);
	assert_int_equal(kept->device->count, 0);
	assert_int_equal(kept->device->threshold, 0);
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
		TEST("a switch whose digests cannot be received has an empty cache",
		     test_without_digests),
		TEST("after a change that failed, the cache begins anew", test_failed),
		TEST("the cache of a program for other tables is left alone", test_other_program),
		TEST("with tables of other sizes the cache begins anew", test_other_tables),
		TEST("at the end the cache is empty and no key is popular", test_cleared),
		TEST("a cache that was lost is empty at the end, too", test_cleared_after_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

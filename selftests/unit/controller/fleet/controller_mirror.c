// SPDX-License-Identifier: GPL-2.0-only
/*
 * A controller that offers mirrors to hosts which tell, or lie about, the changes of their tables.
 */
#include "controller_changing.h"

static void test_told(void **state)
{
	enum { CHANGES = 5 };
	const struct summary *summary;
	unsigned int i;

	begin(MIRROR);
	summary = target__summary(bed.targets[0]);
	for (i = 0; i < CHANGES; i++) {
		atomic_store(&hosts[0].is_due, true);
		bed__await(0, 2 + i);
	}
	assert_int_equal(count__of(&summary->updates), CHANGES);
	assert_int_equal(count__of(&summary->told), CHANGES);
	assert_int_equal(count__of(&summary->gaps), 0);
	assert_int_equal(count__of(&target__summary(bed.targets[1])->updates), 0);
	assert_int_equal(hosts[0].allowed, 0);
	assert_int_equal(hosts[0].denied, 7 * CHANGES);
	end();
}

static void bed__await_parts(unsigned int count)
{
	const uint64_t end_ns = monotonic_ns() + DEADLINE_NS;

	while (atomic_load(&parts) < count) {
		assert_true(sd_event_run(bed.context.event, 1000) >= 0);
		assert_true(monotonic_ns() < end_ns);
	}
}

/* The host changes while it is scraped, so the next scrape is due long after the update. */
/* In a lease the scrapes of @interval_ns look at the header often enough, or they do not. */
static void check_parts(uint64_t interval_ns, uint32_t lease_ms, unsigned int reads)
{
	enum { CHANGES = 3 };
	const struct summary *summary;
	unsigned int i;

	sink.takes_parts = true;
	lease = lease_ms;
	hosts__open();
	bed__open(MIRROR, interval_ns);
	bed__add(0);
	bed__add(1);
	bed__await(0, 1);
	bed__await(1, 1);
	summary = target__summary(bed.targets[0]);
	for (i = 0; i < CHANGES; i++) {
		atomic_store(&hosts[0].is_due, true);
		bed__await_parts(1 + i);
		bed__await(0, 2 + i);
	}
	assert_int_equal(atomic_load(&late_parts), 0);
	assert_int_equal(count__of(&summary->parts), CHANGES);
	assert_int_equal(count__of(&summary->gaps), 0);
	assert_int_equal(atomic_load(&part_reads), CHANGES * reads);

	/* A mirror that is not whole: the table is READ, and all values at once. */
	hosts[0].lies = true;
	atomic_store(&hosts[0].is_due, true);
	bed__await(0, 2 + CHANGES);
	assert_int_equal(atomic_load(&parts), CHANGES);
	end();
	sink.takes_parts = false;
	lease = LEASE_MS;
}

static void test_parts(void **state)
{
	check_parts(500000000, LEASE_MS, 1);
	check_parts(500000000, 1, 2);
}

static void test_lies(void **state)
{
	const struct summary *summary;

	begin(MIRROR);
	summary = target__summary(bed.targets[0]);
	hosts[0].lies = true;
	atomic_store(&hosts[0].is_due, true);
	bed__await(0, 2);
	assert_int_equal(count__of(&summary->updates), 1);
	assert_int_equal(count__of(&summary->told), 0);
	assert_int_equal(count__of(&summary->gaps), 1);
	/* The table that was READ is in the mirror now, and an honest update makes it the next. */
	hosts[0].lies = false;
	atomic_store(&hosts[0].is_due, true);
	bed__await(0, 3);
	assert_int_equal(count__of(&summary->told), 1);
	assert_int_equal(count__of(&summary->gaps), 1);
	/* Nothing of that concerns the other host. */
	atomic_store(&hosts[1].is_due, true);
	bed__await(1, 2);
	assert_int_equal(count__of(&target__summary(bed.targets[1])->told), 1);
	assert_int_equal(hosts[0].allowed, 0);
	end();
}

static void test_short(void **state)
{
	const struct summary *summary;

	begin(0);
	assert_int_equal(hosts[0].host.mirror.length, 0);
	end();

	/* The first table, which is READ, is longer than the mirror. */
	begin(4096);
	summary = target__summary(bed.targets[0]);
	assert_int_equal(le32toh(hosts[0].host.mirror.length), 4096);
	assert_int_equal(count__of(&summary->updates), 0);
	end();
}

static void test_flood(void **state)
{
	const struct summary *summary;

	hosts__open();
	hosts[0].floods = true;
	bed__open(MIRROR, 10000000);
	bed__add(0);
	bed__add(1);
	bed__await(0, 1);
	bed__await(1, 1);
	bed__run_scrapes(0, 50);
	summary = target__summary(bed.targets[0]);
	/* As many as there were receives, however fast the host is; and nothing was new. */
	assert_in_range(hosts[0].most, 1, 4);
	assert_true(count__of(&summary->updates) >= 50);
	assert_int_equal(count__of(&summary->told), 0);
	assert_int_equal(count__of(&summary->gaps), 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("each update becomes the next table, and no host reaches another mirror or memory beyond its own",
		     test_told),
		TEST("entries that an update adds are READ alone, before the next scrape",
		     test_parts),
		TEST("after a mirror with other bytes the table is READ, and the next update is taken",
		     test_lies),
		TEST("a controller offers a mirror of the wanted length, or none", test_short),
		TEST("a host that ends updates all the time waits for scrapes, and no scrape waits for it",
		     test_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

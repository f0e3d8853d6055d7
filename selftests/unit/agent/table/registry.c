// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches of the registry, with a control region that holds a few entries only and
 * leases that end on command.
 */
#include "registry_rooms.h"

static struct entry *add(struct registry *registry, const char *name)
{
	static uint32_t extents;
	struct entry *entry = calloc(1, sizeof(*entry));
	struct dart_error error;

	assert_non_null(entry);
	entry->name = strdup(name);
	entry->extent.id = ++extents;
	registry__begin(registry);
	assert_int_equal(registry__add(registry, entry, &error), 0);
	assert_int_equal(registry__end(registry, &error), 0);
	return entry;
}

/* A registry with the entries "a", "b" and "c", of which no more can be published. */
static int open_full(void **state)
{
	static struct registry registry;
	struct dart_error error;

	TAILQ_INIT(&leases.queue);
	memset(&published, 0, sizeof(published));
	published.capacity = 3;
	changes__open(&changes);
	assert_true(sd_event_new(&loop) >= 0);
	assert_int_equal(registry__open(&registry, loop, &changes, NULL,
					&exposure, &leases, &control_region,
					NULL, NULL, NULL, NULL, &counts,
					&error),
			 0);
	add(&registry, "a");
	add(&registry, "b");
	add(&registry, "c");
	*state = &registry;
	return 0;
}

static int close_all(void **state)
{
	published.count = 0;
	registry__close(*state);
	sd_event_unref(loop);
	return !TAILQ_EMPTY(&leases.queue);
}

/* In a batch: two entries, one too many even if one of the three is removed. */
static void stage_two(struct registry *registry)
{
	struct dart_error error;
	const char *name;
	struct entry *entry;

	for (name = "d"; name; name = *name == 'd' ? "e" : NULL) {
		entry = calloc(1, sizeof(*entry));
		assert_non_null(entry);
		entry->name = strdup(name);
		entry->extent.id = 1000 + *name;
		assert_int_equal(registry__add(registry, entry, &error), 0);
	}
}

static void test_ended_entry_in_batch_that_does_not_fit(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;

	registry__begin(registry);
	registry__entry_ended(registry, registry__find(registry, "b"));
	stage_two(registry);
	assert_int_equal(registry__end(registry, &error), -ENOSPC);
	assert_false(is_published("b"));
	assert_true(is_published("a") && is_published("c"));
	assert_null(registry__find(registry, "d"));
	end_leases();
	assert_int_equal(published.count, 2);
}

static void test_removal_in_batch_that_does_not_fit(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;

	registry__begin(registry);
	registry__take_out(registry, registry__find(registry, "b"));
	stage_two(registry);
	assert_int_equal(registry__end(registry, &error), -ENOSPC);
	assert_int_equal(published.count, 2);
	assert_false(is_published("b"));
	end_leases();
}

static void test_ended_entry_that_cannot_be_published(void **state)
{
	struct registry *registry = *state;

	published.capacity = 0;
	registry__entry_ended(registry, registry__find(registry, "b"));
	run();
	assert_null(registry__find(registry, "b"));
	assert_true(is_published("b"));
	end_leases();
	end_leases();
	assert_true(is_published("b"));

	published.capacity = 3;
	end_leases();
	assert_false(is_published("b"));
	assert_int_equal(published.count, 2);
	end_leases();
}

static void test_removal_that_cannot_be_published(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;

	published.capacity = 0;
	assert_int_equal(registry__remove(registry,
					  registry__find(registry, "b"),
					  &error),
			 -ENOSPC);
	assert_non_null(registry__find(registry, "b"));
	assert_true(TAILQ_EMPTY(&leases.queue));
	published.capacity = 3;
	assert_int_equal(registry__remove(registry,
					  registry__find(registry, "b"),
					  &error),
			 0);
	assert_int_equal(published.count, 2);
}

static void test_removal_without_memory(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;

	published.prepare_error = ENOMEM;
	assert_int_equal(registry__remove(registry,
					  registry__find(registry, "b"),
					  &error),
			 0);
	assert_false(is_published("b"));
}

static void test_ends_of_one_round(void **state)
{
	struct registry *registry = *state;
	uint64_t generation = published.generation;

	registry__entry_ended(registry, registry__find(registry, "a"));
	registry__entry_ended(registry, registry__find(registry, "b"));
	registry__entry_ended(registry, registry__find(registry, "c"));
	assert_true(published.generation == generation);
	run();
	assert_true(published.generation == generation + 1);
	assert_int_equal(published.count, 0);
	assert_null(registry__find(registry, "a"));
	end_leases();
	assert_true(TAILQ_EMPTY(&registry->retired));
}

static void test_end_before_batch(void **state)
{
	struct registry *registry = *state;
	uint64_t generation = published.generation;

	registry__entry_ended(registry, registry__find(registry, "b"));
	add(registry, "b");
	assert_true(published.generation == generation + 2);
	assert_int_equal(published.count, 3);
	run();
	assert_true(published.generation == generation + 2);
	end_leases();
	assert_true(is_published("b"));
}

static void test_leases_of_page_exposure(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;
	uint64_t generation;

	assert_int_equal(registry__remove(registry,
					  registry__find(registry, "a"),
					  &error),
			 0);
	assert_int_equal(registry__remove(registry,
					  registry__find(registry, "b"),
					  &error),
			 0);
	generation = published.generation;
	published.is_stale = true;
	end_leases();
	run();
	assert_true(published.generation == generation);
	end_leases();
	assert_true(published.generation == generation + 1);
	published.is_stale = false;
	assert_true(TAILQ_EMPTY(&leases.queue));
}

static void test_sources_by_key(void **state)
{
	struct registry *registry = *state;
	struct selector_key key = {};
	struct dart_error error;
	struct entry *entry;
	uint32_t i;

	published.capacity = NAMES_MAX;
	for (i = 0; i < 8; i++) {
		entry = calloc(1, sizeof(*entry));
		assert_non_null(entry);
		assert_true(asprintf(&entry->name, "source%u", i) > 0);
		entry->kind = DART_CONTROL_ENTRY_SOURCE;
		entry->key = (struct selector_key){ i % 2, i % 4, i % 8, i };
		entry->extent.id = 2000 + i;
		registry__begin(registry);
		assert_int_equal(registry__add(registry, entry, &error), 0);
		assert_int_equal(registry__end(registry, &error), 0);
	}
	for (i = 0; i < 8; i++) {
		key = (struct selector_key){ i % 2, i % 4, i % 8, i };
		entry = registry__find_source(registry, &key);
		assert_non_null(entry);
		assert_int_equal(entry->extent.id, 2000 + i);
		key.ifindex++;
		assert_null(registry__find_source(registry, &key));
	}

	key = (struct selector_key){ 1, 3, 7, 7 };
	entry = registry__find_source(registry, &key);
	assert_int_equal(registry__remove(registry, entry, &error), 0);
	assert_null(registry__find_source(registry, &key));
	assert_ptr_equal(registry__find_leased_source(registry, &key), entry);
	registry__extent_ended(registry, entry->extent.id);
	assert_null(registry__find_leased_source(registry, &key));
	end_leases();

	key = (struct selector_key){ 0, 2, 6, 6 };
	registry__entry_ended(registry, registry__find_source(registry, &key));
	assert_null(registry__find_source(registry, &key));
	run();
	end_leases();
}

static void test_cpus(void **state)
{
	struct registry *registry = *state;
	struct entry *record = registry__find(registry, "b");
	struct entry *other = registry__find(registry, "c");
	struct entry *leaving = registry__find(registry, "a");
	uint64_t generation;
	struct dart_error error;

	record->cpu_rows = 8;
	record->extent.copies = 4;
	leaving->cpu_rows = 8;
	leaving->extent.copies = 4;
	other->extent.copies = 8;
	assert_int_equal(registry__remove(registry, leaving, &error), 0);
	generation = published.generation;
	cpus_online = 5;
	registry__cpus_changed(registry);
	cpus_online = 4;
	assert_int_equal(record->extent.copies, 5);
	assert_int_equal(leaving->extent.copies, 5);
	assert_int_equal(other->extent.copies, 8);
	assert_int_equal(published.generation, generation + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE(
			"an entry that ends in a batch that does not fit leaves the table before its keys become invalid",
			test_ended_entry_in_batch_that_does_not_fit, open_full,
			close_all),
		TEST_FIXTURE(
			"a removal in a batch that does not fit is published without the additions",
			test_removal_in_batch_that_does_not_fit, open_full,
			close_all),
		TEST_FIXTURE(
			"an ended entry whose removal cannot be published keeps its keys until a later try succeeds",
			test_ended_entry_that_cannot_be_published, open_full,
			close_all),
		TEST_FIXTURE(
			"an entry whose removal cannot be published on request comes back",
			test_removal_that_cannot_be_published, open_full,
			close_all),
		TEST_FIXTURE(
			"a removal is published although no memory region can be registered",
			test_removal_without_memory, open_full, close_all),
		TEST_FIXTURE(
			"entries that end in one round of the event loop leave the table in one generation",
			test_ends_of_one_round, open_full, close_all),
		TEST_FIXTURE(
			"an entry that has ended leaves the table before the next batch",
			test_end_before_batch, open_full, close_all),
		TEST_FIXTURE(
			"leases that end together change to another page exposure once",
			test_leases_of_page_exposure, open_full, close_all),
		TEST_FIXTURE(
			"sources are found by their keys, in the table or on lease, until they end",
			test_sources_by_key, open_full, close_all),
		TEST_FIXTURE(
			"records have as many rows as CPUs are online, also those on lease, in one generation",
			test_cpus, open_full, close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

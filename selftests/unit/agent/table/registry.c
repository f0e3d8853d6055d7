// SPDX-License-Identifier: GPL-2.0-only
/* Batches of the registry, in a table that has room for few entries, or for none more. */
#include <unistd.h>

#include "agent/schema/schema_json.h"
#include "registry_module.h"

/* Bytes of a table: room for a few entries, see stage_many(). */
#define ROOM 16384

static struct entry *add(struct registry *registry, const char *name)
{
	json_t *names = json_pack("[s]", "hits");
	struct dart_error error;
	struct entry *entry;

	assert_int_equal(registry__add_counters(registry, name, names, &entry, &error), 0);
	json_decref(names);
	return entry;
}

static struct entry *find(const struct registry *registry, const char *name)
{
	return inventory__find(&registry->inventory, name);
}

/* A registry with the entries "a", "b" and "c". */
static int open_of(void **state, enum dart_control_exposure mode)
{
	open_registry(mode, ROOM);
	add(&registry, "a");
	add(&registry, "b");
	add(&registry, "c");
	*state = &registry;
	return 0;
}

static int open_exact(void **state)
{
	return open_of(state, DART_CONTROL_EXPOSURE_EXACT);
}

static int open_page(void **state)
{
	return open_of(state, DART_CONTROL_EXPOSURE_PAGE);
}

static int close_all(void **state)
{
	close_registry();
	return 0;
}

/* In a batch: more entries than the table has room for, even without the first three. */
static void stage_many(struct registry *registry)
{
	char name[24];
	int i;

	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "many-%d", i);
		add(registry, name);
	}
}

static void test_ended_entry_in_batch_that_does_not_fit(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;

	registry__begin(registry);
	registry__entry_ended(registry, find(registry, "b"));
	stage_many(registry);
	assert_int_equal(registry__end(registry, &error), -ENOSPC);
	assert_false(is_published("b"));
	assert_true(is_published("a") && is_published("c"));
	assert_null(find(registry, "many-0"));
	end_leases();
	assert_int_equal(published_count(), 2);
}

static void test_removal_in_batch_that_does_not_fit(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;

	registry__begin(registry);
	registry__take_out(registry, find(registry, "b"));
	stage_many(registry);
	assert_int_equal(registry__end(registry, &error), -ENOSPC);
	assert_int_equal(published_count(), 2);
	assert_false(is_published("b"));
	end_leases();
}

static void test_ended_entry_that_cannot_be_published(void **state)
{
	struct registry *registry = *state;

	refuse_publications(true);
	registry__entry_ended(registry, find(registry, "b"));
	run();
	assert_null(find(registry, "b"));
	assert_true(is_published("b"));
	end_leases();
	end_leases();
	assert_true(is_published("b"));

	refuse_publications(false);
	end_leases();
	assert_false(is_published("b"));
	assert_int_equal(published_count(), 2);
	end_leases();
}

static void test_removal_that_cannot_be_published(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;

	refuse_publications(true);
	assert_int_equal(registry__remove(registry, find(registry, "b"), &error), -ENOSPC);
	assert_non_null(find(registry, "b"));
	assert_true(TAILQ_EMPTY(&leases.queue));
	refuse_publications(false);
	assert_int_equal(registry__remove(registry, find(registry, "b"), &error), 0);
	assert_int_equal(published_count(), 2);
}

static void test_removal_without_memory(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;

	/* Another memory region over the pages that remain is due, and cannot be made. */
	assert_int_equal(registry__remove(registry, find(registry, "a"), &error), 0);
	end_leases();
	assert_true(exposure__is_stale(&exposure));
	module.info_error = ENOMEM;
	assert_int_equal(registry__remove(registry, find(registry, "b"), &error), 0);
	assert_false(is_published("b"));
	assert_true(exposure__is_stale(&exposure));
	module.info_error = 0;
}

static void test_ends_of_one_round(void **state)
{
	struct registry *registry = *state;
	uint64_t generation = control_region.generation;

	registry__entry_ended(registry, find(registry, "a"));
	registry__entry_ended(registry, find(registry, "b"));
	registry__entry_ended(registry, find(registry, "c"));
	assert_true(control_region.generation == generation);
	run();
	assert_true(control_region.generation == generation + 1);
	assert_int_equal(published_count(), 0);
	assert_null(find(registry, "a"));
	end_leases();
	assert_true(TAILQ_EMPTY(&registry->inventory.retired));
}

static void test_end_before_batch(void **state)
{
	struct registry *registry = *state;
	uint64_t generation = control_region.generation;

	registry__entry_ended(registry, find(registry, "b"));
	add(registry, "b");
	assert_true(control_region.generation == generation + 2);
	assert_int_equal(published_count(), 3);
	run();
	assert_true(control_region.generation == generation + 2);
	end_leases();
	assert_true(is_published("b"));
}

static void test_leases_of_page_exposure(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;
	uint64_t generation;

	assert_int_equal(registry__remove(registry, find(registry, "a"), &error), 0);
	assert_int_equal(registry__remove(registry, find(registry, "b"), &error), 0);
	generation = control_region.generation;
	end_leases();
	run();
	assert_true(control_region.generation == generation);
	end_leases();
	assert_true(control_region.generation == generation + 1);
	assert_false(exposure__is_stale(&exposure));
	/* The lease of the page exposure that was replaced is the last. */
	end_leases();
	assert_true(TAILQ_EMPTY(&leases.queue));
}

static void add_source(struct registry *registry, uint32_t i)
{
	json_t *fields = json_pack("[s]", "hits");
	struct dart_error error;
	struct entry *entry;
	char name[24];

	snprintf(name, sizeof(name), "source%u", i);
	entry = entry__new(DART_CONTROL_ENTRY_SOURCE, DART_CONTROL_LIFETIME_IMMOBILE,
			   DART_CONTROL_COPIES_CPU, name);
	assert_non_null(entry);
	entry->key = (struct selector_key){ i % 2, i % 4, i % 8, i };
	entry->extent.id = 2000 + i;
	entry->extent.data = (EXTENTS_MAX + i) * EXTENT_BYTES;
	entry->extent.length = 8;
	entry->extent.stride = STRIDE;
	entry->extent.copies = region.cpus;
	assert_int_equal(schema_json__new_counters(name, fields, &entry->own_schema, &error), 0);
	json_decref(fields);
	assert_int_equal(entry__complete(entry, &region, 0, &entry, &error), 0);
	registry__begin(registry);
	assert_int_equal(registry__add(registry, entry, &error), 0);
	assert_int_equal(registry__end(registry, &error), 0);
}

static void test_sources_by_key(void **state)
{
	struct registry *registry = *state;
	struct selector_key key = {};
	struct dart_error error;
	struct entry *entry;
	uint32_t i;

	for (i = 0; i < 8; i++)
		add_source(registry, i);
	for (i = 0; i < 8; i++) {
		key = (struct selector_key){ i % 2, i % 4, i % 8, i };
		entry = inventory__find_source(&registry->inventory, &key);
		assert_non_null(entry);
		assert_int_equal(entry->extent.id, 2000 + i);
		key.ifindex++;
		assert_null(inventory__find_source(&registry->inventory, &key));
	}

	key = (struct selector_key){ 1, 3, 7, 7 };
	entry = inventory__find_source(&registry->inventory, &key);
	assert_int_equal(registry__remove(registry, entry, &error), 0);
	assert_null(inventory__find_source(&registry->inventory, &key));
	assert_ptr_equal(inventory__find_leased_source(&registry->inventory, &key), entry);
	registry__extent_ended(registry, entry->extent.id);
	assert_null(inventory__find_leased_source(&registry->inventory, &key));
	end_leases();

	key = (struct selector_key){ 0, 2, 6, 6 };
	registry__entry_ended(registry, inventory__find_source(&registry->inventory, &key));
	assert_null(inventory__find_source(&registry->inventory, &key));
	run();
	end_leases();
}

static void test_cpus(void **state)
{
	struct registry *registry = *state;
	struct entry *record = find(registry, "b");
	struct entry *other = find(registry, "c");
	struct entry *leaving = find(registry, "a");
	const uint32_t online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t generation;
	struct dart_error error;

	record->cpu_rows = online + 2;
	record->extent.copies = online + 1;
	leaving->cpu_rows = online + 2;
	leaving->extent.copies = online + 1;
	assert_int_equal(registry__remove(registry, leaving, &error), 0);
	generation = control_region.generation;
	registry__cpus_changed(registry);
	assert_int_equal(record->extent.copies, online);
	assert_int_equal(leaving->extent.copies, online);
	assert_int_equal(other->extent.copies, region.cpus);
	assert_int_equal(control_region.generation, generation + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE(
			"an entry that ends in a batch that does not fit leaves the table before its keys become invalid",
			test_ended_entry_in_batch_that_does_not_fit, open_exact, close_all),
		TEST_FIXTURE(
			"a removal in a batch that does not fit is published without the additions",
			test_removal_in_batch_that_does_not_fit, open_exact, close_all),
		TEST_FIXTURE(
			"an ended entry whose removal cannot be published keeps its keys until a later try succeeds",
			test_ended_entry_that_cannot_be_published, open_exact, close_all),
		TEST_FIXTURE("an entry whose removal cannot be published on request comes back",
			     test_removal_that_cannot_be_published, open_exact, close_all),
		TEST_FIXTURE("a removal is published although no memory region can be registered",
			     test_removal_without_memory, open_page, close_all),
		TEST_FIXTURE(
			"entries that end in one round of the event loop leave the table in one generation",
			test_ends_of_one_round, open_exact, close_all),
		TEST_FIXTURE("an entry that has ended leaves the table before the next batch",
			     test_end_before_batch, open_exact, close_all),
		TEST_FIXTURE("leases that end together change to another page exposure once",
			     test_leases_of_page_exposure, open_page, close_all),
		TEST_FIXTURE(
			"sources are found by their keys, in the table or on lease, until they end",
			test_sources_by_key, open_exact, close_all),
		TEST_FIXTURE(
			"records have as many rows as CPUs are online, also those on lease, in one generation",
			test_cpus, open_exact, close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

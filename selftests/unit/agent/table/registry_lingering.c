// SPDX-License-Identifier: GPL-2.0-only
/* Entries that linger in the table after their objects have ended: for how long, and how many. */
#include "registry_slices.h"

static void end(struct registry *registry, const char *name)
{
	registry__entry_ended(registry, inventory__find(&registry->inventory, name));
	run();
}

static uint32_t published_as(const char *name)
{
	struct dart_table *table = published();
	uint32_t i, count = 0;

	for (i = 0; i < table->entry_count; i++)
		count += !strcmp(table->entries[i].name, name);
	dart_table__free(table);
	return count;
}

static void test_name_of_lingering(void **state)
{
	struct registry *registry = *state;
	uint64_t generation;

	begin(registry, 0, "first");
	begin(registry, 0, "other");
	end(registry, "first");
	/* A table that is written again still lists it. */
	registry__clock_was_set(registry);
	assert_int_equal(published_as("first"), 1);
	assert_int_equal(counts.lingering, 1);
	generation = control_region.generation;
	begin(registry, 0, "first");
	assert_int_equal(control_region.generation, generation + 1);
	assert_int_equal(published_as("first"), 1);
	assert_int_equal(counts.lingering, 0);
	assert_non_null(inventory__find(&registry->inventory, "first"));
	end_leases();
	assert_int_equal(published_count(), 2);
}

/* Containers that go on to come and go do not keep earlier ones in the table. */
static void test_others_end(void **state)
{
	struct registry *registry = *state;

	begin(registry, 0, "first");
	begin(registry, 0, "second");
	end(registry, "first");
	TAILQ_FIRST(&registry->lingering.entries)->ended_us = 0;
	end(registry, "second");
	assert_false(is_published("first"));
	assert_true(is_published("second"));
	assert_int_equal(counts.lingering, 1);
}

/* The slice @name of the user writes @value to its first byte, and ends. */
static void begin_and_end(struct registry *registry, uid_t uid, const char *name, uint8_t value)
{
	struct entry *entry;
	uint8_t *byte;

	begin(registry, uid, name);
	entry = inventory__find(&registry->inventory, name);
	byte = (uint8_t *)registry->rooms.region->memory + entry->place.first;
	assert_int_equal(mprotect(byte, PAGE, PROT_READ | PROT_WRITE), 0);
	*byte = value;
	end(registry, name);
}

/* Where controllers find the slice, from the start of the region, and since when it is listed. */
static uint64_t place_of(const char *name, uint64_t *since)
{
	struct dart_table *table = published();
	const struct dart_entry *entry = dart_table__find(table, name);
	uint64_t address;

	assert_non_null(entry);
	address = entry->ranges[0].address;
	*since = entry->since;
	dart_table__free(table);
	return address - exposure__address(&exposure, region.memory);
}

static void test_final_bytes(void **state)
{
	struct registry *registry = *state;
	uint64_t one, two, three, before, since, generation;

	begin_and_end(registry, 1000, "one", 1);
	begin_and_end(registry, 0, "two", 2);
	one = place_of("one", &before);
	generation = control_region.generation;
	gather_finals();
	assert_int_equal(control_region.generation, generation + 1);
	assert_int_equal(counts.lingering, 2);
	assert_int_not_equal(place_of("one", &since), one);
	/* Side by side, with their values, and the entries are the same to controllers. */
	assert_int_equal(since, before);
	one = place_of("one", &since);
	two = place_of("two", &since);
	assert_int_equal(two, one + 64);
	assert_int_equal(region.memory[one], 1);
	assert_int_equal(region.memory[two], 2);
	/* Their pages are free after a lease. */
	assert_int_equal(__builtin_popcountll(module.lent), 3);
	end_leases();
	assert_int_equal(__builtin_popcountll(module.lent), 1);
	assert_int_equal(place_of("one", &since), one);
	assert_int_equal(published_count(), 2);

	/* The bytes of a slice that left are free for another one after a lease, not before. */
	begin(registry, 1000, "one");
	begin_and_end(registry, 0, "three", 3);
	gather_finals();
	three = place_of("three", &since);
	assert_int_equal(three, two + 64);
	assert_int_equal(region.memory[one], 1);
	end_leases();
	begin_and_end(registry, 0, "four", 4);
	gather_finals();
	assert_int_equal(place_of("four", &since), one);
	assert_int_equal(region.memory[one], 4);
	/* Nothing is left but the slice that goes on. */
	end_lingering();
	end_leases();
	assert_int_equal(published_count(), 1);
	assert_int_equal(counts.lingering, 0);
	assert_int_equal(__builtin_popcountll(module.lent), 1);
}

static void test_final_bytes_in_full_table(void **state)
{
	struct registry *registry = *state;

	begin_and_end(registry, 0, "one", 1);
	refuse_publications(true);
	gather_finals();
	/* It left early, but the published table still lists it until another try. */
	assert_true(is_published("one"));
	assert_int_equal(counts.lingering, 0);
	refuse_publications(false);
	end_leases();
	assert_false(is_published("one"));
	end_leases();
	assert_int_equal(module.lent, 0);
}

static void test_lingering_of_user(void **state)
{
	struct registry *registry = *state;
	const uint64_t cut_short = counts.cut_short;
	char name[24];
	int i;

	/* A quarter of the entries of a user: two. */
	quotas__limit(&registry->inventory.quotas, 8, 0);
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "their-%d", i);
		begin(registry, 1000, name);
		snprintf(name, sizeof(name), "own-%d", i);
		begin(registry, 0, name);
	}
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "own-%d", i);
		end(registry, name);
		snprintf(name, sizeof(name), "their-%d", i);
		end(registry, name);
	}
	assert_int_equal(counts.lingering, 6);
	assert_int_equal(counts.cut_short, cut_short + 2);
	/* The user's oldest have left, and no entry of another user. */
	assert_false(is_published("their-0") || is_published("their-1"));
	assert_true(is_published("their-2") && is_published("their-3"));
	assert_true(is_published("own-0"));
	end_lingering();
	end_leases();
	assert_null(SLIST_FIRST(&registry->inventory.quotas.users));
	assert_int_equal(module.lent, 0);
}

static void test_lingering_in_full_table(void **state)
{
	struct registry *registry = *state;
	const uint64_t cut_short = counts.cut_short;
	struct dart_error error;

	begin(registry, 0, "first");
	end(registry, "first");
	refuse_publications(true);
	assert_int_equal(ask(registry, 0, "second", -1, 0, 64, &error), -ENOSPC);
	refuse_publications(false);
	assert_int_equal(counts.cut_short, cut_short + 1);
	assert_int_equal(counts.lingering, 0);
	end_leases();
	assert_int_equal(published_count(), 0);
	assert_int_equal(ask(registry, 0, "second", -1, 0, 64, &error), 0);
}

static void test_duration(void **state)
{
	struct audience_member fast = {}, slow = {}, silent = {}, hostile = {};
	struct lingering *lingering = &registry.lingering;
	struct audience *audience = &control_region.audience;

	assert_int_equal(lingering__duration_ms(lingering), LEASE_MS);
	audience__join(audience, &silent, 0);
	audience__join(audience, &fast, 10);
	assert_int_equal(lingering__duration_ms(lingering), LEASE_MS);
	audience__join(audience, &slow, 60000);
	assert_int_equal(lingering__duration_ms(lingering), 120000);
	audience__join(audience, &hostile, UINT32_MAX);
	assert_int_equal(lingering__duration_ms(lingering), LINGERING_MAX_MS);
	audience__leave(&hostile);
	audience__leave(&silent);
	assert_int_equal(lingering__duration_ms(lingering), 120000);
	audience__leave(&slow);
	audience__leave(&slow);
	assert_int_equal(lingering__duration_ms(lingering), LEASE_MS);
	audience__leave(&fast);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE(
			"an ended slice stays in the table, also in a new one, until a slice with its name is added",
			test_name_of_lingering, open_empty, close_empty),
		TEST_FIXTURE("an entry leaves in time though others end", test_others_end,
			     open_empty, close_empty),
		TEST_FIXTURE(
			"the final bytes of ended slices are copied side by side, and their places are used again after a lease",
			test_final_bytes, open_empty, close_empty),
		TEST_FIXTURE("a full table keeps an ended slice where it was until it leaves",
			     test_final_bytes_in_full_table, open_empty, close_empty),
		TEST_FIXTURE(
			"the entries of a user linger up to a quarter of his quota; then his oldest leave, and are counted",
			test_lingering_of_user, open_empty, close_empty),
		TEST_FIXTURE("lingering entries make room in a full table",
			     test_lingering_in_full_table, open_empty, close_empty),
		TEST_FIXTURE(
			"entries linger for two intervals of the slowest controller, between a lease and ten minutes",
			test_duration, open_empty, close_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

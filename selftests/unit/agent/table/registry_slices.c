// SPDX-License-Identifier: GPL-2.0-only
/* Slices that share memory: where they may lie, who may add them, when they end. */
#include <fcntl.h>
#include <unistd.h>

#include "registry_slices.h"

static void test_places(void **state)
{
	static const struct {
		uint64_t offset;
		uint32_t length;
		int ret;
		const char *says;
	} cases[] = {
		{ 64, 64, 0, "" },
		{ 256, 100, 0, "" },
		{ 128, 128, 0, "" },
		{ 32, 8, -EINVAL, "the offset 32 is not a multiple of 64" },
		{ 0, 64, -EEXIST, "bytes 0 to 63 of this memory are registered already, as 'first'" },
		{ 320, 8, -EEXIST, "as 'case-1'" },
		{ 448, 4096, 0, "" },
		{ 384, 128, -EEXIST, "bytes 448 to 4543" },
		{ MEMORY - 64, 64, 0, "" },
		{ MEMORY - 128, 65, -EEXIST, "as 'case-8'" },
		{ MEMORY - 128, 129, -EINVAL, "129 bytes at offset 8064 end behind the memory, which has 8192 bytes" },
		{ MEMORY, 1, -EINVAL, "end behind the memory" },
		{ 0xffffffffffffffc0, 64, -EINVAL, "end behind the memory" },
		{ 0x100000000, 8, -EINVAL, "end behind the memory" },
	};
	struct registry *registry = *state;
	int fd = begin(registry, 0, "first");
	struct dart_error error;
	char name[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(name, sizeof(name), "case-%zu", i);
		assert_int_equal(ask(registry, 0, name, fd, cases[i].offset,
				     cases[i].length, &error),
				 cases[i].ret);
		assert_int_equal(is_published(name), !cases[i].ret);
		if (cases[i].ret && !strstr(error.text, cases[i].says))
			fail_msg("%s: %s", name, error.text);
	}
	assert_int_equal(module.lent, 1 << fd);
}

static void test_size(void **state)
{
	struct registry *registry = *state;
	struct slice_request asked = { .name = "a", .fd = -1 };
	const uint64_t wrong[] = { 0, 1, 4095, 4097, 257 * 4096, 1ULL << 63 };
	struct dart_error error;
	struct entry *entry;
	int fd;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		asked.schema = schema_of(8);
		asked.has_memory = true;
		asked.memory = wrong[i];
		assert_int_equal(registry__add_slice(registry, &asked, &fd, &entry, &error),
				 -EINVAL);
		assert_non_null(strstr(error.text, "1 to 256 whole pages of 4096"));
	}
	asked.memory = 4096;
	asked.offset = 4096;
	asked.schema = schema_of(8);
	assert_int_equal(registry__add_slice(registry, &asked, &fd, &entry, &error), -EINVAL);
	assert_int_equal(module.lent, 0);

	/* By default the memory extends to the end of the slice at its offset. */
	asked.has_memory = false;
	asked.schema = schema_of(8);
	assert_int_equal(registry__add_slice(registry, &asked, &fd, &entry, &error), 0);
	assert_int_equal(entry->arena->length, 8192);
	asked.name = "b";
	asked.offset = 1ULL << 62;
	asked.schema = schema_of(8);
	assert_int_equal(registry__add_slice(registry, &asked, &fd, &entry, &error), -EINVAL);

	/* With a descriptor, its memory sets the size. */
	asked.fd = 1;
	asked.offset = 64;
	asked.has_memory = true;
	asked.memory = 4096;
	asked.schema = schema_of(8);
	assert_int_equal(registry__add_slice(registry, &asked, &fd, &entry, &error), -EINVAL);
	assert_non_null(strstr(error.text, "leave it out"));
}

static void test_asked_again(void **state)
{
	struct registry *registry = *state;
	int fd = begin(registry, 1000, "first");
	struct dart_error error;
	uint64_t generation;

	assert_int_equal(ask(registry, 1000, "other", fd, 64, 64, &error), 0);
	generation = control_region.generation;
	assert_int_equal(ask(registry, 1000, "other", fd, 64, 64, &error), 0);
	assert_int_equal(control_region.generation, generation);
	assert_int_equal(ask(registry, 1000, "first", fd, 64, 64, &error), -EEXIST);
	assert_int_equal(ask(registry, 1000, "other", fd, 64, 63, &error), -EEXIST);
	assert_int_equal(ask(registry, 1000, "other", fd, 128, 64, &error), -EEXIST);
	assert_int_equal(control_region.generation, generation);
}

/* Asks for a slice like the one at @place. */
static int ask_like(struct registry *registry, uint64_t place, uid_t uid, const char *name,
		    uint64_t offset, struct dart_error *error)
{
	struct slice_request asked = { .name = name, .owner = uid, .fd = -1, .offset = offset };
	struct entry *entry;
	const int ret = registry__add_like(registry, place, &asked, &entry, error);

	if (!ret)
		inventory__set_owner(&registry->inventory, entry, uid);
	return ret;
}

static void test_like(void **state)
{
	struct registry *registry = *state;
	const int fd = begin(registry, 1000, "first");
	struct entry *first = inventory__find(&registry->inventory, "first"), *second;
	const uint64_t place = registry__note_place(first);
	struct dart_error error;
	uint64_t generation;

	assert_int_not_equal(place, 0);
	assert_int_equal(ask_like(registry, place, 1000, "second", 64, &error), 0);
	assert_true(is_published("second"));
	second = inventory__find(&registry->inventory, "second");
	assert_true(dart_schema__equals(second->schema, first->schema));
	assert_ptr_not_equal(second->schema, first->schema);
	assert_ptr_equal(second->arena, first->arena);
	assert_int_equal(second->place.first, first->place.first + 64);
	assert_int_equal(second->owner, 1000);
	/* A slice can be like one that was added so. */
	assert_int_equal(ask_like(registry, registry__note_place(second), 1000, "third", 128, &error),
			 0);

	generation = control_region.generation;
	assert_int_equal(ask_like(registry, place, 1000, "second", 64, &error), 0);
	assert_int_equal(ask_like(registry, place, 1000, "first", 0, &error), 0);
	assert_int_equal(ask_like(registry, place, 1000, "second", 192, &error), -EEXIST);
	assert_int_equal(ask_like(registry, place, 1000, "other", 64, &error), -EEXIST);
	assert_int_equal(ask_like(registry, place, 1000, "a b", 192, &error), -EINVAL);
	assert_int_equal(ask_like(registry, place, 1000, "", 192, &error), -EINVAL);
	assert_int_equal(ask_like(registry, place, 1000, "other", 224, &error), -EINVAL);
	assert_int_equal(ask_like(registry, place, 1000, "other", MEMORY, &error), -EINVAL);
	assert_int_equal(ask_like(registry, place, 1000, "other", 1ULL << 63, &error), -EINVAL);
	/* The slice belongs to another user, or does not exist. */
	assert_int_equal(ask_like(registry, place, 1001, "other", 192, &error), -ENOENT);
	assert_int_equal(ask_like(registry, place, 0, "other", 192, &error), -ENOENT);
	assert_int_equal(ask_like(registry, 0, 1000, "other", 192, &error), -ENOENT);
	assert_int_equal(ask_like(registry, place + 192, 1000, "other", 192, &error), -ENOENT);
	assert_int_equal(ask_like(registry, place + (1ULL << 32), 1000, "other", 192, &error),
			 -ENOENT);
	assert_int_equal(control_region.generation, generation);

	assert_int_equal(registry__remove(registry, first, &error), 0);
	assert_int_equal(ask_like(registry, place, 1000, "other", 192, &error), -ENOENT);
	end_leases();
	assert_int_equal(ask_like(registry, place, 1000, "other", 192, &error), -ENOENT);
	/* The schema of the second one does not end with that of the first. */
	assert_int_equal(ask_like(registry, registry__note_place(second), 1000, "other", 0, &error),
			 0);
	assert_true(is_published("other"));
	assert_int_equal(module.lent, 1 << fd);
}

static void test_users(void **state)
{
	struct registry *registry = *state;
	int fd = begin(registry, 1000, "first");
	struct dart_error error;

	assert_int_equal(ask(registry, 1001, "theirs", fd, 64, 64, &error), -EPERM);
	assert_string_equal(error.text,
			    "this memory has slices of user 1000, who alone can add others");
	assert_int_equal(ask(registry, 0, "theirs", fd, 64, 64, &error), -EPERM);
	/* The memory changed hands. */
	assert_int_equal(registry__remove(registry, inventory__find(&registry->inventory, "first"),
					  &error),
			 0);
	assert_int_equal(ask(registry, 1001, "theirs", fd, 64, 64, &error), 0);
	assert_int_equal(ask(registry, 1000, "first", fd, 0, 64, &error), -EPERM);
}

static void test_quotas(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;
	int fd;

	quotas__limit(&registry->inventory.quotas, 3, 1);
	fd = begin(registry, 1000, "a");
	/* 128 times the 8 KiB of all are 1 MiB: the memory counts once. */
	assert_int_equal(SLIST_FIRST(&registry->inventory.quotas.users)->bytes, MEMORY);
	assert_int_equal(ask(registry, 1000, "b", fd, 64, 64, &error), 0);
	assert_int_equal(SLIST_FIRST(&registry->inventory.quotas.users)->bytes, MEMORY);
	assert_int_equal(ask(registry, 1000, "c", fd, 128, 64, &error), 0);
	assert_int_equal(ask(registry, 1000, "d", fd, 192, 64, &error), -EDQUOT);
	/* A repeated request is granted again. */
	assert_int_equal(ask(registry, 1000, "c", fd, 128, 64, &error), 0);

	/* Entries and memory count until the last lease ends. */
	assert_int_equal(
		registry__remove(registry, inventory__find(&registry->inventory, "a"), &error), 0);
	assert_int_equal(ask(registry, 1000, "d", fd, 192, 64, &error), -EDQUOT);
	end_leases();
	assert_int_equal(ask(registry, 1000, "d", fd, 192, 64, &error), 0);

	/* Memory from an earlier agent counts with its first slice. */
	module.pages_adopted = 257;
	assert_int_equal(ask(registry, 1001, "large", 9, 0, 64, &error), -EDQUOT);
	assert_int_equal(module.lent, 1 << fd);

	/* Memory that changes hands is the other user's from then on. */
	module.pages_adopted = 256;
	assert_int_equal(ask(registry, 1001, "large", 9, 0, 64, &error), 0);
	assert_int_equal(registry__remove(registry, inventory__find(&registry->inventory, "large"),
					  &error),
			 0);
	begin(registry, 1003, "small");
	assert_int_equal(ask(registry, 1003, "large", 9, 0, 64, &error), -EDQUOT);
	assert_int_equal(ask(registry, 1003, "beside", 9, 64, 64, &error), -EDQUOT);
	assert_non_null(strstr(error.text, "more than the 1 MiB"));
	assert_int_equal(ask(registry, 1002, "large", 9, 0, 64, &error), 0);
}

static void test_removed_one_by_one(void **state)
{
	struct registry *registry = *state;
	int fd = begin(registry, 0, "first");
	struct dart_error error;
	struct entry *entry;

	assert_int_equal(ask(registry, 0, "second", fd, 64, 64, &error), 0);
	assert_int_equal(registry__find_slice(registry, "first", fd, &entry, &error), 0);
	assert_int_equal(registry__remove(registry, entry, &error), 0);
	assert_true(is_published("second"));
	assert_int_equal(registry__find_slice(registry, "first", fd, &entry, &error), -ENOENT);
	/* The process is writing to the bytes that controllers may still READ. */
	assert_int_equal(ask(registry, 0, "third", fd, 0, 32, &error), -EBUSY);
	assert_non_null(strstr(error.text, "bytes 0 to 63 of this memory are still on lease"));
	/* The same slice comes back. */
	assert_int_equal(ask(registry, 0, "again", fd, 0, 64, &error), 0);
	assert_int_equal(registry__remove(registry, inventory__find(&registry->inventory, "again"),
					  &error),
			 0);
	end_leases();
	assert_int_equal(ask(registry, 0, "third", fd, 0, 32, &error), 0);

	/* The memory is taken back with the last slice, after its lease. */
	registry__begin(registry);
	registry__take_out(registry, inventory__find(&registry->inventory, "second"));
	registry__take_out(registry, inventory__find(&registry->inventory, "third"));
	assert_int_equal(registry__end(registry, &error), 0);
	assert_int_equal(module.lent, 1 << fd);
	end_leases();
	assert_int_equal(module.lent, 0);
}

static void test_other_memory(void **state)
{
	struct registry *registry = *state;
	int fd = begin(registry, 0, "first"), other = begin(registry, 0, "other");
	struct dart_error error;
	struct entry *entry;

	assert_int_not_equal(fd, other);
	assert_int_equal(registry__find_slice(registry, "first", other, &entry, &error), -ENOENT);
	assert_string_equal(error.text, "this memory has no slice 'first'");
	/* The agent leaves unknown memory to its process. */
	assert_int_equal(registry__find_slice(registry, "first", 9, &entry, &error), -ENOENT);
	assert_int_equal(module.lent, 1 << fd | 1 << other);
	assert_int_equal(ask(registry, 0, "first", other, 64, 64, &error), -EEXIST);
}

static void test_gone(void **state)
{
	struct registry *registry = *state;
	int fd = begin(registry, 0, "first"), other = begin(registry, 0, "other");
	struct dart_error error;
	uint64_t generation;

	assert_int_equal(ask(registry, 0, "second", fd, 64, 64, &error), 0);
	assert_int_equal(ask(registry, 0, "third", fd, 128, 64, &error), 0);
	assert_int_equal(registry__remove(registry, inventory__find(&registry->inventory, "second"),
					  &error),
			 0);
	generation = control_region.generation;
	registry__begin(registry);
	registry__extent_ended(registry, fd);
	assert_int_equal(registry__end(registry, &error), 0);
	/* They linger; the one that was removed before does not. */
	assert_int_equal(control_region.generation, generation);
	assert_true(is_published("first") && is_published("third"));
	assert_null(inventory__find(&registry->inventory, "first"));
	end_lingering();
	assert_int_equal(control_region.generation, generation + 1);
	assert_int_equal(published_count(), 1);
	assert_true(is_published("other"));
	assert_int_equal(module.lent, 1 << fd | 1 << other);
	end_leases();
	assert_int_equal(module.lent, 1 << other);
	/* Another region's, or none: nothing ends. */
	registry__extent_ended(registry, 33);
	run();
	assert_true(is_published("other"));
}

/* The memory ends together with slices that were added to it in the same batch. */
static void test_gone_in_batch(void **state)
{
	struct registry *registry = *state;
	struct dart_error error;
	int fd;

	registry__begin(registry);
	fd = begin(registry, 0, "first");
	assert_int_equal(ask(registry, 0, "second", fd, 64, 64, &error), 0);
	registry__extent_ended(registry, fd);
	assert_int_equal(module.lent, 0);
	assert_int_equal(registry__end(registry, &error), 0);
	assert_int_equal(published_count(), 0);
}

static void test_not_published(void **state)
{
	struct registry *registry = *state;
	int fd = begin(registry, 1000, "first");
	struct dart_error error;

	refuse_publications(true);
	assert_int_equal(ask(registry, 1000, "second", fd, 64, 64, &error), -ENOSPC);
	assert_int_equal(ask(registry, 1000, "new", -1, 0, 64, &error), -ENOSPC);
	assert_int_equal(module.lent, 1 << fd);
	assert_int_equal(SLIST_FIRST(&registry->inventory.quotas.users)->bytes, MEMORY);
	refuse_publications(false);
	assert_int_equal(ask(registry, 1000, "second", fd, 64, 64, &error), 0);
}

/* Three fields of 8 bytes: two side by side, and one at @last. */
static struct dart_schema *schema_of_runs(uint32_t last)
{
	struct dart_schema *schema = dart_schema__new("runs", 128);
	struct dart_field field = {
		.unit = (char *)"",
		.width = 8,
		.count = 1,
		.kind = DART_CONTROL_FIELD_COUNTER,
	};

	assert_non_null(schema);
	for (int i = 0; i < 3; i++) {
		field.name = (char *[]){ "a", "b", "c" }[i];
		field.offset = (uint32_t[]){ 16, 24, last }[i];
		assert_int_equal(dart_schema__add(schema, &field), 0);
	}
	return schema;
}

static int ask_exact(uid_t uid, const char *name, int fd, uint64_t offset,
		     struct dart_schema *schema, bool is_exact, int *proof,
		     struct dart_error *error)
{
	struct slice_request asked = {
		.name = name,
		.owner = uid,
		.schema = schema,
		.offset = offset,
		.is_exact = is_exact,
		.fd = fd,
	};
	struct entry *entry;
	int ret = registry__add_slice(&registry, &asked, proof, &entry, error);

	if (!ret)
		inventory__set_owner(&registry.inventory, entry, uid);
	return ret;
}

/* True if a memory region in the table contains the byte @data of the region. */
static bool is_readable(uint64_t data)
{
	const uint64_t address = exposure__address(&exposure, region.memory + data);
	struct dart_table *table = published();
	bool is_found = false;
	uint32_t i;

	for (i = 0; i < table->memory_region_count; i++)
		is_found |= address - table->memory_regions[i].address <
			    table->memory_regions[i].length;
	dart_table__free(table);
	return is_found;
}

static void check_exact_slices(enum dart_control_exposure mode)
{
	struct dart_error error;
	/* With page exposure one over the region. */
	const uint32_t shared = mode == DART_CONTROL_EXPOSURE_PAGE;
	int fd, proof, none;

	open_registry(mode, 1 << 20);
	quotas__limit(&registry.inventory.quotas, 6, 0);
	fd = client_memfd();
	assert_int_equal(
		ask_exact(1000, "two", fd, 0, schema_of_runs(64), true, &proof, &error), 0);
	assert_true(proof >= 0);
	check_memory_regions(shared + 2);
	assert_false(is_readable(CAPACITY + 15));
	assert_true(is_readable(CAPACITY + 16) && is_readable(CAPACITY + 31));
	assert_false(is_readable(CAPACITY + 32) || is_readable(CAPACITY + 63));
	assert_true(is_readable(CAPACITY + 64));
	assert_false(is_readable(CAPACITY + 72) || is_readable(CAPACITY + 128));

	/* The same again, and other slices at its place. */
	assert_int_equal(ask_exact(1000, "two", fd, 0, schema_of_runs(64), true, &none, &error), 0);
	assert_int_equal(ask_exact(1000, "two", fd, 0, schema_of_runs(64), false, &none, &error),
			 -EEXIST);
	/* Each memory region counts. */
	assert_int_equal(ask_exact(1000, "one", fd, 128, schema_of_runs(32), true, &none, &error),
			 0);
	check_memory_regions(shared + 3);
	assert_int_equal(ask_exact(1000, "again", fd, 256, schema_of_runs(64), true, &none, &error),
			 0);
	assert_int_equal(ask_exact(1000, "more", fd, 384, schema_of_runs(64), true, &none, &error),
			 -EDQUOT);
	assert_non_null(strstr(error.text, "counts as 2"));
	check_memory_regions(shared + 5);

	/* A slice without the wish opens the memory. */
	assert_int_equal(ask_exact(1000, "open", fd, 384, schema_of_runs(64), false, &none, &error),
			 0);
	assert_true(is_readable(CAPACITY + 15) && is_readable(CAPACITY + MEMORY - 1));

	close(proof);
	while (inventory__find(&registry.inventory, "two"))
		assert_true(sd_event_run(loop, UINT64_MAX) > 0);
	end_lingering();
	end_leases();
	close(fd);
	close_registry();
	assert_int_equal(module.lent, 0);
}

static void test_exact_slices(void **state)
{
	check_exact_slices(DART_CONTROL_EXPOSURE_EXACT);
}

static void test_exact_slices_page(void **state)
{
	check_exact_slices(DART_CONTROL_EXPOSURE_PAGE);
}

static void test_exact_refused(void **state)
{
	struct dart_schema *lines = dart_schema__new("lines", 64);
	struct dart_field field = {
		.name = (char *)"begin",
		.unit = (char *)"",
		.width = 4,
		.count = 1,
		.kind = DART_CONTROL_FIELD_SEQUENCE,
	};
	int lent = begin(&registry, 0, "lent"), fd, none;
	struct dart_error error;

	assert_int_equal(ask_exact(0, "a", lent, 128, schema_of_runs(64), true, &none, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "memory that the client created"));
	assert_int_equal(ask_exact(0, "a", -1, 0, schema_of_runs(64), true, &none, &error),
			 -EINVAL);
	assert_int_equal(dart_schema__add(lines, &field), 0);
	field.name = (char *)"end";
	field.offset = 60;
	assert_int_equal(dart_schema__add(lines, &field), 0);
	fd = client_memfd();
	assert_int_equal(ask_exact(0, "a", fd, 0, lines, true, &none, &error), -EINVAL);
	assert_non_null(strstr(error.text, "sequences"));
	close(fd);
	assert_int_equal(published_count(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("slices lie anywhere in their memory that is aligned and free; others are refused and name who has the bytes",
			     test_places, open_empty, close_empty),
		TEST_FIXTURE("memory has 1 to 256 whole pages, by default those that the slice takes",
			     test_size, open_empty, close_empty),
		TEST_FIXTURE("the same request for a slice in shared memory succeeds without a change",
			     test_asked_again, open_empty, close_empty),
		TEST_FIXTURE("a slice like another one has its memory, schema and user, and outlives it",
			     test_like, open_empty, close_empty),
		TEST_FIXTURE("only the user whose slices are in the memory adds others, until they are removed",
			     test_users, open_empty, close_empty),
		TEST_FIXTURE("each slice counts as an entry of its user, and their memory once, until the last lease",
			     test_quotas, open_empty, close_empty),
		TEST_FIXTURE("a slice is removed without its neighbours; its bytes are free after the lease, the memory after the last",
			     test_removed_one_by_one, open_empty, close_empty),
		TEST_FIXTURE("a slice is not removed with the descriptor of other memory",
			     test_other_memory, open_empty, close_empty),
		TEST_FIXTURE("all slices of memory that no process has linger, and leave the table in one publication",
			     test_gone, open_empty, close_empty),
		TEST_FIXTURE("memory can end in the batch in which its slices were added",
			     test_gone_in_batch, open_empty, close_empty),
		TEST_FIXTURE("a slice that cannot be published leaves its bytes and its memory free",
			     test_not_published, open_empty, close_empty),
		TEST("an exact slice has a memory region for each run of its fields, which counts as an entry, and opens no other byte",
		     test_exact_slices),
		TEST("so it is with page exposure", test_exact_slices_page),
		TEST_FIXTURE("an exact slice in memory that dartd lent, or with sequences, is refused",
			     test_exact_refused, open_empty, close_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

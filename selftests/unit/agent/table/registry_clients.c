// SPDX-License-Identifier: GPL-2.0-only
/* Memory that clients created: its memory regions, and how it comes and goes. */
#include "registry_slices.h"

static void check_clients(enum dart_control_exposure mode)
{
	int lent, first_fd, other_fd, first, other;
	struct dart_error error;

	open_registry(mode, 1 << 20);
	lent = begin(&registry, 0, "lent");
	check_memory_regions(1);
	first_fd = client_memfd();
	other_fd = client_memfd();
	first = take(&registry, "first", first_fd, 0);
	assert_true(first >= 0);
	assert_int_equal(take(&registry, "second", first_fd, 64), -1);
	other = take(&registry, "other", other_fd, 64);
	assert_int_equal(published_count(), 4);
	check_memory_regions(3);
	assert_true(is_exposed(CAPACITY));
	assert_true(is_exposed(CAPACITY + 64));
	assert_true(is_exposed(CAPACITY + MEMORY + 64));
	assert_int_equal(ask(&registry, 0, "both", first_fd, 0, 64, &error), -EEXIST);

	/* dartd reads the bytes of the process. */
	assert_int_equal(pwrite(first_fd, "x", 1, 65) == 1, clients.needs_writable);

	/* The kernel's report of the close, and then a second look. */
	close(first);
	while (inventory__find(&registry.inventory, "second"))
		assert_true(sd_event_run(loop, UINT64_MAX) > 0);
	assert_true(is_published("first") && is_published("second"));
	end_lingering();
	assert_false(is_published("first") || is_published("second"));
	assert_true(is_published("other"));
	end_leases();
	registry__clock_was_set(&registry);
	check_memory_regions(2);
	/* Its addresses are free again, and the descriptor of ended memory serves a new start. */
	first = take(&registry, "first", first_fd, 128);
	assert_true(first >= 0);
	assert_true(is_exposed(CAPACITY + 128));
	assert_int_equal(module.lent, 1 << lent);

	close(first);
	close(other);
	while (inventory__find(&registry.inventory, "first") ||
	       inventory__find(&registry.inventory, "other"))
		assert_true(sd_event_run(loop, UINT64_MAX) > 0);
	end_lingering();
	end_leases();
	close(first_fd);
	close(other_fd);
	close_registry();
	assert_int_equal(module.lent, 0);
}

static void test_clients_exact(void **state)
{
	check_clients(DART_CONTROL_EXPOSURE_EXACT);
}

static void test_clients_page(void **state)
{
	check_clients(DART_CONTROL_EXPOSURE_PAGE);
}

/* Bytes of the table that changed after @generation, in whole blocks. */
static uint32_t changed_bytes(uint64_t generation)
{
	uint32_t sum = 0, offset = 0, begin, length;

	while ((length = dart_table_writer__changed(control_region.writer, generation, offset,
						    control_region.used, &begin))) {
		sum += length;
		offset = begin + length;
	}
	return sum;
}

/* Memory of clients comes and goes, and the table, of some 10 KiB, is not written again for each. */
static void test_clients_in_place(void **state)
{
	enum { CLIENTS = 100 };
	uint32_t i, rewritten = 0;
	int fds[CLIENTS], proofs[CLIENTS];
	uint64_t generation;
	char name[24];

	open_registry(DART_CONTROL_EXPOSURE_EXACT, 1 << 20);
	for (i = 0; i < CLIENTS; i++) {
		generation = control_region.generation;
		snprintf(name, sizeof(name), "client-%u", i);
		fds[i] = client_memfd();
		proofs[i] = take(&registry, name, fds[i], 0);
		assert_int_equal(control_region.generation, generation + 1);
		rewritten += changed_bytes(generation) > 2048;
	}
	assert_true(control_region.used > 8192);
	/* When a section has no room for one more, with more room for the next ones. */
	assert_in_range(rewritten, 0, CLIENTS / 4);
	check_memory_regions(CLIENTS);
	close(proofs[0]);
	while (inventory__find(&registry.inventory, "client-0"))
		assert_true(sd_event_run(loop, UINT64_MAX) > 0);
	generation = control_region.generation;
	end_lingering();
	end_leases();
	assert_in_range(changed_bytes(generation), 1, control_region.used / 2);
	/* The table lists its memory region until it is written again. */
	check_memory_regions(CLIENTS);
	registry__clock_was_set(&registry);
	check_memory_regions(CLIENTS - 1);
	close_registry();
	for (i = 0; i < CLIENTS; i++) {
		close(fds[i]);
		if (i)
			close(proofs[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("with exact exposure memory of clients has a memory region each, until the process closes the descriptor that it got",
		     test_clients_exact),
		TEST("with page exposure memory of clients has a memory region each beside that of the region",
		     test_clients_page),
		TEST("memory of clients is added to the table and removed in place",
		     test_clients_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

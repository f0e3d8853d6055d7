// SPDX-License-Identifier: GPL-2.0-only
/* A thousand targets, with all threads of a controller: their costs. */
#include "controller_bed.h"

#define HOSTS_OWN 200
/* Memory of a target, with the queues of an adapter. */
#define TARGET_BYTES_MAX 64000

/* ---- memory, as the chunks that glibc's malloc() would take from the heap */

/*
 * Function of the sanitizers, whose heap mallinfo2(3) does not know; some compilers lack a header
 * for it.
 */
int __sanitizer_install_malloc_and_free_hooks(void (*malloced)(const volatile void *, size_t),
					      void (*freed)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *memory);

static atomic_long heap;

static long chunk(size_t size)
{
	const long bytes = (size + 8 + 15) / 16 * 16;

	return bytes < 32 ? 32 : bytes;
}

static void on_malloc(const volatile void *memory, size_t size)
{
	atomic_fetch_add(&heap, chunk(size));
}

static void on_free(const volatile void *memory)
{
	if (memory)
		atomic_fetch_sub(&heap, chunk(__sanitizer_get_allocated_size(memory)));
}

/* ---- tests */

static void scrape_all(const char *kind, size_t catalogs)
{
	long before, bytes;
	uint32_t i;

	bed__open();
	before = atomic_load(&heap);
	for (i = 0; i < host_count; i++)
		bed__add(i, 0, 0);
	bed__run(all_have_samples);
	bytes = (atomic_load(&heap) - before) / host_count;
	print_message("# %s: %ld bytes for each target, %zu of them its own structure\n", kind,
		      bytes, sizeof(struct target));
	assert_int_equal(content_store__count(&bed.catalogs.catalogs), catalogs);
	assert_int_equal(content_store__count(&bed.catalogs.schemas), ENTRIES);
	assert_in_range(bytes, VALUES * sizeof(uint64_t), TARGET_BYTES_MAX);
	bed__close();
	assert_in_range(simulated_network__asking_max(), 2,
			HANDSHAKES + bed.context.handshakes.late);
	assert_int_equal(atomic_load(&losses), 0);
	assert_int_equal(atomic_load(&samples), host_count);
	assert_int_equal(atomic_load(&wrong), 0);
	/* Not even the targets' places in other structures remain. */
	assert_in_range(atomic_load(&heap), 0, before);
}

static void test_equal(void **state)
{
	make_hosts(HOSTS, false);
	scrape_all("equal hosts", 1);
	free_hosts();
}

static void test_different(void **state)
{
	make_hosts(HOSTS_OWN, true);
	scrape_all("hosts with an entry of their own", HOSTS_OWN);
	free_hosts();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("of 1,000 equal hosts with 4 KiB of values each takes 64 kB at most, and all values are its own",
		     test_equal),
		TEST("so does each of 200 hosts that have an entry of their own", test_different),
	};

	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

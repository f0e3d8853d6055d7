// SPDX-License-Identifier: GPL-2.0-only
/*
 * A controller that reads more than is exposed: every memory region of the agent on "host" answers
 * a READ of exactly its bytes.  A READ of one byte before, of one byte after and of the page around
 * it gets a remote access error and no data, and then the agent disconnects.
 *
 * Needs an agent with exact exposure on "host" (see beyond_range.sh).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/error.h>
#include <libdart/rdma/endpoint.h>
#include <libdart/table/table.h>

#include "selftests/lib/host_reads.h"
#include "selftests/lib/test.h"

#define PATTERN 0xa5

static struct dart_table *fetch_table(void)
{
	struct dart_endpoint *endpoint = host_reads__connect("host");
	struct dart_table *table = host_reads__table(endpoint);

	dart_endpoint__free(endpoint);
	return table;
}

/*
 * The agent does not keep a failed queue pair.  It rejects the connection if it has not
 * seen the end of the handshake.
 */
static void assert_disconnected(struct dart_endpoint *endpoint)
{
	enum dart_endpoint_event event;
	struct dart_error error;

	do {
		host_reads__wait_for(dart_endpoint__connection_fd(endpoint));
		event = dart_endpoint__on_connection(endpoint, &error);
	} while (event == DART_ENDPOINT_NOTHING);
	assert_true(event == DART_ENDPOINT_DISCONNECTED || event == DART_ENDPOINT_FAILED);
}

/*
 * READs @length bytes at @address over a separate connection, which a refusal ends.
 * Returns 1 or -errno; after an error no byte may have arrived.
 */
static int try_read(uint64_t address, uint32_t rkey, uint32_t length)
{
	struct dart_endpoint *endpoint = host_reads__connect("host");
	struct dart_read read = {
		.address = address,
		.rkey = rkey,
		.length = length,
	};
	const unsigned char *bytes;
	void *landing;
	int ret;

	ret = host_reads__read(endpoint, &read, PATTERN, &landing);
	bytes = landing;
	for (uint32_t i = 0; ret < 0 && i < length; i++)
		assert_int_equal(bytes[i], PATTERN);
	if (ret < 0)
		assert_disconnected(endpoint);
	dart_endpoint__free(endpoint);
	return ret;
}

static void test_beyond(void **state)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	struct dart_table *table = fetch_table();
	unsigned int windows = 0;

	assert_int_equal(table->exposure, DART_CONTROL_EXPOSURE_EXACT);
	assert_true(table->memory_region_count > 0);
	for (uint32_t i = 0; i < table->memory_region_count; i++) {
		const struct dart_memory_region *region = &table->memory_regions[i];
		uint64_t address = region->address;
		uint32_t rkey = region->rkey, length = region->length;

		print_message("# %u bytes\n", length);
		windows += length % page != 0;
		assert_int_equal(try_read(address, rkey, length), 1);
		assert_int_equal(try_read(address, rkey, length + 1), -EACCES);
		assert_int_equal(try_read(address - 1, rkey, length), -EACCES);
		assert_int_equal(try_read(address + length, rkey, 1), -EACCES);
		assert_int_equal(try_read(address / page * page, rkey, page),
				 address % page == 0 && length >= page ? 1 : -EACCES);
		assert_int_equal(try_read(address, rkey ^ 0x80, length), -EACCES);
	}
	/* Without a region that ends within a page the test shows nothing. */
	assert_true(windows > 0);
	dart_table__free(table);
}

static void test_beyond_control_region(void **state)
{
	struct dart_endpoint *endpoint = host_reads__connect("host");
	const struct dart_endpoint_accept accept = *dart_endpoint__accept(endpoint);

	dart_endpoint__free(endpoint);
	assert_int_equal(try_read(accept.address, accept.rkey, accept.length), 1);
	/* The pieces of a longer READ inside the range arrive. */
	assert_int_equal(try_read(accept.address + accept.length - 1, accept.rkey, 2), -EACCES);
	assert_int_equal(try_read(accept.address - 1, accept.rkey, 1), -EACCES);
}

/* Addresses of a process are lower on any architecture. */
static bool is_of_no_process(uint64_t address)
{
	return address >= UINT64_C(1) << 60;
}

static void test_addresses(void **state)
{
	struct dart_endpoint *endpoint = host_reads__connect("host");
	struct dart_table *table = fetch_table();
	uint32_t i;

	assert_true(is_of_no_process(dart_endpoint__accept(endpoint)->address));
	for (i = 0; i < table->memory_region_count; i++)
		assert_true(is_of_no_process(table->memory_regions[i].address));
	dart_table__free(table);
	dart_endpoint__free(endpoint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("READs of the exact bytes of each memory region succeed, and others end the connection",
		     test_beyond),
		TEST("READs of the control region succeed, and others by its rkey end the connection",
		     test_beyond_control_region),
		TEST("controllers see random addresses, not those of the agent's memory",
		     test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver that hangs delays only the record of its own device.  The module still gathers all
 * other records, adds and removes records, serves mappings and closes regions.
 */
#include <net/if.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <linux/dart_zero_samples.h>

#include "selftests/lib/device.h"
#include "selftests/lib/record.h"
#include "selftests/lib/test.h"

#define PARAMETERS "/sys/module/dart_hang/parameters/"

static const struct dart_zero_piece whole_link = {
	.width = 8,
	.count = sizeof(struct dart_zero_netdev_link) / 8,
};
static const struct dart_zero_piece whole_port = {
	.width = 8,
	.count = sizeof(struct dart_zero_rdma_port) / 8,
};
static const struct dart_zero_piece whole_load = {
	.width = 8,
	.count = sizeof(struct dart_zero_load) / 8,
};
static const struct dart_zero_piece whole_cost = {
	.width = 8,
	.count = sizeof(struct dart_zero_gathering) / 8,
};

static uint64_t words[RECORD_ROW_WORDS_MAX];

/* A region with a record of the driver, one of the load, and one of the cost. */
struct host {
	int region;
	const char *address;
	uint32_t pages;
	struct dart_zero_record driver;
	struct dart_zero_record load;
	struct dart_zero_record cost;
};

static void set_hangs(char value)
{
	int fd = open(PARAMETERS "hangs", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &value, 1), 1);
	close(fd);
}

static int waiting_calls(void)
{
	FILE *file = fopen(PARAMETERS "waiting", "r");
	int count;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &count), 1);
	fclose(file);
	return count;
}

/* Returns when a call of the driver begins to hang. */
static void hang(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	set_hangs('1');
	while (!waiting_calls())
		nanosleep(&pause, NULL);
}

static struct host host_open(uint32_t source)
{
	bool is_rdma = source == DART_ZERO_SOURCE_RDMA_PORTS;
	struct host host = { .region = device_open() };
	uint32_t pages = record_pages_new(host.region, 4);

	host.pages = pages;
	host.address = device_map(host.region);
	host.driver = record_of(pages, source, is_rdma ? &whole_port : &whole_link);
	host.driver.ifindex = if_nametoindex("hang0");
	host.driver.fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (is_rdma)
		host.driver.form = DART_ZERO_RECORD_COPIES;
	host.load = record_of(pages, DART_ZERO_SOURCE_LOAD, &whole_load);
	host.cost = record_of(pages, DART_ZERO_SOURCE_GATHERING, &whole_cost);
	assert_int_equal(record_add(host.region, &host.driver), 0);
	close(host.driver.fd);
	assert_int_equal(record_add(host.region, &host.load), 0);
	assert_int_equal(record_add(host.region, &host.cost), 0);
	return host;
}

static void host_close(struct host *host)
{
	assert_int_equal(munmap((void *)host->address, device_info(host->region).capacity), 0);
	close(host->region);
}

/* CLOCK_BOOTTIME of the values of the driver. */
static uint64_t driver_time(const struct host *host)
{
	record_row_whole(host->address, &host->driver, 0, words);
	return words[0];
}

static uint64_t stale_records(const struct host *host)
{
	const struct dart_zero_gathering *cost = (const void *)&words[1];

	record_row_next(host->address, &host->cost, 0, words);
	return cost->stale;
}

/* Returns when the driver shows values newer than @time. */
static void await_newer(const struct host *host, uint64_t time)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (driver_time(host) <= time)
		nanosleep(&pause, NULL);
}

/* Uses everything else of the region while the driver hangs. */
static void use_region(const struct host *host)
{
	struct dart_zero_record added = record_of(host->pages, DART_ZERO_SOURCE_LOAD, &whole_load);
	const char *second;

	record_row_next(host->address, &host->load, 0, words);
	assert_int_equal(record_add(host->region, &added), 0);
	record_row_next(host->address, &added, 0, words);
	second = device_map(host->region);
	assert_true(record_row_whole(second, &added, 0, words));
	assert_int_equal(munmap((void *)second, device_info(host->region).capacity), 0);
	assert_int_equal(device_remove(host->region, added.id), 0);
	assert_true(waiting_calls() > 0);
}

static void others_go_on(uint32_t source)
{
	struct host host = host_open(source);
	uint64_t time, stale;

	await_newer(&host, 0);
	hang();
	/* The row may show the answer to the earlier question one pass later. */
	stale = stale_records(&host);
	while (stale_records(&host) < stale + 2)
		record_row_next(host.address, &host.load, 0, words);
	time = driver_time(&host);
	stale = stale_records(&host);
	use_region(&host);
	assert_true(stale_records(&host) > stale);
	assert_int_equal(driver_time(&host), time);
	set_hangs('0');
	await_newer(&host, time);
	host_close(&host);
}

static void removed_meanwhile(uint32_t source)
{
	struct host host = host_open(source);

	hang();
	assert_int_equal(device_remove(host.region, host.driver.id), 0);
	use_region(&host);
	host_close(&host);
	assert_true(waiting_calls() > 0);
}

static void test_network(void **state)
{
	others_go_on(DART_ZERO_SOURCE_NETDEV_LINK);
}

static void test_network_removed(void **state)
{
	removed_meanwhile(DART_ZERO_SOURCE_NETDEV_LINK);
	set_hangs('0');
}

static void test_rdma(void **state)
{
	others_go_on(DART_ZERO_SOURCE_RDMA_PORTS);
}

static void test_rdma_removed(void **state)
{
	struct host again;

	removed_meanwhile(DART_ZERO_SOURCE_RDMA_PORTS);
	/* A record that is added while its driver hangs gets values later. */
	again = host_open(DART_ZERO_SOURCE_RDMA_PORTS);
	use_region(&again);
	set_hangs('0');
	await_newer(&again, 0);
	host_close(&again);
}

static int load_driver(void **state)
{
	return system("modprobe -a rdma_rxe dart_hang && { modprobe -q crc32_generic || :; } && "
		      "ip link set hang0 up && rdma link add hang_rxe type rxe netdev hang0");
}

static int unload_driver(void **state)
{
	return system("rdma link delete hang_rxe && modprobe -r dart_hang");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a network driver that hangs delays no other record and no call",
		     test_network),
		TEST("the record of a network driver that hangs can be removed, and its region closed",
		     test_network_removed),
		TEST("an RDMA driver that hangs delays no other record and no call", test_rdma),
		TEST("the record of an RDMA driver that hangs can be removed and added",
		     test_rdma_removed),
	};

	return cmocka_run_group_tests(tests, load_driver, unload_driver);
}

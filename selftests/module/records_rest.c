// SPDX-License-Identifier: GPL-2.0-only
/* Records rest while their counters do not change, and no longer than they may. */
#include <linux/snmp.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/namespace.h"
#include "selftests/lib/record.h"

#define CGROUP "/sys/fs/cgroup/records-rest"
#define REST 8		 /* passes */
#define PASSES_TO_REST 14 /* 2 + 4 + 8: until a record of equal counters rests that long */
#define LONG_REST 32	 /* passes */
#define PASSES_TO_LONG_REST 62
#define INTERVAL_MS 50	 /* a slow machine looks at a row in a fraction of a rest */

static const struct dart_zero_piece all_costs = {
	.width = 8,
	.count = sizeof(struct dart_zero_gathering) / 8,
};
static const struct dart_zero_piece sent = {
	.offset = 8 * UDP_MIB_OUTDATAGRAMS,
	.width = 8,
	.count = 1,
};
static const struct dart_zero_piece runtime = { .offset = 16, .width = 8, .count = 1 };

/* A region with the record of its cost, which is gathered first in each pass. */
struct gathered {
	int region;
	uint32_t pages;
	const char *address;
	struct dart_zero_record cost;
	uint64_t words[RECORD_ROW_WORDS_MAX];
};

static void gathered_open(struct gathered *gathered)
{
	gathered->region = device_open();
	gathered->address = device_map(gathered->region);
	gathered->pages = record_pages_new(gathered->region, 1);
	gathered->cost = record_of(gathered->pages, DART_ZERO_SOURCE_GATHERING, &all_costs);
	gathered->cost.interval_ms = INTERVAL_MS;
	assert_int_equal(record_add(gathered->region, &gathered->cost), 0);
}

static struct dart_zero_record add_namespace(struct gathered *gathered, int namespace, uint32_t rest)
{
	struct dart_zero_record record = record_of(gathered->pages, DART_ZERO_SOURCE_UDP, &sent);

	record.interval_ms = INTERVAL_MS;
	record.fd = namespace;
	record.rest_max = rest;
	assert_int_equal(record_add(gathered->region, &record), 0);
	return record;
}

/* The cost of all passes that ended before the present one. */
static struct dart_zero_gathering cost_of(struct gathered *gathered)
{
	struct dart_zero_gathering cost;

	record_row_whole(gathered->address, &gathered->cost, 0, gathered->words);
	memcpy(&cost, &gathered->words[1], sizeof(cost));
	return cost;
}

/* The same after @passes further passes at least. */
static struct dart_zero_gathering cost_after(struct gathered *gathered, uint64_t passes)
{
	const uint64_t until = cost_of(gathered).passes + passes;

	while (cost_of(gathered).passes < until)
		record_row_next(gathered->address, &gathered->cost, 0, gathered->words);
	return cost_of(gathered);
}

/* Of the passes with the numbers from @first to before @end, those in which @record is gathered. */
static uint64_t passes_of(const struct dart_zero_record *record, uint64_t first, uint64_t end)
{
	uint64_t count = 0, pass;

	for (pass = first; pass < end; pass++)
		count += (pass + record->id) % REST == 0;
	return count;
}

static uint64_t value_of(struct gathered *gathered, const struct dart_zero_record *record)
{
	record_row_whole(gathered->address, record, 0, gathered->words);
	return gathered->words[1];
}

/* Waits until @record has @value, and returns the number of the pass before. */
static uint64_t pass_with(struct gathered *gathered, const struct dart_zero_record *record,
			  uint64_t value)
{
	struct dart_zero_gathering cost;

	do {
		cost = cost_after(gathered, 1);
	} while (value_of(gathered, record) != value);
	return cost.passes;
}

static void test_rest(void **state)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int namespace = namespace_new(), busy = namespace_new();
	struct dart_zero_gathering first, last;
	struct dart_zero_record record, always, own;
	static struct gathered gathered;
	uint64_t passes, begin;

	gathered_open(&gathered);
	record = add_namespace(&gathered, namespace, REST);
	always = add_namespace(&gathered, busy, 0);
	own = add_namespace(&gathered, home, REST);
	first = cost_after(&gathered, PASSES_TO_REST + 1);
	last = cost_after(&gathered, 5 * REST);
	passes = last.passes - first.passes;
	assert_int_equal(last.rested - first.rested,
			 2 * passes - passes_of(&record, first.passes, last.passes) -
				 passes_of(&own, first.passes, last.passes));
	assert_int_equal(last.records - first.records + last.rested - first.rested, 4 * passes);

	namespace_send(busy, 10);
	namespace_send(namespace, 10);
	begin = cost_of(&gathered).passes;
	assert_in_range(pass_with(&gathered, &record, 10) - begin, 0, 2 * REST);
	assert_int_equal(value_of(&gathered, &always), 10);
	close(busy);
	close(namespace);
	close(home);
	close(gathered.region);
}

static void test_end(void **state)
{
	int namespace = namespace_new();
	struct dart_zero_record record;
	static struct gathered gathered;

	gathered_open(&gathered);
	record = add_namespace(&gathered, namespace, DART_ZERO_RECORD_REST_MAX);
	cost_after(&gathered, 2 * PASSES_TO_REST);
	namespace_send(namespace, 10);
	close(namespace);
	assert_int_equal(device_event(gathered.region, DART_ZERO_EVENT_RECORD_GONE), record.id);
	assert_int_equal(value_of(&gathered, &record), 10);
	close(gathered.region);
}

/* A process that runs in the cgroup for a moment. */
static void run_in_cgroup(void)
{
	pid_t process = fork();
	int fd, i, status;

	if (!process) {
		fd = open(CGROUP "/cgroup.procs", O_WRONLY);
		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(1);
		for (i = 0; i < 1000; i++)
			getppid();
		_exit(0);
	}
	assert_int_equal(waitpid(process, &status, 0), process);
	assert_int_equal(status, 0);
}

static void test_cgroup(void **state)
{
	struct dart_zero_gathering first, last;
	struct dart_zero_record record;
	static struct gathered gathered;
	uint64_t begin, rows;

	assert_int_equal(mkdir(CGROUP, 0755), 0);
	gathered_open(&gathered);
	record = record_of(gathered.pages, DART_ZERO_SOURCE_CGROUP_CPU, &runtime);
	record.interval_ms = INTERVAL_MS;
	record.rest_max = LONG_REST;
	record.fd = open(CGROUP, O_PATH | O_CLOEXEC);
	assert_true(record.fd >= 0);
	assert_int_equal(record_add(gathered.region, &record), 0);
	close(record.fd);
	first = cost_after(&gathered, PASSES_TO_LONG_REST + 1);
	last = cost_after(&gathered, 2 * LONG_REST);
	rows = last.passes - first.passes - (last.rested - first.rested);
	assert_in_range(rows, 2, 1 + (last.passes - first.passes) / LONG_REST);

	/* The rest would be four times as long. */
	begin = value_of(&gathered, &record);
	run_in_cgroup();
	first = cost_of(&gathered);
	do {
		last = cost_after(&gathered, 1);
	} while (value_of(&gathered, &record) == begin);
	assert_in_range(last.passes - first.passes, 1, LONG_REST / 4);

	cost_after(&gathered, PASSES_TO_REST);
	assert_int_equal(rmdir(CGROUP), 0);
	assert_int_equal(device_event(gathered.region, DART_ZERO_EVENT_RECORD_GONE), record.id);
	close(gathered.region);
}

static void test_other_records(void **state)
{
	struct dart_zero_gathering first, last;
	struct dart_zero_record copies, cost;
	static struct gathered gathered;

	gathered_open(&gathered);
	copies = record_of(gathered.pages, DART_ZERO_SOURCE_KSTAT, &runtime);
	copies.form = DART_ZERO_RECORD_COPIES;
	copies.interval_ms = INTERVAL_MS;
	copies.rest_max = REST;
	assert_int_equal(record_add(gathered.region, &copies), 0);
	cost = gathered.cost;
	cost.id = cost.rows = cost.data = cost.length = 0;
	cost.rest_max = REST;
	assert_int_equal(record_add(gathered.region, &cost), 0);
	first = cost_after(&gathered, 2); /* records that are added count, too */
	last = cost_after(&gathered, 2 * PASSES_TO_REST);
	assert_int_equal(last.rested, 0);
	assert_int_equal(last.records - first.records, 3 * (last.passes - first.passes));
	close(gathered.region);
}

static void test_refused(void **state)
{
	static struct gathered gathered;
	struct dart_zero_record bad;

	gathered_open(&gathered);
	bad = record_of(gathered.pages, DART_ZERO_SOURCE_CPUSTAT, &sent);
	bad.rest_max = DART_ZERO_RECORD_REST_MAX + 1;
	assert_int_equal(record_add(gathered.region, &bad), -EINVAL);
	bad.rest_max = REST;
	bad.reserved = 1;
	assert_int_equal(record_add(gathered.region, &bad), -EINVAL);
	close(gathered.region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a record of equal counters is gathered in every eighth pass, and a change is in its row within as many",
		     test_rest),
		TEST("the end of a namespace is told while its record rests, with the last values in the row",
		     test_end),
		TEST("CPU time of a cgroup is in its row long before the rest would end, and so is its end",
		     test_cgroup),
		TEST("rows by CPU and the record of the cost never rest", test_other_records),
		TEST("a longer rest than the longest is refused", test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of a host with a thousand containers: the costs of plans and points. */
#include <stdio.h>

#include "metric_samples.h"

#define FEW 250
#define MANY 1000
#define FIELDS 27 /* of cgroup:memory */

/* Function of the sanitizers' library; Debian's gcc lacks a header for it. */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
					      void (*free_hook)(const volatile void *));

static const char yaml[] = "- family: container_memory_working_set_bytes\n"
			   "  help: W.\n"
			   "  type: gauge\n"
			   "  series:\n"
			   "    - entry: cgroup:memory\n"
			   "      labels: {id: $selector}\n"
			   "      value: field1 - field2\n"
			   "- family: container_memory_failures_total\n"
			   "  help: F.\n"
			   "  type: counter\n"
			   "  series:\n"
			   "    - entry: cgroup:memory\n"
			   "      labels: {id: $selector}\n"
			   "      fields:\n"
			   "        field3: {failure_type: pgfault}\n"
			   "        field4: {failure_type: pgmajfault}\n";

struct containers {
	struct host host;
	char names[HOST_ENTRIES_MAX][48];
	char field_names[FIELDS][16];
};

static struct containers *containers__new(uint32_t count)
{
	struct containers *containers = calloc(1, sizeof(*containers));
	struct wanted_field fields[FIELDS + 1] = {};
	const struct dart_schema *schema;
	uint32_t i, k, entry;

	assert_non_null(containers);
	host__init(&containers->host);
	for (i = 0; i < FIELDS; i++) {
		sprintf(containers->field_names[i], "field%u", i);
		fields[i] = (struct wanted_field){
			containers->field_names[i],
			"bytes",
			i % 2 ? DART_CONTROL_FIELD_GAUGE : DART_CONTROL_FIELD_COUNTER,
		};
	}
	schema = host__record(&containers->host, fields);
	for (i = 0; i < count; i++) {
		/* Not in the order of names. */
		sprintf(containers->names[i], "cgroup:memory@/kubepods.slice/pod%u+1s",
			i * 7919 % count);
		entry = host__add(&containers->host, containers->names[i],
				  schema, DART_CONTROL_COPIES_SUM, 1);
		host__mark(&containers->host, entry, 0, 2);
		for (k = 0; k < FIELDS; k++)
			host__set(&containers->host, entry, 0, fields[k].name, 0, k * 1000 + i);
	}
	return containers;
}

static void containers__free(struct containers *containers)
{
	host__free(&containers->host);
	free(containers);
}

/* volatile: the compiler knows that malloc() changes neither. */
static volatile unsigned int allocations;
static volatile size_t allocated_bytes;

static void count_allocation(const volatile void *memory, size_t size)
{
	allocations++;
	allocated_bytes += size;
}

static void ignore_free(const volatile void *memory)
{
}

/* Bytes that the making of a plan allocates, including temporary memory. */
static size_t bytes_of_plan(uint32_t count, struct names *names)
{
	struct containers *containers = containers__new(count);
	struct metric_plan *plan;

	allocated_bytes = 0;
	plan = plan_of(&containers->host, names);
	assert_int_equal(plan->dropped_count, 0);
	/* 3 series with names, FIELDS - 4 without, and the series of the scrape. */
	assert_int_equal(plan->series_count, count * (FIELDS - 1) + 11);
	metric_plan__put(plan);
	containers__free(containers);
	return allocated_bytes;
}

static void test_linear(void **state)
{
	struct names *names = names_of(yaml);
	size_t few, many;

	assert_true(__sanitizer_install_malloc_and_free_hooks(count_allocation, ignore_free));
	few = bytes_of_plan(FEW, names);
	many = bytes_of_plan(MANY, names);
	assert_true(few > 0);
	/* Arrays double, so that a plan may be followed by twice as much. */
	assert_true(many < few * (MANY / FEW) * 2);
	names__put(names);
}

static void test_without_memory(void **state)
{
	struct names *names = names_of(yaml);
	struct containers *containers = containers__new(MANY);
	struct metric_plan *plan = plan_of(&containers->host, names);
	struct points points = {};
	char *volatile probe; /* volatile, so that the compiler keeps the allocation */

	assert_int_equal(points__prepare(&points, plan, &containers->host.sample), 0);
	allocations = 0;
	probe = malloc(10);
	assert_int_equal(allocations, 1);
	free(probe);
	assert_true(metric_plan__fits(plan, &containers->host.sample));
	points__evaluate(&points, plan, &containers->host.sample);
	assert_int_equal(allocations, 1);
	assert_point(&points, plan,
		     "container_memory_failures_total{failure_type=\"pgfault\","
		     "id=\"/kubepods.slice/pod919\"}",
		     3000 + 1);
	points__free(&points);
	metric_plan__put(plan);
	containers__free(containers);
	names__put(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the memory to make a plan grows as its series do", test_linear),
		TEST("points of a thousand containers need no memory", test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table is replaced and appended to again and again while it is fetched in
 * pieces, in any order, as a READ may: no mixture of two tables is accepted.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include <libdart/error.h>

#include "sample.h"

#define FETCHES 20000
#define CHUNK 16

struct publisher {
	struct sample samples[2];
	uint8_t region[4096] __attribute__((aligned(8)));
	struct dart_table_writer *writer;
	size_t length;		/* of the longest table */
	atomic_bool stop;
	int err;
};

static void sample__change_everything(struct sample *sample)
{
	uint32_t i;

	sample->table.clock_offset_ns = 1234567;
	sample->table.lease_ms = 1;
	sample->table.exposure = DART_CONTROL_EXPOSURE_PAGE;
	sample->table.entry_count--;
	for (i = 0; i < 3; i++) {
		sample->memory_regions[i].address += 0x7000000;
		sample->memory_regions[i].rkey += 1000;
	}
	for (i = 0; i < 6; i++)
		sample->ranges[i].address += 0x7000000;
	sample->entries[SAMPLE_CPUSTAT].name = "vmstat+";
	sample->entries[SAMPLE_PAIR].copies_are = DART_CONTROL_COPIES_ROW;
}

/* In turn: the first table, the second without its last entry, and with it. */
static struct dart_table table_of(const struct publisher *publisher, uint64_t generation)
{
	const struct sample *sample = &publisher->samples[!(generation % 3)];
	struct dart_table table = sample->table;

	table.generation = generation;
	if (generation % 3 == 1)
		table.entry_count--;
	return table;
}

static int publish(struct publisher *publisher, uint64_t generation)
{
	struct dart_table table = table_of(publisher, generation);

	if (generation % 3 != 2)
		return dart_table_writer__rewrite(publisher->writer, &table);
	table.entries += SAMPLE_ENTRIES - 1;
	table.entry_count = 1;
	table.memory_region_count = 0;
	return dart_table_writer__append(publisher->writer, &table);
}

static void *publish_on_and_on(void *argument)
{
	struct publisher *publisher = argument;
	uint64_t generation;

	for (generation = 4; !publisher->stop; generation++) {
		int length = publish(publisher, generation);

		if (length < 0) {
			publisher->err = length;
			break;
		}
	}
	return NULL;
}

static void fetch(struct publisher *publisher, uint8_t *bytes, uint64_t *random)
{
	uint32_t chunks = (publisher->length + CHUNK - 1) / CHUNK;
	uint16_t order[sizeof(publisher->region) / CHUNK];
	uint32_t i, k, pause = random__below(random, 4 * chunks);

	for (i = 0; i < chunks; i++) {
		k = random__below(random, i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (i = 0; i < chunks; i++) {
		if (i == pause)
			sched_yield();
		memcpy(bytes + order[i] * CHUNK, publisher->region + order[i] * CHUNK, CHUNK);
	}
}

static void test_concurrent(void **state)
{
	struct publisher *publisher = calloc(1, sizeof(*publisher));
	unsigned int accepted = 0, by_generation = 0, by_checksum = 0;
	uint8_t bytes[sizeof(publisher->region)];
	uint64_t random = 20240301;
	struct dart_table *table, expected;
	struct dart_error error;
	pthread_t thread;
	int i, length;

	assert_non_null(publisher);
	for (i = 0; i < 2; i++)
		sample__init(&publisher->samples[i]);
	sample__change_everything(&publisher->samples[1]);
	publisher->writer = dart_table_writer__new(publisher->region, sizeof(publisher->region));
	assert_non_null(publisher->writer);
	for (i = 1; i <= 3; i++) {
		length = publish(publisher, i);
		assert_true(length > 0);
		if ((size_t)length > publisher->length)
			publisher->length = length;
	}

	assert_int_equal(pthread_create(&thread, NULL, publish_on_and_on, publisher), 0);
	for (i = 0; i < FETCHES; i++) {
		int err;

		fetch(publisher, bytes, &random);
		err = dart_table__decode(bytes, publisher->length, &table, NULL, &error);
		if (err == -EAGAIN) {
			if (strstr(error.text, "checksum"))
				by_checksum++;
			else
				by_generation++;
			continue;
		}
		if (err)
			break;

		/* The publisher is ahead; the rest of its table is constant. */
		accepted++;
		expected = table_of(publisher, table->generation);
		sample__assert_same(&expected, table);
		dart_table__free(table);
	}
	publisher->stop = true;
	pthread_join(thread, NULL);

	printf("# %u tables fetched: %u accepted, %u refused by generation, %u by checksum\n",
	       FETCHES, accepted, by_generation, by_checksum);
	assert_int_equal(accepted + by_generation + by_checksum, FETCHES);
	assert_int_equal(publisher->err, 0);
	assert_int_not_equal(accepted, 0);
	assert_int_not_equal(by_generation + by_checksum, 0);
	dart_table_writer__free(publisher->writer);
	for (i = 0; i < 2; i++)
		sample__release(&publisher->samples[i]);
	free(publisher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a table fetched in pieces while it changes is one of the published tables or is refused",
		     test_concurrent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

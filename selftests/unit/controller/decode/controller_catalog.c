// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller holds the common parts of equal hosts once, and keeps different parts for each
 * host.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "controller_scrapers.h"
#include "tools/controller/base/thread.h"

#define HOSTS 8
#define THREADS 3
#define ROUNDS 300
#define FIELDS 10

static struct test_host host_of(uint32_t number)
{
	static const char *const nodes[] = { "a", "b", "c", "d" };

	return (struct test_host){
		.node = nodes[number % 4],
		.instance = number + 1,
		.address = 0x10000 + 0x4040404040ULL * number,
		.rkey = 77 * number + 1,
	};
}

static struct scraper *scraper_of(const struct wish *wishes, uint32_t count, uint32_t number)
{
	const struct test_host host = host_of(number);

	return scraper_of_table(table_of_host(wishes, count, &host), NULL);
}

/* Lets the READs of @scraper land: each copy of entry i is @value + i. */
static void assert_decodes(struct scraper *scraper, uint64_t value)
{
	uint8_t *landing = calloc(1, scraper__landing_size(scraper));
	const struct sample *sample;
	uint32_t i, k;

	assert_non_null(landing);
	for (i = 0; i < scraper->read_count - 1; i++) {
		const struct dart_read *read = &scraper->reads[i];

		for (k = 0; k < read->length / sizeof(value); k++)
			((uint64_t *)(landing + read->landing))[k] = value + i;
	}
	sample = scraper__decode(scraper, landing);
	for (i = 0; i < sample->entry_count; i++) {
		const uint64_t *copies = sample->entries[i].copies;

		for (k = 0; k < sample->entries[i].entry->copies; k++)
			assert_int_equal(copies[k], value + i);
	}
	free(landing);
}

static void test_hosts(void **state)
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_COUNTER);
	const struct wish wishes[] = {
		{ "cpustat", schema, COPIES, 1 },
		{ "vmstat", schema, COPIES, 1 },
	};
	struct scraper *scrapers[HOSTS];
	uint32_t i, k;

	for (i = 0; i < HOSTS; i++)
		scrapers[i] = scraper_of(wishes, 2, i);
	assert_int_equal(content_store__count(&catalogs.catalogs), 1);
	assert_int_equal(content_store__count(&catalogs.schemas), 1);
	/* The host that had it first may go first. */
	scraper__free(scrapers[0]);
	for (i = 1; i < HOSTS; i++) {
		const struct scraper *scraper = scrapers[i];
		const struct test_host host = host_of(i);

		assert_ptr_equal(scraper->catalog, scrapers[1]->catalog);
		assert_string_equal(scraper->table.node_name, host.node);
		assert_int_equal(scraper->table.instance, host.instance);
		assert_true(dart_table__is_online(&scraper->table, 0));
		assert_string_equal(dart_table__find(&scraper->table, "vmstat")->name, "vmstat");
		assert_int_equal(scraper->read_count, 3);
		for (k = 0; k < 2; k++) {
			assert_int_equal(scraper->reads[k].address, host.address);
			assert_int_equal(scraper->reads[k].rkey, host.rkey);
		}
	}
	for (i = 1; i < HOSTS; i++)
		assert_decodes(scrapers[i], 1000 * i);
	for (i = 1; i < HOSTS; i++)
		scraper__free(scrapers[i]);
	dart_schema__free(schema);
}

static struct dart_schema *schema_with(const struct dart_field *fields,
				       uint32_t count, const char *name)
{
	struct dart_schema *schema = dart_schema__new(name, 64);

	assert_non_null(schema);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(dart_schema__add(schema, &fields[i]), 0);
	return schema;
}

static void test_schemas(void **state)
{
	static const struct dart_field first = {
		.name = "a",
		.unit = "ns",
		.width = 8,
		.count = 1,
		.kind = DART_CONTROL_FIELD_COUNTER,
	};
	struct dart_field fields[FIELDS];
	struct shared_schema *shared[FIELDS + 3];
	struct dart_schema *schema;
	size_t i, total = 0;

	for (i = 0; i < FIELDS; i++)
		fields[i] = first;
	fields[1].name = "b";
	fields[2].unit = "us";
	fields[3].offset = 8;
	fields[4].width = 4;
	fields[5].count = 2;
	fields[6].kind = DART_CONTROL_FIELD_GAUGE;
	fields[7].is_signed = true;
	fields[8].lags = true;
	fields[9].offset = 16;
	fields[9].name = "c";
	for (i = 0; i < FIELDS + 3; i++) {
		/* Each entry alone, none, two, and the first with another name. */
		if (i < FIELDS)
			schema = schema_with(&fields[i], 1, "one");
		else if (i == FIELDS)
			schema = schema_with(NULL, 0, "one");
		else if (i == FIELDS + 1)
			schema = schema_with((const struct dart_field[]){ fields[0], fields[9] }, 2,
					     "one");
		else
			schema = schema_with(&fields[0], 1, "two");
		shared[i] = shared_schema__get(&catalogs.schemas, schema);
		assert_non_null(shared[i]);
		assert_int_equal(content_store__count(&catalogs.schemas), ++total);
		assert_true(dart_schema__equals(&shared[i]->schema, schema));
		/* Again: the same. */
		assert_ptr_equal(shared_schema__get(&catalogs.schemas, schema), shared[i]);
		content__release(&shared[i]->content);
		dart_schema__free(schema);
	}
	for (i = 0; i < total; i++)
		content__release(&shared[i]->content);
}

/* Shared memory counts in the budget of a host, too. */
static void test_budget(void **state)
{
	struct dart_schema *schema = schema_of(1, DART_CONTROL_FIELD_COUNTER);
	const struct wish wishes[] = {
		{ "a", schema, 1 << 20, 1 }, { "b", schema, 1 << 20, 1 },
		{ "c", schema, 1 << 18, 1 },
	};
	const struct scraper_use use = {
		.catalogs = &catalogs,
		.value_bytes = BUDGET_CELL_BYTES,
	};
	const struct settings all = { };
	struct scraper *scraper, *other;
	struct dart_error error;

	scraper = scraper_of(wishes, 3, 0);
	assert_int_equal(scraper__new(table_of(wishes, 3), &all, &use,
				      &accept_of_agent, &other, &error),
			 -EFBIG);
	scraper__free(scraper);
	dart_schema__free(schema);
}

/* As a worker that decodes the last scrape of a target that is gone. */
struct releaser {
	pthread_t thread;
	sem_t handed_over, free;
	struct scraper *scraper;	/* NULL: the end */
	unsigned int wrong;
};

static void *run_releaser(void *data)
{
	struct releaser *releaser = data;
	const struct dart_entry *entry;

	for (;;) {
		sem_wait(&releaser->handed_over);
		if (!releaser->scraper)
			return NULL;
		entry = releaser->scraper->samples[0].entries[0].entry;
		releaser->wrong += strcmp(entry->name, "cpustat") ||
				   strcmp(entry->schema->fields[0].name, "field");
		scraper__free(releaser->scraper);
		sem_post(&releaser->free);
	}
}

static void hand_over(struct releaser *releaser, struct scraper *scraper)
{
	sem_wait(&releaser->free);
	releaser->scraper = scraper;
	sem_post(&releaser->handed_over);
}

/* A search finds a live object or none, whichever thread drops it meanwhile. */
static void test_threads(void **state)
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_COUNTER);
	const struct wish wishes[] = {
		{ "cpustat", schema, COPIES, 1 },
		{ "vmstat", schema, COPIES, 1 },
	};
	static struct releaser releasers[THREADS];
	uint32_t i;

	for (i = 0; i < THREADS; i++) {
		sem_init(&releasers[i].handed_over, 0, 0);
		sem_init(&releasers[i].free, 0, 1);
		assert_int_equal(thread__start(&releasers[i].thread, "worker",
					       run_releaser, &releasers[i]),
				 0);
	}
	for (i = 0; i < ROUNDS; i++)
		hand_over(&releasers[i % THREADS], scraper_of(wishes, 1 + i / THREADS % 2, i));
	for (i = 0; i < THREADS; i++) {
		hand_over(&releasers[i], NULL);
		pthread_join(releasers[i].thread, NULL);
		assert_int_equal(releasers[i].wrong, 0);
	}
	dart_schema__free(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CATALOG_TEST("hosts that differ in addresses, keys and identity share a catalog, and have their own values",
			     test_hosts),
		CATALOG_TEST("schemas are the same only if all of their fields and texts are",
			     test_schemas),
		CATALOG_TEST("the budget of a host counts what it shares", test_budget),
		CATALOG_TEST("catalogs are released in any thread while others are searched",
			     test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

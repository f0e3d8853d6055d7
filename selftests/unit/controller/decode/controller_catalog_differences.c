// SPDX-License-Identifier: GPL-2.0-only
/* Hosts do not share different parts. */
#include "controller_scrapers.h"

/* Makes one difference to a decoded table of two entries. */
typedef void change(struct dart_table *table);

static void change_name(struct dart_table *table)
{
	table->entries[1].name = "vmstatx";
}

static void change_since(struct dart_table *table)
{
	table->generation++;
	table->entries[0].since++;
}

static void change_kind(struct dart_table *table)
{
	table->entries[0].kind = DART_CONTROL_ENTRY_COUNTERS;
}

static void change_lifetime(struct dart_table *table)
{
	table->entries[0].lifetime = DART_CONTROL_LIFETIME_IMMOBILE;
}

static void change_copies(struct dart_table *table)
{
	table->entries[0].copies_are = DART_CONTROL_COPIES_CPU;
}

static void change_place(struct dart_table *table)
{
	table->memory_regions[0].length += 8;
	table->entries[0].ranges[0].address += 8;
}

static void change_stride(struct dart_table *table)
{
	table->memory_regions[1].length += 8 * COPIES;
	table->entries[1].ranges[0].stride += 8;
}

static void change_region(struct dart_table *table)
{
	table->entries[0].ranges[0].memory_region = 1;
}

/* An earlier entry is gone: a call asks for another place. */
static void change_place_of_entry(struct dart_table *table)
{
	table->entries[1].place++;
}

static void test_differences(void **state)
{
	static change *const changes[] = {
		change_name,  change_since,  change_kind,   change_lifetime,	   change_copies,
		change_place, change_stride, change_region, change_place_of_entry,
	};
	const size_t count = sizeof(changes) / sizeof(*changes);
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_COUNTER);
	const struct wish wishes[] = {
		{ "cpustat", schema, COPIES, 1 },
		{ "vmstat", schema, COPIES, 1 },
	};
	struct scraper *all[2 + sizeof(changes) / sizeof(*changes)];
	struct dart_table *table;
	size_t i;

	all[count] = scraper_of_table(table_of(wishes, 2), NULL);
	for (i = 0; i < count; i++) {
		table = table_of(wishes, 2);
		changes[i](table);
		all[i] = scraper_of_table(table, NULL);
		assert_int_equal(content_store__count(&catalogs.catalogs), i + 2);
	}
	/* A different choice of scraped entries is a difference, too; all hosts share schemas. */
	all[count + 1] = scraper_of_table(table_of(wishes, 2), "cpustat");
	assert_int_equal(content_store__count(&catalogs.catalogs), count + 2);
	assert_int_equal(content_store__count(&catalogs.schemas), 1);
	for (i = 0; i < count + 2; i++)
		scraper__free(all[i]);
	dart_schema__free(schema);
}

/* Both entries lie 40 bytes after the start of their memory regions, at @address. */
static struct scraper *scraper_at(const struct wish *wishes, uint64_t address)
{
	const struct test_host host = { "host", 1, address, 1 };
	struct dart_table *table = table_of_host(wishes, 2, &host);

	for (int i = 0; i < 2; i++) {
		table->memory_regions[i].length += 128;
		table->entries[i].ranges[0].address += 40;
	}
	return scraper_of_table(table, NULL);
}

/* Lands words whose values are their addresses. */
static void assert_lands(struct scraper *scraper, uint64_t address)
{
	uint8_t *landing = calloc(1, scraper__landing_size(scraper));
	const struct sample *sample;
	const uint64_t *copies;
	uint64_t word;
	uint32_t i, k;

	assert_non_null(landing);
	for (i = 0; i < scraper->read_count - 1; i++) {
		const struct dart_read *read = &scraper->reads[i];

		for (k = 0; k < read->length; k += sizeof(word)) {
			word = read->address + k;
			memcpy(landing + read->landing + k, &word, sizeof(word));
		}
	}
	sample = scraper__decode(scraper, landing);
	for (i = 0; i < 2; i++) {
		copies = sample->entries[i].copies;
		for (k = 0; k < COPIES; k++)
			assert_int_equal(copies[k], address + 40 + 8 * k);
	}
	free(landing);
}

/* READs begin at lines: values land elsewhere if addresses lie otherwise in lines. */
static void test_lines(void **state)
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_COUNTER);
	const struct wish wishes[] = {
		{ "cpustat", schema, COPIES, 1 },
		{ "vmstat", schema, COPIES, 1 },
	};
	static const uint64_t addresses[] = {
		0x10000, 0x10018, 0x20020, 0x40000, 0x50020, 0x60008,
	};
	const size_t count = sizeof(addresses) / sizeof(*addresses);
	struct scraper *scrapers[sizeof(addresses) / sizeof(*addresses)];
	size_t i;

	for (i = 0; i < count; i++)
		scrapers[i] = scraper_at(wishes, addresses[i]);
	assert_int_equal(content_store__count(&catalogs.catalogs), 3);
	assert_ptr_equal(scrapers[3]->catalog, scrapers[0]->catalog);
	assert_ptr_equal(scrapers[4]->catalog, scrapers[2]->catalog);
	/* There the memory region begins within a line. */
	assert_ptr_equal(scrapers[5]->catalog, scrapers[0]->catalog);
	for (i = 0; i < count; i++)
		assert_lands(scrapers[i], addresses[i]);
	for (i = 0; i < count; i++)
		scraper__free(scrapers[i]);
	dart_schema__free(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CATALOG_TEST("tables that differ in anything else have different catalogs, and share schemas",
			     test_differences),
		CATALOG_TEST("hosts whose memory lies otherwise in lines of 64 bytes have different catalogs, and their own values",
			     test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

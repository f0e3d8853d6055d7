// SPDX-License-Identifier: GPL-2.0-only
/* Tables that grow in place: refused entries, memory and time. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <libdart/table/table_builder_internal.h>
#include <libdart/table/table_writer.h>

#include "comparisons.h"
#include "sample.h"

/* The table that a test appends to, and an entry that is not in it. */
struct appended {
	struct sample sample;
	uint8_t memory[8192] __attribute__((aligned(8)));
	struct dart_table_writer *writer;
	struct dart_table more;
	struct dart_range range;
	struct dart_entry entry;
	int length;
};

static struct appended *appended__new(size_t capacity)
{
	struct appended *appended = calloc(1, sizeof(*appended));

	assert_non_null(appended);
	sample__init(&appended->sample);
	appended->writer = dart_table_writer__new(appended->memory, capacity);
	assert_non_null(appended->writer);
	appended->length = dart_table_writer__rewrite(appended->writer, &appended->sample.table);
	assert_true(appended->length > 0);

	appended->range = appended->sample.ranges[5];
	appended->entry = appended->sample.entries[SAMPLE_ROWS];
	appended->entry.name = "more";
	appended->entry.ranges = &appended->range;
	appended->more = appended->sample.table;
	appended->more.generation++;
	appended->more.memory_region_count = 0;
	appended->more.entries = &appended->entry;
	appended->more.entry_count = 1;
	return appended;
}

static void appended__free(struct appended *appended)
{
	dart_table_writer__free(appended->writer);
	sample__release(&appended->sample);
	free(appended);
}

static void expect_refused(struct appended *appended, int err)
{
	uint8_t before[sizeof(appended->memory)];

	memcpy(before, appended->memory, sizeof(before));
	assert_int_equal(dart_table_writer__append(appended->writer, &appended->more), err);
	assert_memory_equal(appended->memory, before, sizeof(before));
	assert_int_equal(dart_table_writer__rewrite(appended->writer, &appended->more), err);
	assert_memory_equal(appended->memory, before, sizeof(before));
}

static void test_refused(void **state)
{
	const size_t capacity = sizeof(((struct appended *)NULL)->memory);
	struct appended *appended = appended__new(capacity);
	struct dart_memory_region empty = { .address = 1 };
	struct dart_schema *schema = sample__stat();
	struct dart_table whole = appended->sample.table;
	struct dart_entry entries[SAMPLE_ENTRIES + 1];

	appended->range.memory_region = 3;
	expect_refused(appended, -EINVAL);
	appended->range.memory_region = 0;
	appended->entry.name = "\x1b[2J";
	expect_refused(appended, -EINVAL);
	appended->entry.name = "more";
	appended->more.memory_regions = &empty;
	appended->more.memory_region_count = 1;
	expect_refused(appended, -EINVAL);
	appended->more.memory_region_count = 0;
	appended->more.generation = 0;
	expect_refused(appended, -EINVAL);
	appended->more.generation = 8;

	/* A new schema, and a range that does not hold its fields. */
	appended->entry.schema = schema;
	sample__add(schema, "last", "", 60, 4, 1, DART_CONTROL_FIELD_GAUGE, false);
	appended->range.length = 60;
	expect_refused(appended, -EINVAL);
	appended->range.length = 64;

	/* Only an append finds a name that is taken by another entry. */
	appended->entry.name = "pair";
	assert_int_equal(dart_table_writer__append(appended->writer, &appended->more), -EINVAL);
	appended->entry.name = "more";

	appended->length = dart_table_writer__append(appended->writer, &appended->more);
	memcpy(entries, whole.entries, sizeof(*entries) * SAMPLE_ENTRIES);
	entries[SAMPLE_ENTRIES] = appended->entry;
	whole.entries = entries;
	whole.entry_count++;
	whole.generation++;
	sample__assert_decodes(appended->memory, appended->length, &whole);
	appended__free(appended);
	dart_schema__free(schema);
}

/* Repeated attempts must not fill the agent's memory. */
static void test_no_trace(void **state)
{
	struct dart_memory_region regions[2] = {
		{ .address = 1, .length = 1 }, { .address = 1 },
	};
	struct dart_builder before, builder;
	struct dart_entry entries[2];
	struct dart_table more;
	struct sample sample;
	int i;

	sample__init(&sample);
	assert_int_equal(dart_builder__init(&builder), 0);
	assert_int_equal(dart_builder__add(&builder, &sample.table), 0);
	before = builder;

	/* The second entry carries the name of the first. */
	entries[0] = entries[1] = sample.entries[SAMPLE_ROWS];
	entries[0].name = entries[1].name = "again";
	sample__add(sample.stat, "last", "", 60, 4, 1, DART_CONTROL_FIELD_GAUGE, false);
	more = sample.table;
	more.memory_regions = regions;
	more.memory_region_count = 1;
	more.entries = entries;
	more.entry_count = 2;
	for (i = 0; i < 1000; i++) {
		more.memory_region_count = 1 + i % 2;
		assert_int_equal(dart_builder__add(&builder, &more), -EINVAL);
	}
	assert_int_equal(builder.names.used, before.names.used);
	assert_int_equal(builder.names.size, before.names.size);
	assert_int_equal(builder.schemas.used, before.schemas.used);
	assert_int_equal(builder.schemas.size, before.schemas.size);
	assert_int_equal(builder.data, before.data);
	for (i = 0; i < DART_SECTIONS; i++)
		assert_int_equal(builder.sections.of[i].count, before.sections.of[i].count);
	dart_builder__release(&builder);
	sample__release(&sample);
}

static void test_full(void **state)
{
	struct appended *appended = appended__new(4096);
	const struct dart_control_header *header = (void *)appended->memory;
	uint32_t entries = SAMPLE_ENTRIES;
	char name[32];
	struct dart_table *decoded;
	uint32_t used;
	int length;

	memset(appended->memory + 4096, 0xa5, 4096);
	appended->entry.name = name;
	for (;; entries++) {
		snprintf(name, sizeof(name), "entry-%08u", entries);
		length = dart_table_writer__append(appended->writer, &appended->more);
		if (length < 0)
			break;
		assert_in_range(length, 1, 4096);
		appended->length = length;
		appended->more.generation++;
	}
	assert_int_equal(length, -ENOSPC);
	decoded = sample__decode(appended->memory, appended->length);
	assert_int_equal(decoded->entry_count, entries);
	snprintf(name, sizeof(name), "entry-%08u", entries - 1);
	assert_string_equal(decoded->entries[entries - 1].name, name);
	dart_table__free(decoded);

	used = sizeof(*header) +
	       header->memory_regions.count * sizeof(struct dart_control_memory_region) +
	       header->entries.count * sizeof(struct dart_control_entry) +
	       header->ranges.count * sizeof(struct dart_control_range) +
	       header->schemas.count * sizeof(struct dart_control_schema) +
	       header->fields.count * sizeof(struct dart_control_field) + header->strings.count;
	printf("# %u entries in %u of 4096 bytes\n", entries, used);
	/* There was no room for another entry; sections are aligned. */
	assert_in_range(used, 4096 - sizeof(struct dart_control_entry) -
			sizeof(struct dart_control_range) - sizeof("entry-") -
			8 - 6 * 7, 4096);
	for (used = 4096; used < sizeof(appended->memory); used++)
		assert_int_equal(appended->memory[used], 0xa5);
	appended__free(appended);
}

/*
 * Memory whose pages are counted when they are first read or written after a call of
 * watched__begin(): the work of the writer there, however busy the machine is.
 */
static struct {
	uint8_t *memory;
	size_t length;
	long page;
	volatile unsigned int touched;
} watched;

static void watched__touch(int number, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & -(uintptr_t)watched.page;

	/* Any other address is a defect, and the fault comes again without a handler. */
	if (page - (uintptr_t)watched.memory >= watched.length ||
	    mprotect((void *)page, watched.page, PROT_READ | PROT_WRITE))
		signal(SIGSEGV, SIG_DFL);
	watched.touched++;
}

static void watched__open(size_t length)
{
	struct sigaction action = {
		.sa_sigaction = watched__touch,
		.sa_flags = SA_SIGINFO,
	};

	watched.page = sysconf(_SC_PAGESIZE);
	watched.length = length;
	watched.memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(watched.memory != MAP_FAILED);
	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
}

static void watched__begin(void)
{
	assert_int_equal(mprotect(watched.memory, watched.length, PROT_NONE), 0);
	watched.touched = 0;
	comparisons = 0;
}

static void watched__close(void)
{
	signal(SIGSEGV, SIG_DFL);
	munmap(watched.memory, watched.length);
}

/* Average over many calls: a single call may write all sections again, with more room. */
struct work {
	uint64_t pages;
	uint64_t comparisons;
};

static void work__add(struct work *work)
{
	work->pages += watched.touched;
	work->comparisons += comparisons;
}

/* As many entries as slices are allowed on a host, each with its own schema. */
static void test_many(void **state)
{
	enum { CAPACITY = 4 << 20, MANY = 10000, PART = 2500 };
	struct appended *appended = appended__new(8192);
	struct work parts[MANY / PART] = { }, removals = { };
	const struct dart_control_header *header;
	struct dart_table_writer *writer;
	struct dart_table *decoded;
	char name[64];
	int i, length;

	watched__open(CAPACITY);
	header = (void *)watched.memory;
	writer = dart_table_writer__new(watched.memory, CAPACITY);
	assert_non_null(writer);
	appended->entry.name = name;
	assert_true(dart_table_writer__rewrite(writer, &appended->sample.table) > 0);
	for (i = 0; i < MANY; i++) {
		struct dart_schema *schema = sample__stat();

		appended->entry.schema = schema;
		appended->more.generation++;
		snprintf(name, sizeof(name), "slice/some-function-%u", i);
		watched__begin();
		length = dart_table_writer__append(writer, &appended->more);
		work__add(&parts[i / PART]);
		assert_in_range(length, 1, CAPACITY);
		dart_schema__free(schema);
	}
	for (i = 0; i < MANY / 2; i++) {
		appended->more.generation++;
		snprintf(name, sizeof(name), "slice/some-function-%u", 2 * i);
		watched__begin();
		length = dart_table_writer__remove(writer, &appended->more, name);
		work__add(&removals);
		assert_in_range(length, 1, CAPACITY);
	}
	for (i = 0; i < MANY / PART; i++)
		printf("# %d appends to %d entries: %" PRIu64 " pages, %" PRIu64 " comparisons\n",
		       PART, i * PART, parts[i].pages, parts[i].comparisons);
	printf("# %d removals: %" PRIu64 " pages, %" PRIu64 " comparisons\n", MANY / 2,
	       removals.pages, removals.comparisons);
	assert_in_range(parts[3].pages, PART, 2 * parts[0].pages);
	assert_in_range(parts[3].comparisons, 0, 2 * parts[0].comparisons);
	assert_in_range(removals.pages, MANY / 2, 2 * (parts[0].pages + parts[1].pages));
	assert_in_range(removals.comparisons, 0, 2 * (parts[0].comparisons + parts[1].comparisons));
	assert_int_equal(mprotect(watched.memory, CAPACITY, PROT_READ), 0);
	assert_int_equal(header->schemas.count, 2);
	decoded = sample__decode(watched.memory, length);
	assert_int_equal(decoded->entry_count, SAMPLE_ENTRIES + MANY / 2);
	dart_table__free(decoded);
	dart_table_writer__free(writer);
	watched__close();
	appended__free(appended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an entry that a decoder would refuse is not written, and the next one is",
		     test_refused),
		TEST("a refused entry leaves no trace in the builder's strings, schemas and sections",
		     test_no_trace),
		TEST("entries are appended until less than one entry's space is left, and never beyond",
		     test_full),
		TEST("appending and removing touch no more of the table with 10000 entries than with a few",
		     test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

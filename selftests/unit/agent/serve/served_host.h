/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host whose agent serves values, for the tests of agent/serve: the table of sample.h
 * and memory with the values, in this process.
 */
#ifndef SERVED_HOST_H
#define SERVED_HOST_H

#include <libdart/clock.h>
#include <libdart/rdma/read_plan.h>
#include <libdart/rpc/plan.h>
#include <libdart/table/table_writer.h>
#include <libdart/table/value.h>

#include "agent/table/control_region.h"
#include "selftests/unit/libdart/table/sample.h"

#define SERVED_TABLE_MAX 16384

struct served_host {
	struct sample sample;
	uint8_t table[SERVED_TABLE_MAX] __attribute__((aligned(8)));
	struct control_region control_region;
};

/* The memory at 0x100000, 0x200000 and 0x300010, the memory regions of the sample. */
static struct {
	uint8_t large[0x2000];
	uint8_t middle[0x100];
	uint8_t small[0x40];
} served_memory __attribute__((aligned(4096)));

/* ---- the rooms around the tested ones */

const void *exposure__memory(const struct exposure *exposure, uint64_t address)
{
	if (address >= 0x300010)
		return served_memory.small + (address - 0x300010);
	if (address >= 0x200000)
		return served_memory.middle + (address - 0x200000);
	return served_memory.large + (address - 0x100000);
}

uint32_t control_region__capacity(void)
{
	return SERVED_TABLE_MAX;
}

/* ---- */

static inline void served_host__publish(struct served_host *host, int length, bool is_rewritten)
{
	assert_true(length > 0);
	host->control_region.used = length;
	host->control_region.generation = host->sample.table.generation;
	generations__publish(&host->control_region.generations, host->sample.table.generation,
			     is_rewritten, dart_clock__ns(CLOCK_BOOTTIME));
	table_watchers__tell(&host->control_region.mirrors.watchers);
}

static inline struct served_host *served_host__new(void)
{
	struct served_host *host = calloc(1, sizeof(*host));
	uint64_t state = 1;
	uint32_t i;

	assert_non_null(host);
	sample__init(&host->sample);
	for (i = 0; i < sizeof(served_memory); i++)
		((uint8_t *)&served_memory)[i] = random__below(&state, 256);
	host->control_region.memory = host->table;
	host->control_region.instance = host->sample.table.instance;
	host->control_region.writer = dart_table_writer__new(host->table, sizeof(host->table));
	assert_non_null(host->control_region.writer);
	served_host__publish(
		host, dart_table_writer__rewrite(host->control_region.writer, &host->sample.table),
		true);
	return host;
}

static inline void served_host__free(struct served_host *host)
{
	dart_table_writer__free(host->control_region.writer);
	sample__release(&host->sample);
	free(host);
}

/* The next generation, with all places as before, or all of them written again. */
static inline void served_host__change(struct served_host *host, bool is_rewritten)
{
	struct dart_table same = host->sample.table;

	host->sample.table.generation++;
	same.generation++;
	if (!is_rewritten) {
		same.entry_count = 0;
		same.memory_region_count = 0;
	}
	served_host__publish(
		host,
		is_rewritten ? dart_table_writer__rewrite(host->control_region.writer, &same) :
			       dart_table_writer__append(host->control_region.writer, &same),
		is_rewritten);
}

/* The next generation: the first entry is new. */
static inline void served_host__renew(struct served_host *host)
{
	host->sample.table.entries[0].since = host->sample.table.generation + 1;
	served_host__change(host, true);
}

static inline void served_host__remove(struct served_host *host, const char *name)
{
	struct dart_table rest = host->sample.table;

	host->sample.table.generation++;
	rest.generation++;
	rest.entry_count = 0;
	rest.memory_region_count = 0;
	served_host__publish(
		host, dart_table_writer__remove(host->control_region.writer, &rest, name), false);
}

/* A controller's copy of the host's table, and its plans for some entries. */
struct seen_table {
	struct dart_table *table;
	struct dart_read_plan *reads;
	struct dart_rpc_plan *plan;
	uint8_t *landing;	/* for values */
	uint8_t *expected;	/* the bytes that READs would land */
};

static inline void seen_table__open(struct seen_table *seen, const void *bytes, size_t length,
				    const uint32_t *entries, uint32_t count)
{
	struct dart_error error;
	size_t size;

	assert_int_equal(dart_table__decode(bytes, length, &seen->table, NULL, &error), 0);
	assert_int_equal(dart_read_plan__new(seen->table, entries, count, &seen->reads), 0);
	assert_int_equal(dart_rpc_plan__new(seen->table, seen->reads, entries, count, &seen->plan),
			 0);
	size = dart_rpc_plan__landing_size(seen->plan);
	seen->landing = malloc(size);
	seen->expected = malloc(size);
	assert_non_null(seen->landing);
	assert_non_null(seen->expected);
	memset(seen->landing, 0x55, size);
}

static inline void seen_table__close(struct seen_table *seen)
{
	dart_rpc_plan__free(seen->plan);
	dart_read_plan__free(seen->reads);
	dart_table__free(seen->table);
	free(seen->landing);
	free(seen->expected);
}

/*
 * Did the same values land as READs would land now, followed by a header of the same
 * table (0), or of a later generation (-ESTALE)?
 */
static inline void seen_table__expect_landed(const struct seen_table *seen, const uint32_t *entries,
					     uint32_t count, int same)
{
	const size_t header = dart_read_plan__landing_size(seen->reads);
	const struct dart_read *reads;
	uint32_t i, number, read_count;
	uint8_t *landed, *expected;
	size_t size;

	reads = dart_read_plan__reads(seen->reads, &read_count);
	for (i = 0; i < read_count; i++)
		memcpy(seen->expected + reads[i].landing, exposure__memory(NULL, reads[i].address),
		       reads[i].length);
	for (i = 0; i < (entries ? count : seen->table->entry_count); i++) {
		number = entries ? entries[i] : i;
		size = dart_entry__size(&seen->table->entries[number]);
		landed = malloc(size);
		expected = malloc(size);
		assert_non_null(landed);
		assert_non_null(expected);
		dart_read_plan__gather(seen->reads, number, seen->landing, landed);
		dart_read_plan__gather(seen->reads, number, seen->expected, expected);
		assert_memory_equal(landed, expected, size);
		free(landed);
		free(expected);
	}
	assert_int_equal(dart_table__same(seen->table, seen->landing + header), same);
}

#endif /* SERVED_HOST_H */

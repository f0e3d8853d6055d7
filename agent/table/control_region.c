// SPDX-License-Identifier: GPL-2.0-only
/* Publishes the table of entries and offers it to controllers. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include <systemd/sd-id128.h>

#include <libdart/clock.h>

#include "agent/base/host.h"
#include "control_region.h"

/*
 * Bytes, all pinned: 1/1024 of the memory of the host, within these limits.  10,000 slices
 * take 1.5 MiB with room to grow, as do six sources of 1,700 cgroups; a source on 256 CPUs
 * with four runs takes 70 KiB.
 */
#define CAPACITY_MIN (4 << 20)
#define CAPACITY_MAX DART_CONTROL_LENGTH_MAX

static size_t choose_capacity(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 1024;

	if (bytes < CAPACITY_MIN)
		return CAPACITY_MIN;
	/* Whole pages. */
	return bytes < CAPACITY_MAX ? bytes >> 20 << 20 : CAPACITY_MAX;
}

static int control_region__identify(struct control_region *control_region, struct dart_error *error)
{
	sd_id128_t id;

	/* Zeros on a host without machine-id(5). */
	if (sd_id128_get_machine(&id) >= 0)
		memcpy(control_region->host_id, id.bytes, sizeof(id.bytes));
	if (sd_id128_get_boot(&id) >= 0)
		memcpy(control_region->boot_id, id.bytes, sizeof(id.bytes));

	while (!control_region->instance)
		if (getrandom(&control_region->instance, sizeof(control_region->instance), 0) < 0)
			return dart_error__system(error, errno, "cannot get random numbers");
	return 0;
}

static void close_sets(const struct control_region *control_region)
{
	if (control_region->online_fd >= 0)
		close(control_region->online_fd);
	free(control_region->online);
	free(control_region->nohz_full);
}

int control_region__open(struct control_region *control_region, struct exposure *exposure,
			 struct dart_error *error)
{
	struct entries none = TAILQ_HEAD_INITIALIZER(none);
	int ret;

	*control_region = (struct control_region){
		.exposure = exposure,
		.capacity = choose_capacity(),
	};
	ret = control_region__identify(control_region, error);
	if (ret)
		return ret;

	control_region->online =
		calloc(exposure->region->cpus / 64 + 1, sizeof(*control_region->online));
	control_region->nohz_full =
		calloc(exposure->region->cpus / 64 + 1, sizeof(*control_region->nohz_full));
	control_region->online_fd = host__open_online_cpus();
	if (!control_region->online || !control_region->nohz_full) {
		ret = dart_error__no_memory(error);
		goto free_sets;
	}
	/* A parameter of the kernel. */
	host__nohz_full_cpus(control_region->nohz_full, exposure->region->cpus);
	control_region->memory = mmap(NULL, control_region->capacity,
				      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (control_region->memory == MAP_FAILED) {
		ret = dart_error__system(error, errno, "cannot map the control region");
		goto free_sets;
	}

	control_region->writer =
		dart_table_writer__new(control_region->memory, control_region->capacity);
	if (!control_region->writer) {
		ret = dart_error__no_memory(error);
		goto unmap;
	}

	control_region->memory_region =
		exposure__register(exposure, control_region->memory, control_region->capacity);
	if (!control_region->memory_region) {
		ret = dart_error__system(error, errno,
					 "cannot register the control region for RDMA");
		goto free_writer;
	}

	audience__open(&control_region->audience);
	mirrors__open(&control_region->mirrors, control_region->writer);
	ret = control_region__update(control_region, &none, &none, 0, NULL, error);
	if (ret)
		goto deregister;
	return 0;

deregister:
	exposure__deregister(exposure, control_region->memory_region);
free_writer:
	dart_table_writer__free(control_region->writer);
unmap:
	munmap(control_region->memory, control_region->capacity);
free_sets:
	close_sets(control_region);
	return ret;
}

void control_region__close(struct control_region *control_region)
{
	exposure__deregister(control_region->exposure, control_region->memory_region);
	dart_table_writer__free(control_region->writer);
	munmap(control_region->memory, control_region->capacity);
	close_sets(control_region);
}

static int table__add_memory_regions(struct dart_table *table, const struct exposure *exposure,
				     struct ibv_mr *const *memory_regions, uint32_t count)
{
	struct dart_memory_region *all;
	uint32_t i;

	if (!count)
		return 0;
	all = reallocarray(table->memory_regions, table->memory_region_count + count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	table->memory_regions = all;
	for (i = 0; i < count; i++)
		all[table->memory_region_count++] = (struct dart_memory_region){
			.address = exposure__address(exposure, memory_regions[i]->addr),
			.length = memory_regions[i]->length,
			.rkey = memory_regions[i]->rkey,
		};
	return 0;
}

int control_region__entry(const struct exposure *exposure, const struct entry *entry,
			  uint32_t first, struct dart_entry *shown)
{
	*shown = (struct dart_entry){
		.name = entry->name,
		.schema = entry->schema,
		.kind = entry->kind,
		.lifetime = entry->lifetime,
		.copies_are = entry->copies_are,
		.copies = entry->extent.copies,
		.since = entry->since,
		.range_count = exposure__range_count(exposure, entry),
	};
	shown->ranges = calloc(shown->range_count, sizeof(*shown->ranges));
	if (!shown->ranges)
		return -ENOMEM;
	exposure__ranges(exposure, entry, first, shown->ranges);
	return 0;
}

/* @first memory regions precede the memory regions of @table. */
static int table__add_entry(struct dart_table *table, uint32_t first,
			    const struct exposure *exposure, const struct entry *entry)
{
	struct dart_entry *all;
	int ret;

	all = reallocarray(table->entries, table->entry_count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	table->entries = all;

	first += table->memory_region_count;
	ret = table__add_memory_regions(table, exposure, entry->memory_regions,
					entry->memory_region_count);
	ret = ret ?: control_region__entry(exposure, entry, first, &all[table->entry_count]);
	if (!ret)
		table->entry_count++;
	return ret;
}

static int table__add_entries(struct dart_table *table, const struct exposure *exposure,
			      const struct entries *entries)
{
	const struct entry *entry;
	int ret = 0;

	TAILQ_FOREACH(entry, entries, link)
		ret = ret ?: table__add_entry(table, 0, exposure, entry);
	return ret;
}

/* A table while memory regions that entries share are added to it. */
struct sharing {
	struct dart_table *table;
	const struct exposure *exposure;
};

static int add_shared(void *context, struct ibv_mr *memory_region)
{
	const struct sharing *sharing = context;

	return table__add_memory_regions(sharing->table, sharing->exposure, &memory_region, 1);
}

/* Adds all memory regions with @is_rewritten, else the ones that the published table lacks. */
static int table__add_shared(struct dart_table *table, struct exposure *exposure,
			     bool is_rewritten, uint32_t first)
{
	struct sharing sharing = { table, exposure };

	return exposure__place_shared(exposure, is_rewritten, first, add_shared, &sharing);
}

/* An empty table of the next generation, until the one after it. */
static struct dart_table next_table(struct control_region *control_region)
{
	const struct exposure *exposure = control_region->exposure;
	struct dart_table table = {
		.generation = control_region->generation + 1,
		.instance = control_region->instance,
		.clock_offset_ns = dart_clock__ns(CLOCK_REALTIME) - dart_clock__ns(CLOCK_BOOTTIME),
		.exposure = exposure->mode,
		.cpus = exposure->region->cpus,
		.page_size = exposure->region->page_size,
		.lease_ms = LEASE_MS,
	};

	memcpy(table.host_id, control_region->host_id, sizeof(table.host_id));
	memcpy(table.boot_id, control_region->boot_id, sizeof(table.boot_id));
	host__name(table.node_name, sizeof(table.node_name));
	if (!host__read_online_cpus(control_region->online_fd, control_region->online, table.cpus))
		table.online = control_region->online;
	table.nohz_full = control_region->nohz_full;
	return table;
}

/*
 * Notes the result @ret of publishing @table after @first memory regions; @is_rewritten: the places
 * of entries may have changed.
 */
static int control_region__take(struct control_region *control_region,
				const struct dart_table *table, uint32_t first, bool is_rewritten,
				int ret, struct dart_error *error)
{
	if (ret == -ENOSPC)
		return dart_error__set(error, ENOSPC,
				       "the control region is full (unregister something first)");
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot publish the table");
	control_region->generation = table->generation;
	generations__publish(&control_region->generations, table->generation, is_rewritten,
			     dart_clock__ns(CLOCK_BOOTTIME));
	control_region->memory_region_count = first + table->memory_region_count;
	control_region->used = ret;
	return 0;
}

static void table__empty(struct dart_table *table)
{
	while (table->entry_count)
		free(table->entries[--table->entry_count].ranges);
	free(table->entries);
	free(table->memory_regions);
}

static int control_region__rewrite(struct control_region *control_region,
				   const struct entries *entries, const struct entries *lingering,
				   struct dart_error *error)
{
	struct exposure *exposure = control_region->exposure;
	struct dart_table table = next_table(control_region);
	int ret;

	ret = table__add_shared(&table, exposure, true, 0)	 ?:
		      table__add_entries(&table, exposure, entries)	 ?:
		      table__add_entries(&table, exposure, lingering) ?:
		      dart_table_writer__rewrite(control_region->writer, &table);
	ret = control_region__take(control_region, &table, 0, true, ret, error);
	table__empty(&table);
	return ret;
}

/* The first of the last @count of @entries; NULL if @count is 0. */
static struct entry *first_of_last(const struct entries *entries, uint32_t count)
{
	struct entry *entry = NULL;

	while (count--)
		entry = entry ? TAILQ_PREV(entry, entries, link) : TAILQ_LAST(entries, entries);
	return entry;
}

/* NULL: out of memory; the caller frees it. */
static const char **names_of(const struct entries *entries, uint32_t *count)
{
	const struct entry *entry;
	const char **names;

	*count = 0;
	TAILQ_FOREACH(entry, entries, link)
		++*count;
	names = calloc(*count + 1, sizeof(*names));
	*count = 0;
	TAILQ_FOREACH(entry, entries, link)
		if (names)
			names[(*count)++] = entry->name;
	return names;
}

/*
 * Takes the entries of @removed out, and appends the entries from @added on, and the @lingering ones
 * that are not listed.
 */
static int control_region__change(struct control_region *control_region, const struct entry *added,
				  const struct entries *lingering, const struct entries *removed,
				  struct dart_error *error)
{
	struct dart_table more = next_table(control_region);
	uint32_t first = control_region->memory_region_count;
	uint32_t count = 0;
	const char **names = names_of(removed, &count);
	int ret = names ? 0 : -ENOMEM;

	ret = ret ?: table__add_shared(&more, control_region->exposure, false, first);
	for (; added && !ret; added = TAILQ_NEXT(added, link))
		ret = table__add_entry(&more, first, control_region->exposure, added);
	TAILQ_FOREACH(added, lingering, link)
		if (!ret && added->is_unlisted)
			ret = table__add_entry(&more, first, control_region->exposure, added);
	ret = ret ?: dart_table_writer__change(control_region->writer, names, count, &more);
	ret = control_region__take(control_region, &more, first, false, ret, error);
	table__empty(&more);
	free(names);
	return ret;
}

/* Notes in which generation the entries from @entry on were first listed. */
static void control_region__date(const struct control_region *control_region, struct entry *entry)
{
	for (; entry; entry = TAILQ_NEXT(entry, link))
		if (!entry->since)
			entry->since = control_region->generation;
}

int control_region__update(struct control_region *control_region, const struct entries *entries,
			   const struct entries *lingering, uint32_t added,
			   const struct entries *removed, struct dart_error *error)
{
	uint64_t changes = control_region->exposure->shared_changes;
	struct entry *first = first_of_last(entries, added);
	int ret = -EAGAIN;

	/* Another memory region of page exposure concerns the ranges of all entries. */
	if (removed && changes == control_region->shared_changes)
		ret = control_region__change(control_region, first, lingering, removed, error);

	/* Rewriting reclaims the room of removed entries. */
	if (ret == -EAGAIN || ret == -ENOSPC)
		ret = control_region__rewrite(control_region, entries, lingering, error);
	exposure__settle_shared(control_region->exposure, !ret);
	if (ret)
		return ret;
	control_region->shared_changes = changes;
	control_region__date(control_region, removed ? first : TAILQ_FIRST(entries));
	mirrors__publish(&control_region->mirrors, control_region->generation,
			 control_region->used);
	return 0;
}

uint32_t control_region__capacity(void)
{
	return CAPACITY_MAX;
}

static int offer_table(void *subject, const void *data,
		       struct peer_offer *offer, struct dart_error *error)
{
	struct control_region *control_region = subject;
	const struct dart_control_accept accept = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.rkey = htole32(control_region->memory_region->rkey),
		.address = htole64(
			exposure__address(control_region->exposure, control_region->memory)),
		.length = htole32(control_region->capacity),
		.used = htole32(control_region->used),
		.time_ns = htole64(dart_clock__ns(CLOCK_REALTIME)),
	};
	struct dart_control_request request;
	int ret;

	ret = mirror_place__find(data, &offer->mirror, error);
	if (ret)
		return ret;
	if (offer->mirror.length) {
		offer->mirrors = &control_region->mirrors;
		/* Others after a change of the device. */
		control_region->mirrors.address = le64toh(accept.address);
		control_region->mirrors.lkey = control_region->memory_region->lkey;
	}
	memcpy(&request, data, sizeof(request));
	offer->audience = &control_region->audience;
	offer->interval_ms = le32toh(request.interval_ms);
	offer->pd = control_region->exposure->pd;
	offer->length = sizeof(accept);
	memcpy(offer->data, &accept, sizeof(accept));
	return 0;
}

const struct peer_kind controller_kind = {
	.name = "controller",
	.magic = DART_CONTROL_MAGIC,
	.abi_version = DART_CONTROL_ABI_VERSION,
	.request_length = sizeof(struct dart_control_request),
	.option_length = sizeof(struct dart_control_mirror),
	.takes_interval = true,
	.offer = offer_table,
};

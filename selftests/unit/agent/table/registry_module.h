/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A registry with its real rooms and a real control region, over a module that the test plays: it
 * answers the ioctls of /dev/dart_zero.  There is no RDMA device, and leases end on command.
 */
#ifndef REGISTRY_MODULE_H
#define REGISTRY_MODULE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <linux/dart_zero_samples.h>

#include "agent/table/registry.h"
#include "selftests/unit/unit.h"

#define PAGE 4096
#define CAPACITY (256UL << 20)
/* Slab and extents of the region; each slice has 2 MiB of a slab. */
#define OWN_SLAB 100
#define EARLIER_SLAB 200
#define SLICE_BYTES (2UL << 20)
#define SLAB_BYTES (64UL << 20)
#define EXTENTS_MAX 512
#define STRIDE 64
#define EXTENT_BYTES ((uint64_t)STRIDE * region.cpus)

/* The module: extents from 1000 on, slices below 32, of which @lent has a bit each. */
static struct {
	bool extents[EXTENTS_MAX];
	uint32_t extent_count;
	uint64_t lent;
	uint32_t pages_adopted;
	int info_error;
	uint32_t window;	/* the only one; 0: none */
	uint32_t windows;	/* opened so far */
	int window_error;
} module;

static struct region region = { .way = &module_way, .fd = -1, .page_size = PAGE, .capacity = CAPACITY };
static struct leases leases;
static struct exposure exposure;
static struct control_region control_region;
static struct dart_table_writer *writer, *full;
static struct table_counts counts;
static struct memory_counts memory_counts;
static struct changes changes;
static struct fd_store kept_descriptors;
static struct client_memories clients;
static struct registry registry;
static sd_event *loop;

/* The table that controllers find. */
static struct dart_table *published(void)
{
	struct dart_table *table;
	struct dart_error error;

	assert_int_equal(dart_table__decode(control_region.memory, control_region.used, &table,
					    NULL, &error), 0);
	return table;
}

static inline uint32_t published_count(void)
{
	struct dart_table *table = published();
	uint32_t count = table->entry_count;

	dart_table__free(table);
	return count;
}

static inline bool is_published(const char *name)
{
	struct dart_table *table = published();
	bool is_found = false;
	uint32_t i;

	for (i = 0; i < table->entry_count; i++)
		is_found |= !strcmp(table->entries[i].name, name);
	dart_table__free(table);
	return is_found;
}

/* Do controllers find a copy that is @data bytes from the start of the region? */
static bool is_exposed(uint64_t data)
{
	const uint64_t address = exposure__address(&exposure, region.memory + data);
	struct dart_table *table = published();
	bool is_found = false;
	uint32_t i;

	for (i = 0; i < table->entry_count; i++)
		is_found |= table->entries[i].ranges[0].address == address;
	dart_table__free(table);
	return is_found;
}

/* From now on no table fits, or as much as before. */
static inline void refuse_publications(bool refuses)
{
	control_region.writer = refuses ? full : writer;
	/* All of the table is written again. */
	control_region.shared_changes--;
}

static struct dart_zero_extent slab_of(uint32_t id)
{
	return (struct dart_zero_extent){
		.id = id,
		.data = id == OWN_SLAB ? SLAB_BYTES : 2 * SLAB_BYTES,
		.length = SLAB_BYTES,
		.pages = SLAB_BYTES / PAGE,
		.copies = 1,
	};
}

static int add_counters(struct dart_zero_counters *added)
{
	uint32_t i = module.extent_count++;

	assert_in_range(i, 0, EXTENTS_MAX - 1);
	module.extents[i] = true;
	added->extent = (struct dart_zero_extent){
		.id = 1000 + i,
		.data = i * EXTENT_BYTES,
		.length = added->count * 8,
		.stride = STRIDE,
		.copies = region.cpus,
	};
	return 0;
}

/* The one variable of this kernel by CPU: two numbers with a gap between. */
#define WINDOW_TYPE "softnet_data"
#define WINDOW_LENGTH 16

static int add_window(struct dart_zero_window *added)
{
	uint32_t i;

	errno = module.window ? EEXIST : module.window_error;
	if (errno)
		return -1;
	i = module.extent_count++;
	assert_in_range(i, 0, EXTENTS_MAX - 1);
	module.extents[i] = true;
	module.window = 1000 + i;
	module.windows++;
	added->extent = (struct dart_zero_extent){
		.id = module.window,
		.data = i * EXTENT_BYTES,
		.length = WINDOW_LENGTH,
		.stride = STRIDE,
		.copies = region.cpus,
		.name = WINDOW_TYPE,
	};
	return 0;
}

/* Describes a copy of that variable, or a sample of memory; no record is made. */
static int describe_record(struct dart_zero_record *record)
{
	const bool is_sample = record->source == DART_ZERO_SOURCE_MEMORY;

	assert_int_equal(record->piece_count, 0);
	assert_in_range(record->interval_ms, DART_ZERO_RECORD_MS_MIN, DART_ZERO_RECORD_MS_MAX);
	record->length = is_sample ? sizeof(struct dart_zero_memory) : WINDOW_LENGTH;
	strcpy(record->name, is_sample ? "memory" : WINDOW_TYPE);
	return 0;
}

/* Memory that dartd lends itself, and writes to. */
static int own_memory(const struct dart_zero_slice *slice)
{
	const size_t length = slice->pages * PAGE;
	int fd = memfd_create("finals", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, length), 0);
	assert_true(mmap((uint8_t *)region.memory + slice->data, length, PROT_READ,
			 MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	return fd;
}

static int add_slice(struct dart_zero_slice *slice)
{
	slice->id = 1 + __builtin_ctzll(~(module.lent >> 1));
	assert_in_range(slice->id, 1, 31);
	module.lent |= 1ULL << slice->id;
	slice->fd = -1;
	slice->data = slab_of(slice->slab).data + slice->id * SLICE_BYTES;
	if (slice->pages == FINALS_BYTES / PAGE)
		slice->fd = own_memory(slice);
	return 0;
}

/* The descriptor N is that of slice N. */
static int adopt_slice(struct dart_zero_adoption *adoption)
{
	adoption->id = adoption->fd;
	if (module.lent & 1ULL << adoption->fd) {
		errno = EEXIST;
		return -1;
	}
	module.lent |= 1ULL << adoption->fd;
	adoption->pages = module.pages_adopted;
	adoption->slab = slab_of(EARLIER_SLAB);
	adoption->data = adoption->slab.data + adoption->id * SLICE_BYTES;
	return 0;
}

/* The keys of an extent become invalid before: no controller finds its entry. */
static int remove_extent(uint32_t id)
{
	if (id < 32) {
		assert_true(module.lent & 1ULL << id);
		module.lent &= ~(1ULL << id);
	} else if (id >= 1000 && id < 1000 + EXTENTS_MAX) {
		assert_true(module.extents[id - 1000]);
		module.extents[id - 1000] = false;
		assert_false(is_exposed((id - 1000) * EXTENT_BYTES));
	}
	if (id == module.window)
		module.window = 0;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct dart_zero_info *info;
	struct dart_zero_slab *slab;
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	assert_int_equal(fd, region.fd);
	switch (request) {
	case DART_ZERO_IOC_INFO:
		info = argument;
		info->used = CAPACITY;
		info->extents_max = EXTENTS_MAX;
		errno = module.info_error;
		return errno ? -1 : 0;
	case DART_ZERO_IOC_ADD_COUNTERS:
		return add_counters(argument);
	case DART_ZERO_IOC_ADD_WINDOW:
		return add_window(argument);
	case DART_ZERO_IOC_ADD_RECORD:
		return describe_record(argument);
	case DART_ZERO_IOC_ADD_SLAB:
		slab = argument;
		slab->extent = slab_of(OWN_SLAB);
		return 0;
	case DART_ZERO_IOC_ADD_SLICE:
		return add_slice(argument);
	case DART_ZERO_IOC_ADOPT_SLICE:
		return adopt_slice(argument);
	case DART_ZERO_IOC_REMOVE:
		return remove_extent(((struct dart_zero_remove *)argument)->id);
	default:
		fail_msg("ioctl %#lx", request);
		return -1;
	}
}

static void on_client_gone(void *owner, uint32_t id)
{
	registry__extent_ended(owner, id);
}

/* An empty registry, whose table has @room bytes. */
static void open_registry(enum dart_control_exposure mode, size_t room)
{
	const struct table_rooms rooms = {
		.changes = &changes,
		.region = &region,
		.exposure = &exposure,
		.control_region = &control_region,
		.clients = &clients,
		.counts = &counts,
	};
	struct dart_error error;
	void *memory;

	memset(&module, 0, sizeof(module));
	module.pages_adopted = 1;
	region.cpus = get_nprocs_conf();
	assert_int_equal(region__reserve(CAPACITY, &memory, &error), 0);
	assert_int_equal(mprotect(memory, CAPACITY, PROT_READ), 0);
	region.memory = memory;
	changes__open(&changes);
	assert_true(sd_event_new(&loop) >= 0);
	assert_true(leases__open(&leases, loop) >= 0);
	assert_int_equal(exposure__open(&exposure, 0, mode, NULL, &region, &leases,
					&memory_counts, &error), 0);
	TAILQ_INIT(&kept_descriptors.items);
	assert_int_equal(client_memories__open(&clients, &region, &kept_descriptors,
					       exposure__base(&exposure), loop, on_client_gone,
					       &registry, &error),
			 0);
	assert_int_equal(control_region__open(&control_region, &exposure, &error), 0);
	dart_table_writer__free(control_region.writer);
	writer = dart_table_writer__new(control_region.memory, room);
	full = dart_table_writer__new(control_region.memory, 0);
	assert_non_null(writer);
	assert_non_null(full);
	control_region.writer = writer;
	assert_int_equal(registry__open(&registry, loop, &rooms, &error), 0);
	/* The new writer writes its first table. */
	registry__clock_was_set(&registry);
}

static void close_registry(void)
{
	struct entries none = TAILQ_HEAD_INITIALIZER(none);
	struct dart_error error;

	control_region.writer = writer;
	assert_int_equal(control_region__update(&control_region, &none, &none, 0, NULL,
						&error), 0);
	registry__close(&registry);
	dart_table_writer__free(full);
	control_region__close(&control_region);
	assert_true(TAILQ_EMPTY(&clients.list));
	client_memories__close(&clients);
	exposure__close(&exposure);
	assert_true(TAILQ_EMPTY(&leases.queue));
	leases__close(&leases);
	sd_event_unref(loop);
	region__unreserve((void *)region.memory, CAPACITY);
}

/* Ends the leases that have begun so far. */
static void end_leases(void)
{
	struct lease *lease, *last = TAILQ_LAST(&leases.queue, lease_queue);

	do {
		lease = TAILQ_FIRST(&leases.queue);
		if (!lease)
			break;
		TAILQ_REMOVE(&leases.queue, lease, link);
		lease->end(lease);
	} while (lease != last);
}

/* Final bytes of slices are gathered on command. */
static void run(void)
{
	sd_event_source_set_enabled(registry.lingering.gathering, SD_EVENT_OFF);
	while (sd_event_run(loop, 0) > 0)
		;
}

static inline void gather_finals(void)
{
	sd_event_source_set_enabled(registry.lingering.gathering, SD_EVENT_ONESHOT);
	sd_event_source_set_time(registry.lingering.gathering, 0);
	while (sd_event_run(loop, 0) > 0)
		;
}

/* The entries that linger now have lingered long enough, as the timer of the registry finds. */
static inline void end_lingering(void)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &registry.lingering.entries, link)
		entry->ended_us = 0;
	sd_event_source_set_time(registry.lingering.timer, 0);
	run();
}

#endif /* REGISTRY_MODULE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rooms around the registry, played by the test: a control region that holds a
 * few entries, leases that end on command, memory of slices by number.
 */
#ifndef REGISTRY_ROOMS_H
#define REGISTRY_ROOMS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/table/arena.h"
#include "agent/table/registry.h"
#include "selftests/unit/unit.h"

#define NAMES_MAX 16

/* What controllers find, and how much of it there can be. */
static struct {
	char names[NAMES_MAX][DART_REGISTRATION_NAME_MAX];
	uint32_t extents[NAMES_MAX];
	uint32_t count, capacity;
	uint64_t generation;
	int prepare_error;
	bool is_stale; /* page exposure */
} published;

static struct leases leases;
static struct control_region control_region;
static struct exposure exposure;
static struct table_counts counts;
static struct changes changes;
static sd_event *loop;

static bool is_published(const char *name)
{
	uint32_t i;

	for (i = 0; i < published.count; i++)
		if (!strcmp(published.names[i], name))
			return true;
	return false;
}

int control_region__update(struct control_region *control,
			   const struct entries *entries, uint32_t added,
			   const struct entries *removed,
			   struct dart_error *error)
{
	const struct entry *entry;
	uint32_t count = 0;

	TAILQ_FOREACH(entry, entries, link)
		count++;
	if (count > published.capacity)
		return dart_error__set(error, ENOSPC, "full");
	published.count = 0;
	TAILQ_FOREACH(entry, entries, link) {
		published.extents[published.count] = entry->extent.id;
		strcpy(published.names[published.count++], entry->name);
	}
	control->generation = ++published.generation;
	return 0;
}

int exposure__prepare(struct exposure *self, struct dart_error *error)
{
	if (published.prepare_error)
		return dart_error__set(error, published.prepare_error,
				       "cannot register");
	return 0;
}

bool exposure__is_stale(const struct exposure *self)
{
	return published.is_stale;
}

void exposure__commit(struct exposure *self)
{
}

void exposure__rollback(struct exposure *self)
{
}

int exposure__expose(struct exposure *self, struct entry *entry,
		     struct dart_error *error)
{
	return 0;
}

/* The keys of the entry become invalid. */
void exposure__withdraw(const struct exposure *self, struct entry *entry)
{
	uint32_t i;

	for (i = 0; i < published.count; i++)
		assert_int_not_equal(published.extents[i], entry->extent.id);
}

static uint32_t cpus_online = 4;

uint32_t records__rows_in_use(const struct records *records, uint32_t rows)
{
	return cpus_online;
}

void entry__free(struct entry *entry, struct region *of)
{
	dart_schema__free(entry->own_schema);
	free(entry->name);
	free(entry);
}

int entry__rename(struct entry *entry, const char *name)
{
	free(entry->name);
	entry->name = strdup(name);
	return 0;
}

/* The memory behind descriptor N is slice N; bit N: the region has it. */
static struct region region = { .page_size = 4096 };
static struct slabs slabs = { .region = &region };
static struct slab slab = { .slabs = &slabs };
static uint64_t lent;
static uint32_t pages_adopted = 1;

static void give(int fd, uint32_t pages, struct dart_zero_slice *slice,
		 struct slab **of)
{
	lent |= 1ULL << fd;
	*slice = (struct dart_zero_slice){
		.id = fd,
		.pages = pages,
		.fd = -1,
		.data = (uint64_t)fd << 30,
	};
	*of = &slab;
}

int slabs__lend(struct slabs *all, uint32_t pages,
		struct dart_zero_slice *slice, struct slab **of,
		struct dart_error *error)
{
	give(1 + __builtin_ctzll(~(lent >> 1)), pages, slice, of);
	return 0;
}

int slabs__adopt(struct slabs *all, int fd, struct dart_zero_slice *slice,
		 struct slab **of, struct dart_error *error)
{
	slice->id = fd;
	if (lent & 1ULL << fd)
		return dart_error__set(error, EEXIST, "has it");
	give(fd, pages_adopted, slice, of);
	return 0;
}

void slab__take_back(struct slab *of, uint32_t slice)
{
	assert_true(lent & 1ULL << slice);
	lent &= ~(1ULL << slice);
}

int entry__new_slice(struct region *of, struct arena *arena,
		     const struct arena_place *place, const char *name,
		     struct dart_schema *schema, struct entry **result,
		     struct dart_error *error)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	static uint32_t slices;

	assert_non_null(entry);
	entry->name = strdup(name);
	/* For exposure__withdraw(). */
	entry->extent.id = 10000 + ++slices;
	entry->kind = DART_CONTROL_ENTRY_SLICE;
	entry->arena = arena;
	entry->place = *place;
	entry->schema = entry->own_schema = schema;
	*result = entry;
	return 0;
}

struct entry *entries__find_map(const struct entries *entries, uint32_t map_id)
{
	return NULL;
}

void file_watch__stop(struct file_watches *watches, struct file_watch *watch)
{
}

void map_owner_watch__remove(struct map_owner_watch *watch, uint32_t map_id)
{
}

void source_schemas__open(struct source_schemas *schemas)
{
}

void source_schemas__close(struct source_schemas *schemas)
{
}

void lease__start(struct leases *all, struct lease *lease,
		  void (*end)(struct lease *lease))
{
	lease->end = end;
	TAILQ_INSERT_TAIL(&all->queue, lease, link);
}

void lease__cancel(struct leases *all, struct lease *lease)
{
	TAILQ_REMOVE(&all->queue, lease, link);
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

static void run(void)
{
	while (sd_event_run(loop, 0) > 0)
		;
}

#endif /* REGISTRY_ROOMS_H */

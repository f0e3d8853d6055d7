// SPDX-License-Identifier: GPL-2.0-only
/* Mirrors: which offers the agent takes, and what its updates WRITE. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>

#include "agent/rdma/update.h"
#include "selftests/unit/libdart/table/model.h"

#define CAPACITY (1 << 18)
#define LKEY 77
#define RKEY 99
#define ID 5

static int find(uint64_t address, uint32_t rkey, uint32_t length, struct mirror_place *place)
{
	union {
		uint8_t bytes[56];
		struct {
			struct dart_control_request request;
			struct dart_control_mirror mirror;
		};
	} data = {
		.mirror = {
			.address = htole64(address),
			.rkey = htole32(rkey),
			.length = htole32(length),
		},
	};
	struct dart_error error = {};
	int ret = mirror_place__find(&data, place, &error);

	assert_int_equal(!!error.text[0], !!ret);
	return ret;
}

static void test_offers(void **state)
{
	struct mirror_place place;

	assert_int_equal(find(0, 0, 0, &place), 0);
	assert_int_equal(place.length, 0);
	assert_int_equal(find(1ULL << 61, 7, 65536, &place), 0);
	assert_int_equal(place.address, 1ULL << 61);
	assert_int_equal(place.rkey, 7);
	assert_int_equal(place.length, 65536);
	assert_int_equal(find(-1ULL - 65536, 0, 65536, &place), 0);
	assert_int_equal(find(0, 0, DART_CONTROL_MIRROR_MAX, &place), 0);

	assert_int_equal(find(0, 1, 0, &place), -EPROTO);
	assert_int_equal(find(1, 0, 0, &place), -EPROTO);
	assert_int_equal(find(0, 0, 65535, &place), -EPROTO);
	assert_int_equal(find(0, 0, DART_CONTROL_MIRROR_MAX + DART_CONTROL_BLOCK, &place), -EPROTO);
	assert_int_equal(find(0, 0, -DART_CONTROL_BLOCK, &place), -EPROTO);
	assert_int_equal(find(-65536ULL + 1, 0, 65536, &place), -EPROTO);
}

/* A table that changes, and the mirror of it. */
struct world {
	struct model model;
	uint8_t *memory;
	struct dart_table_writer *writer;
	struct mirrors mirrors;
	struct mirror mirror;
	uint8_t *bytes; /* of the mirror */
	uint64_t written;
	unsigned int requests;
	unsigned int told;
};

static struct world *world_of(struct table_watcher *watcher)
{
	return (struct world *)((char *)watcher - offsetof(struct world, mirror.watcher));
}

static void note_change(struct table_watcher *watcher)
{
	world_of(watcher)->told++;
}

static void world__publish(struct world *world, int length)
{
	const unsigned int told = world->told;

	assert_in_range(length, 1, CAPACITY);
	mirrors__publish(&world->mirrors, world->model.table.generation, length);
	assert_int_equal(world->told, told + !!world->mirror.mirrors);
}

static void world__add(struct world *world)
{
	struct model *model = &world->model;
	uint32_t entries = model->table.entry_count;
	uint32_t regions = model->table.memory_region_count;
	struct dart_table more;

	model__add(model);
	more = model__since(model, entries, regions);
	world__publish(world, dart_table_writer__append(world->writer, &more));
}

static void world__rewrite(struct world *world)
{
	model__compact(&world->model);
	world__publish(world, dart_table_writer__rewrite(world->writer, &world->model.table));
}

static void world__remove(struct world *world)
{
	struct model *model = &world->model;
	uint32_t index = model__below(model, model->table.entry_count);
	char *name = strdup(model->entries[index].name);
	int length;

	assert_non_null(name);
	model__remove(model, index);
	length = dart_table_writer__remove(world->writer, &model->table, name);
	free(name);
	if (length == -EAGAIN)
		world__rewrite(world);
	else
		world__publish(world, length);
}

static void world__change(struct world *world)
{
	struct model *model = &world->model;
	uint32_t entries = model->table.entry_count;

	model->table.generation++;
	if (entries == ENTRIES_MAX || (entries && model__below(model, 2)))
		world__remove(world);
	else if (!model__below(model, 40))
		world__rewrite(world);
	else
		world__add(world);
}

static struct world *world__new(uint32_t length)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct mirror_place place = {
		.address = 1ULL << 61,
		.rkey = RKEY,
		.length = length,
	};

	assert_non_null(world);
	world->memory = sample__memory(CAPACITY);
	world->bytes = calloc(1, length);
	world->writer = dart_table_writer__new(world->memory, CAPACITY);
	assert_true(world->writer && world->bytes);
	model__init(&world->model);
	mirrors__open(&world->mirrors, world->writer);
	world->mirrors.address = (uintptr_t)world->memory;
	world->mirrors.lkey = LKEY;
	world__add(world);
	/* As the controller copies the table that it READs. */
	memcpy(world->bytes, world->memory,
	       world->mirrors.used < length ? world->mirrors.used : length);
	mirrors__join(&world->mirrors, &world->mirror, &place, note_change);
	return world;
}

static void world__free(struct world *world)
{
	mirrors__leave(&world->mirror);
	mirrors__leave(&world->mirror);
	world->model.table.generation++;
	world__change(world);
	model__clear(&world->model);
	dart_table_writer__free(world->writer);
	free(world->memory);
	free(world->bytes);
	free(world);
}

/* Does the work of the adapters. */
static void world__write(struct world *world, const struct ibv_send_wr *request)
{
	const uint64_t offset = request->wr.rdma.remote_addr - world->mirror.place.address;
	const struct ibv_sge *block = request->sg_list;

	/* The last one ends the update. */
	assert_int_equal(request->opcode,
			 request->next ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(request->send_flags, request->next ? 0 : IBV_SEND_SIGNALED);
	assert_int_equal(request->wr_id, ID);
	assert_int_equal(request->num_sge, 1);
	assert_int_equal(request->wr.rdma.rkey, RKEY);
	assert_int_equal(block->lkey, LKEY);
	assert_int_equal(block->length % DART_CONTROL_BLOCK, 0);
	assert_int_equal(block->addr, (uintptr_t)world->memory + offset);
	assert_in_range(block->length, 1, world->mirror.place.length);
	assert_in_range(offset, 0, world->mirror.place.length - block->length);
	assert_in_range(offset, 0, CAPACITY - block->length);
	memcpy(world->bytes + offset, (const void *)(uintptr_t)block->addr, block->length);
	world->written += block->length;
}

static void world__update(struct world *world)
{
	const struct ibv_send_wr *request;
	struct update update;
	uint64_t end = 0;
	uint32_t count = 0;

	update__make(&update, &world->mirror, ID);
	for (request = update.requests; request; request = request->next) {
		/* Each one is far from the one before, unless there are as many as can be. */
		assert_true(!count || update.count == UPDATE_WRITES ||
			    request->wr.rdma.remote_addr > end + UPDATE_GAP);
		end = request->wr.rdma.remote_addr + request->sg_list->length;
		world__write(world, request);
		count++;
	}
	assert_int_equal(count, update.count);
	assert_in_range(count, 1, UPDATE_WRITES);
	world->requests += count;
	world->mirror.generation = world->mirrors.generation;
}

static void test_follows(void **state)
{
	enum { ROUNDS = 2000 };
	struct world *world = world__new(CAPACITY);
	unsigned int round, updates = 0;
	uint64_t bytes = 0;

	for (round = 0; round < ROUNDS; round++) {
		world__change(world);
		/* An update may carry several changes. */
		if (model__below(&world->model, 3))
			continue;
		world__update(world);
		updates++;
		bytes += world->mirrors.used;
		assert_memory_equal(world->bytes, world->memory, world->mirrors.used);
		sample__assert_decodes(world->bytes, world->mirrors.used, &world->model.table);
	}
	printf("# %u updates of %u changes wrote %llu bytes of %llu in %u WRITEs\n", updates, ROUNDS,
	       (unsigned long long)world->written, (unsigned long long)bytes, world->requests);
	assert_in_range(updates, ROUNDS / 4, ROUNDS / 2);
	/* Not the whole table each time. */
	assert_in_range(world->written, 1, bytes / 5 * 4);
	world__free(world);
}

static void test_short(void **state)
{
	enum { LENGTH = 4096 };
	struct world *world = world__new(LENGTH);
	const struct dart_control_header *header = (const void *)world->bytes;
	unsigned int round, fits = 0, exceeds = 0;
	struct dart_error error;
	struct dart_table *table;
	size_t needed;

	for (round = 0; round < 2000; round++) {
		world__change(world);
		world__update(world);
		assert_int_equal(le64toh(header->generation_end), world->mirrors.generation);
		if (world->mirrors.used <= LENGTH) {
			sample__assert_decodes(world->bytes, world->mirrors.used,
					       &world->model.table);
			fits++;
			continue;
		}
		/* The controller learns how long the table is. */
		assert_int_equal(dart_table__decode(world->bytes, LENGTH, &table, &needed, &error),
				 -EMSGSIZE);
		assert_int_equal(needed, world->mirrors.used);
		exceeds++;
	}
	printf("# %u tables fit into the mirror, %u do not\n", fits, exceeds);
	assert_in_range(fits, 1, 2000);
	assert_in_range(exceeds, 1, 2000);
	world__free(world);
}

/* Nothing but the header: such as after a second update of one generation. */
static void test_nothing(void **state)
{
	struct world *world = world__new(CAPACITY);
	struct update update;

	update__make(&update, &world->mirror, ID);
	assert_int_equal(update.count, 1);
	assert_int_equal(update.requests[0].opcode, IBV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(update.requests[0].send_flags, IBV_SEND_SIGNALED);
	assert_int_equal(update.requests[0].num_sge, 0);
	assert_null(update.requests[0].next);
	world__free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a mirror is whole blocks below the end of addresses, or the request is refused",
		     test_offers),
		TEST("after each update the mirror is the table, and the agent has not written all of it",
		     test_follows),
		TEST("nothing is written after the end of a mirror, and a longer table shows its length",
		     test_short),
		TEST("an update without changes only tells", test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests for slices to a registry without entries, for the tests of slices. */
#ifndef REGISTRY_SLICES_H
#define REGISTRY_SLICES_H

#include <fcntl.h>
#include <unistd.h>

#include "registry_module.h"

#define MEMORY 8192

static const struct dart_schema eight = { .name = (char *)"eight", .length = 8 };

static inline struct dart_schema *schema_of(uint32_t length)
{
	struct dart_schema *schema = calloc(1, sizeof(*schema));

	assert_non_null(schema);
	*schema = eight;
	schema->name = strdup("work");
	schema->length = length;
	return schema;
}

/* Registers @name for @uid, at @offset of the memory of @fd, or of new memory. */
static inline int ask(struct registry *registry, uid_t uid, const char *name, int fd,
		      uint64_t offset, uint32_t length, struct dart_error *error)
{
	struct slice_request asked = {
		.name = name,
		.owner = uid,
		.schema = schema_of(length),
		.offset = offset,
		.has_memory = fd < 0,
		.memory = MEMORY,
		.fd = fd,
	};
	struct entry *entry;
	int new_fd, ret;

	ret = registry__add_slice(registry, &asked, &new_fd, &entry, error);
	if (!ret)
		inventory__set_owner(&registry->inventory, entry, uid);
	return ret;
}

/* The descriptor of new memory, with the slice @name at its start. */
static inline int begin(struct registry *registry, uid_t uid, const char *name)
{
	struct dart_error error;

	assert_int_equal(ask(registry, uid, name, -1, 0, 64, &error), 0);
	return inventory__find(&registry->inventory, name)->arena->id;
}

/* A sealed memfd of MEMORY bytes, as a client creates it. */
static inline int client_memfd(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, MEMORY), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS,
			       F_SEAL_SHRINK | F_SEAL_GROW |
				       (clients.needs_writable ? 0 : F_SEAL_FUTURE_WRITE)),
			 0);
	return fd;
}

/* As ask(); returns the descriptor that comes with the reply, or -1. */
static inline int take(struct registry *registry, const char *name, int fd, uint64_t offset)
{
	struct slice_request asked = {
		.name = name,
		.schema = schema_of(64),
		.offset = offset,
		.fd = fd,
	};
	struct dart_error error;
	struct entry *entry;
	int proof;

	assert_int_equal(registry__add_slice(registry, &asked, &proof, &entry, &error), 0);
	inventory__set_owner(&registry->inventory, entry, 0);
	return proof;
}

/* Each range lies in its memory region, and all memory regions differ. */
static inline void check_memory_regions(uint32_t wanted)
{
	struct dart_table *table = published();
	const struct dart_memory_region *regions = table->memory_regions, *region;
	const struct dart_range *range;
	uint32_t i;

	assert_int_equal(table->memory_region_count, wanted);
	for (i = 0; i < table->entry_count; i++) {
		range = table->entries[i].ranges;
		assert_in_range(range->memory_region, 0, wanted - 1);
		region = &regions[range->memory_region];
		assert_true(range->address >= region->address);
		assert_true(range->address + range->length <= region->address + region->length);
	}
	for (i = 1; i < wanted; i++)
		assert_int_not_equal(regions[i].address, regions[i - 1].address);
	dart_table__free(table);
}

static inline int open_empty(void **state)
{
	open_registry(DART_CONTROL_EXPOSURE_EXACT, 1 << 20);
	*state = &registry;
	return 0;
}

static inline int close_empty(void **state)
{
	const struct inventory *inventory = &registry.inventory;

	close_registry();
	assert_null(inventory->arenas.root);
	assert_null(inventory->places.root);
	assert_null(inventory->extents.root);
	return module.lent != 0;
}

#endif /* REGISTRY_SLICES_H */

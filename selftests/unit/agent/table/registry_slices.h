/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests for slices to a registry without entries, for the tests of slices. */
#ifndef REGISTRY_SLICES_H
#define REGISTRY_SLICES_H

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

// SPDX-License-Identifier: GPL-2.0-only
/* Adds entries with values of running programs. */
#include <errno.h>
#include <unistd.h>

#include "registry.h"

/* The rows lie from the start of @arena on. */
static void set_rows(struct entry *entry, struct arena *arena, uint32_t rows)
{
	const uint32_t length = entry->own_schema->length;

	entry->arena = arena;
	entry->place = place_in(arena, 0, length * rows);
	entry->extent = (struct dart_zero_extent){
		.data = entry->place.first,
		.length = length,
		.stride = length,
		.copies = rows,
	};
}

/* Memory for the rows, which the caller writes through the descriptor *@fd. */
static int registry__lend_rows(struct registry *registry, struct entry *entry, uint32_t rows,
			       int *fd, struct dart_error *error)
{
	const uint64_t page = registry->rooms.region->page_size;
	const uint64_t bytes = (uint64_t)entry->own_schema->length * rows;
	struct arena *arena;
	int ret;

	ret = arena__lend_alone(&registry->slabs, (bytes + page - 1) / page * page, &arena, fd, error) ?:
		      inventory__add_arena(&registry->inventory, arena, error);
	if (!ret)
		set_rows(entry, arena, rows);
	return ret;
}

/* In a batch. */
static int registry__stage_process(struct registry *registry, struct process_request *asked,
				   int *fd, struct entry **result, struct dart_error *error)
{
	struct arena *arena;
	struct entry *entry;
	int ret;

	entry = entry__new_process(asked->name, asked->layout->schema, asked->gather_ms,
				   asked->object, asked->rows);
	asked->layout->schema = NULL;
	if (!entry)
		return dart_error__no_memory(error);
	ret = asked->memory ? records__add_process(&registry->records, asked->memory, asked->layout,
						   asked->gather_ms, entry, error) :
			      registry__lend_rows(registry, entry, asked->rows, fd, error);
	arena = entry->arena;
	ret = entry__complete(entry, registry->rooms.region, ret, &entry, error);
	if (ret) {
		inventory__settle_arena(&registry->inventory, arena);
		return ret;
	}
	entry->group = asked->group;
	ret = registry__add(registry, entry, error);
	if (!ret)
		*result = entry;
	return ret;
}

int registry__add_process(struct registry *registry, struct process_request *asked, int *fd,
			  struct entry **entry, struct dart_error *error)
{
	int ret;

	*fd = -1;
	registry__begin(registry);
	ret = inventory__check_name(&registry->inventory, asked->name, error) ?:
		      registry__stage_process(registry, asked, fd, entry, error);
	ret = registry__end_with(registry, ret, error);
	if (ret && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	return ret;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Places the sections of a control region and fills its header. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "table_layout_internal.h"

/*
 * Room for a section to grow: a quarter of its size, so that it rarely outgrows
 * it, and a part of the total, so that a short section rarely does either.
 */
static uint64_t slack_of(uint64_t size, uint64_t total)
{
	return size / 4 + total / 32;
}

int dart_layout__make(struct dart_layout *layout,
		      const struct dart_builder *builder, size_t capacity)
{
	const uint64_t padding = DART_SECTIONS * (DART_SECTION_ALIGNMENT - 1);
	uint64_t end = sizeof(struct dart_control_header);
	uint64_t total = end, wanted = 0, left = 0;
	uint64_t sizes[DART_SECTIONS];
	int i;

	if (capacity > DART_CONTROL_LENGTH_MAX)
		capacity = DART_CONTROL_LENGTH_MAX;
	for (i = 0; i < DART_SECTIONS; i++) {
		sizes[i] = (uint64_t)builder->sections.of[i].count * dart_section_element[i];
		total += sizes[i];
	}
	for (i = 0; i < DART_SECTIONS; i++)
		wanted += slack_of(sizes[i], total);
	if (capacity > total + padding)
		left = capacity - total - padding;
	if (left > wanted)
		left = wanted;

	for (i = 0; i < DART_SECTIONS; i++) {
		end = (end + DART_SECTION_ALIGNMENT - 1) & ~(uint64_t)(DART_SECTION_ALIGNMENT - 1);
		layout->offsets[i] = end;
		layout->rooms[i] = sizes[i];
		if (left)
			layout->rooms[i] += slack_of(sizes[i], total) * left / wanted;
		layout->rooms[i] /= dart_section_element[i];
		end += (uint64_t)layout->rooms[i] * dart_section_element[i];
	}
	if (end > DART_CONTROL_LENGTH_MAX)
		return -EINVAL;
	if (end > capacity)
		return -ENOSPC;
	layout->length = end;
	return 0;
}

bool dart_layout__holds(const struct dart_layout *layout, const struct dart_builder *builder)
{
	int i;

	for (i = 0; i < DART_SECTIONS; i++) {
		if (builder->sections.of[i].count > layout->rooms[i])
			return false;
	}
	return layout->length;
}

struct dart_control_header dart_layout__header(const struct dart_layout *layout,
					       const struct dart_builder *builder,
					       const struct dart_table *table)
{
	struct dart_control_header header = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.header_size = htole32(sizeof(header)),
		.generation_begin = htole64(table->generation),
		.table_length = htole32(layout->length),
		.exposure = htole32(table->exposure),
		.instance = htole64(table->instance),
		.clock_offset_ns = htole64((uint64_t)table->clock_offset_ns),
		.cpus = htole32(table->cpus),
		.page_size = htole32(table->page_size),
		.lease_ms = htole32(table->lease_ms),
		.generation_end = htole64(table->generation),
	};
	struct dart_control_section *const sections[DART_SECTIONS] = {
		&header.memory_regions, &header.entries, &header.ranges,   &header.schemas,
		&header.fields,		&header.strings, &header.cpu_sets,
	};
	int i;

	memcpy(header.host_id, table->host_id, sizeof(header.host_id));
	memcpy(header.boot_id, table->boot_id, sizeof(header.boot_id));
	memcpy(header.node_name, table->node_name, sizeof(header.node_name));
	for (i = 0; i < DART_SECTIONS; i++) {
		sections[i]->offset = htole32(layout->offsets[i]);
		sections[i]->count = htole32(builder->sections.of[i].count);
	}
	return header;
}

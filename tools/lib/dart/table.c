// SPDX-License-Identifier: LGPL-2.1-or-later
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "table_format.h"

/*
 * The adapter READs @region while this writes.  Each fence keeps the stores in
 * front of it, also those of memcpy(), from becoming visible behind the stores
 * that follow it.  So whoever sees any byte of the new table, and then looks at
 * generation_begin, sees the new number there; and whoever sees the new
 * generation_end, and then looks at the rest, sees all of the new table.  A
 * READ need not look in either order: then it is the checksum that fails.
 */
static void replace(void *region, const void *bytes, uint32_t length)
{
	const size_t begin = offsetof(struct dart_control_header,
				      generation_begin);
	const size_t end = offsetof(struct dart_control_header, generation_end);
	struct dart_control_header *header = region;
	const size_t behind_begin = begin + sizeof(header->generation_begin);
	const size_t behind_end = end + sizeof(header->generation_end);
	const uint8_t *from = bytes;
	uint8_t *to = region;
	uint64_t generation;

	memcpy(&generation, from + begin, sizeof(generation));

	__atomic_store_n(&header->generation_begin, generation,
			 __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);

	memcpy(to, from, begin);
	memcpy(to + behind_begin, from + behind_begin, end - behind_begin);
	memcpy(to + behind_end, from + behind_end, length - behind_end);

	atomic_thread_fence(memory_order_release);
	__atomic_store_n(&header->generation_end, generation, __ATOMIC_RELAXED);
}

int dart_table__publish(const struct dart_table *table, void *region,
			size_t capacity)
{
	struct dart_table *decoded;
	char why[DART_WHY_MAX];
	uint32_t length;
	void *bytes;
	int err;

	err = dart_table__encode(table, &bytes, &length);
	if (err)
		return err;

	/* No controller shall be the first to find out. */
	err = dart_table__decode(bytes, length, &decoded, NULL, why);
	if (err) {
		err = err == -ENOMEM ? -ENOMEM : -EINVAL;
		goto free_bytes;
	}
	dart_table__free(decoded);

	err = -ENOSPC;
	if (length > capacity)
		goto free_bytes;

	replace(region, bytes, length);
	err = length;

free_bytes:
	free(bytes);
	return err;
}

int dart_table__same(const struct dart_table *table, const void *bytes)
{
	struct dart_control_header header;

	memcpy(&header, bytes, sizeof(header));
	if (le64toh(header.magic) != DART_CONTROL_MAGIC ||
	    le32toh(header.abi_version) != DART_CONTROL_ABI_VERSION ||
	    le64toh(header.instance) != table->instance)
		return -ECONNRESET;
	if (le64toh(header.generation_begin) != table->generation ||
	    le64toh(header.generation_end) != table->generation)
		return -ESTALE;
	return 0;
}

const struct dart_entry *dart_table__find(const struct dart_table *table,
					  const char *name)
{
	uint32_t i;

	for (i = 0; i < table->entry_count; i++) {
		if (!strcmp(table->entries[i].name, name))
			return &table->entries[i];
	}
	return NULL;
}

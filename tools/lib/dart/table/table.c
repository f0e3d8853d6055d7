// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tables: compared with a later header, searched by name. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <libdart/private/table_format.h>

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

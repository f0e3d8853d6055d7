// SPDX-License-Identifier: GPL-2.0-only
/* What the next dartd needs to find the entries of an appender again. */
#include <dart/journal_access.h>

#include "agent/rdma/kept_memory.h"
#include "journal_kept.h"

_Static_assert(KEPT_MEMORY_NAME_FITS(JOURNAL_KEPT_PREFIX, DART_JOURNAL_NAME_MAX, ",20,64,10,16,64"),
	       "the name fits");

void journal_kept__name(const char *journal, const struct dart_journal_geometry *geometry,
			char name[static FD_STORE_NAME_MAX])
{
	kept_memory__name(name, JOURNAL_NOUN, journal, "%u,%u,%u,%u,%u", geometry->batches_log2,
			  geometry->entry_length, geometry->batch_log2, geometry->lists_log2,
			  geometry->parts);
}

void journal_kept__set_part(json_t *kept, uint32_t part)
{
	json_object_set_new(kept, "part", json_integer(part));
}

int journal_kept__part(const json_t *kept)
{
	const json_t *part = json_object_get(kept, "part");

	if (!json_is_integer(part) || json_integer_value(part) < 0 ||
	    json_integer_value(part) >= DART_JOURNAL_PARTS_MAX)
		return -1;
	return json_integer_value(part);
}

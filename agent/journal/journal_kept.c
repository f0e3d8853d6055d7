// SPDX-License-Identifier: GPL-2.0-only
/* What the next dartd needs to find the entries of an appender again. */
#include <stdio.h>

#include <dart/journal_access.h>

#include "journal_kept.h"

_Static_assert(sizeof(JOURNAL_KEPT_PREFIX) + DART_JOURNAL_NAME_MAX + sizeof(",20,64,10,16,64") <
		       FD_STORE_NAME_MAX,
	       "the name fits");

void journal_kept__name(const char *journal, const struct dart_journal_geometry *geometry,
			char name[static FD_STORE_NAME_MAX])
{
	snprintf(name, FD_STORE_NAME_MAX, JOURNAL_KEPT_PREFIX "%s,%u,%u,%u,%u,%u", journal,
		 geometry->batches_log2, geometry->entry_length, geometry->batch_log2,
		 geometry->lists_log2, geometry->parts);
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

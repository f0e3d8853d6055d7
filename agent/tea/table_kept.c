// SPDX-License-Identifier: GPL-2.0-only
/* Names and epochs by which the next dartd recognizes a table. */
#include <dart/tea_access.h>

#include "agent/base/log.h"
#include "agent/rdma/kept_memory.h"
#include "table_kept.h"

_Static_assert(KEPT_MEMORY_NAME_FITS(TABLE_KEPT_PREFIX, DART_TEA_NAME_MAX, ",28,8,64,64,1023-1023"),
	       "the name fits");

void table_kept__name(const char *table, const struct table_parameters *parameters,
		      char name[static FD_STORE_NAME_MAX])
{
	const struct dart_tea_geometry *geometry = &parameters->geometry;

	kept_memory__name(name, TABLE_NOUN, table, "%u,%u,%u,%u,%u-%u", geometry->rows_log2,
			  geometry->cells, geometry->key_length, geometry->value_length,
			  parameters->first_share, parameters->last_share);
}

json_t *table_kept__table(uint32_t epoch)
{
	return json_pack("{s:I}", "epoch", (json_int_t)epoch);
}

uint32_t table_kept__read_epoch(const json_t *kept, const char *name)
{
	json_int_t epoch = 0;

	if (!kept)
		return 0;
	if (!json_unpack((json_t *)kept, "{s:I}", "epoch", &epoch) &&
	    epoch >= 1 && epoch <= DART_TEA_EPOCH_MAX)
		return epoch;
	log__warning("the kept epoch of table %s is invalid", name);
	return 0;
}

bool table_epoch__is_behind(uint32_t a, uint32_t b)
{
	uint32_t ahead = (a + DART_TEA_EPOCH_MAX - b) % DART_TEA_EPOCH_MAX;

	return !b || (ahead && ahead < DART_TEA_EPOCH_MAX / 2);
}

uint32_t table_epoch__next(uint32_t last, uint64_t now)
{
	uint32_t epoch = now % DART_TEA_EPOCH_MAX + 1;

	if (table_epoch__is_behind(epoch, last))
		return epoch;
	return last % DART_TEA_EPOCH_MAX + 1;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Chooses an epoch that no table had before, though the clock may be set back. */
#include <dart/tea.h>

#include "table_epoch.h"

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

// SPDX-License-Identifier: GPL-2.0-only
/* Copies values with whole accesses to aligned integers. */
#include <string.h>

#include <libdart/table/value.h>

#include "live.h"

/*
 * Loads a @type from @from, which must be aligned for it, in one access, and before all later
 * loads.
 */
#define COPY(type, to, from)                                                   \
	do {                                                                   \
		type value_ = __atomic_load_n((const type *)(from),            \
					      __ATOMIC_ACQUIRE);               \
		memcpy(to, &value_, sizeof(value_));                           \
	} while (0)

/* Copies the widest aligned integer that fits; returns its bytes. */
static size_t copy_integer(uint8_t *to, uintptr_t from, size_t length)
{
	if (from % 8 == 0 && length >= 8) {
		COPY(uint64_t, to, from);
		return 8;
	}
	if (from % 4 == 0 && length >= 4) {
		COPY(uint32_t, to, from);
		return 4;
	}
	if (from % 2 == 0 && length >= 2) {
		COPY(uint16_t, to, from);
		return 2;
	}
	COPY(uint8_t, to, from);
	return 1;
}

void live__load(uint8_t *to, uintptr_t from, size_t length)
{
	size_t step;

	while (length) {
		step = copy_integer(to, from, length);
		to += step;
		from += step;
		length -= step;
	}
}

void live__copy(const struct exposure *exposure, const struct dart_entry *entry, uint8_t *copies)
{
	size_t stride = entry->schema->length;
	uint32_t i, j;

	memset(copies, 0, dart_entry__size(entry));
	for (i = 0; i < entry->range_count; i++) {
		const struct dart_range *range = &entry->ranges[i];

		for (j = 0; j < range->copies; j++)
			live__load(copies + (range->first_copy + j) * stride + range->offset,
				   (uintptr_t)exposure__memory(exposure, range->address) +
					   j * range->stride,
				   range->length);
	}
}

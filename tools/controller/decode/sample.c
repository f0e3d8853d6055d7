// SPDX-License-Identifier: GPL-2.0-only
/* Counts the values of a sample, and dates it. */
#include <stdlib.h>

#include "sample.h"
#include "tools/controller/base/wall_clock.h"

uint32_t sample__elements(const struct dart_schema *schema)
{
	uint32_t i, elements = 0;

	for (i = 0; i < schema->field_count; i++)
		elements += schema->fields[i].count;
	return elements;
}

void sample_head__date(struct sample_head *head, int64_t *wall_ns,
		       int64_t host_ns, uint64_t uncertainty_ns)
{
	const int64_t now_ns = wall_clock__offset_ns();

	if (llabs(now_ns - *wall_ns) > WALL_CLOCK_NOISE_NS)
		*wall_ns = now_ns;
	head->time_ns = (int64_t)head->start_ns + *wall_ns;
	head->clock_uncertainty_ns = uncertainty_ns;
	head->clock_offset_ns = 0;
	/* Without overflow, whatever the host told. */
	if (uncertainty_ns)
		head->clock_offset_ns = (uint64_t)host_ns + head->start_ns -
					(uint64_t)head->time_ns;
}

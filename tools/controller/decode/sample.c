// SPDX-License-Identifier: GPL-2.0-only
/* Counts the values of a sample, and dates it. */
#include <time.h>

#include "sample.h"
#include "tools/controller/schedule.h"

uint32_t sample__elements(const struct dart_schema *schema)
{
	uint32_t i, elements = 0;

	for (i = 0; i < schema->field_count; i++)
		elements += schema->fields[i].count;
	return elements;
}

void sample_head__date(struct sample_head *head,
		       const struct dart_endpoint_accept *accept)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	head->clock_offset_ns = accept->clock_offset_ns;
	head->clock_uncertainty_ns = accept->clock_uncertainty_ns;
	head->time_ns = now.tv_sec * 1000000000LL + now.tv_nsec -
			(int64_t)(monotonic_ns() - head->start_ns) +
			head->clock_offset_ns;
}

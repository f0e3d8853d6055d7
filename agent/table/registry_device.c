// SPDX-License-Identifier: GPL-2.0-only
/* Registers the memory of all entries again when the RDMA device is removed or comes back. */
#include "registry.h"

static int exchange(const struct exposure *exposure,
		    const struct entries *entries, struct dart_error *error)
{
	struct entry *entry;
	uint32_t i;
	int ret = 0;

	TAILQ_FOREACH(entry, entries, link)
		for (i = 0; !ret && i < entry->memory_region_count; i++)
			ret = exposure__exchange(exposure,
						 &entry->memory_regions[i],
						 error);
	return ret;
}

int registry__change_device(struct registry *registry, struct ibv_pd *pd,
			    struct dart_error *error)
{
	struct exposure *exposure = registry->exposure;
	struct control_region *control_region = registry->control_region;
	int ret;

	ret = exposure__change_device(exposure, pd, error) ?:
		      exposure__exchange(exposure,
					 &control_region->memory_region,
					 error) ?:
		      exchange(exposure, &registry->entries, error) ?:
		      exchange(exposure, &registry->leaving, error) ?:
		      exchange(exposure, &registry->retired, error);
	/* Without a device no peer can READ, so the keys in the table do not matter. */
	if (ret || !pd)
		return ret;
	return registry__publish_again(registry, error);
}

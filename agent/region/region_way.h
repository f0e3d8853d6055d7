/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A way to gather, which fills a region.  The module is one way (module_way.c); eBPF programs that
 * dartd runs are the other (agent/gather/).  Both take the requests that <linux/dart_zero.h>
 * defines, so that the other rooms see no difference.
 */
#ifndef REGION_WAY_H
#define REGION_WAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/error.h>
#include <linux/dart_zero.h>

#include "source.h"

struct region;

/* Bytes of addresses after the region for memory of clients, which no way fills. */
#define REGION_CLIENT_BYTES (UINT64_C(1) << 30)

struct region_way {
	const char *name;	/* as the setting "gatherer" spells it */
	/* Why this way shows no memory of the kernel, and the software to load that shows it. */
	const char *why_no_windows;
	const char *load_for_windows;
	/* The software to load for a source that this way cannot gather; NULL: none gathers it. */
	const char *load_for_sources;
	bool has_slab_for_each_slice;
	/* The region maps a page again that madvise(MADV_DONTNEED) took out of the mapping. */
	bool maps_again;
	bool gathers_processes; /* has DART_ZERO_SOURCE_PROCESS_MEMORY */

	/* Sets the members of @region from @memory on, and @region->fd and @region->state. */
	int (*open)(struct region *region, struct dart_error *error);
	void (*close)(struct region *region);
	/* As ioctl() on /dev/dart_zero: returns 0, or -1 and sets errno. */
	int (*call)(const struct region *region, unsigned long request, void *argument);
	/* As read() on /dev/dart_zero: returns bytes, or -1 and sets errno. */
	ssize_t (*read)(const struct region *region, struct dart_zero_event *events, size_t size);
	/*
	 * Prepares for the first record of @source: loads its program.  Each call that returns 0
	 * needs a call of give_source() after its record was removed.  -EOPNOTSUPP: this way cannot
	 * gather @source here.
	 */
	int (*take_source)(struct region *region, const struct source *source,
			   struct dart_error *error);
	void (*give_source)(struct region *region, enum dart_zero_source source);
	/* Says why DART_ZERO_IOC_NAMESPACES failed.  NULL: the error number tells. */
	void (*explain_namespaces)(const struct region *region, struct dart_error *error);
};

/*
 * For ways: reserve addresses for a region of @capacity bytes, aligned to RDMA_BASE_ALIGN, and for
 * memory of clients after it.
 */
int region__reserve(uint64_t capacity, void **memory, struct dart_error *error);
void region__unreserve(void *memory, uint64_t capacity);

/* The module dart_zero.  @open returns -ENOENT, -ENODEV or -ENXIO if it is not loaded. */
extern const struct region_way module_way;

#endif /* REGION_WAY_H */

// SPDX-License-Identifier: GPL-2.0-only
/* Allocates the counts of dartd, and publishes them as an entry. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/host.h"
#include "self.h"
#include "self_schema.h"

#define NAME "dartd"

int self__open(struct self *self, struct region *region, struct dart_error *error)
{
	struct dart_zero_extent slab;
	void *memory;
	int ret;

	/*
	 * A separate slab of one page: the slab of slices takes 64 MiB, which a host without slices
	 * must not spend.  It ends with the region.
	 */
	*self = (struct self){ };
	ret = region__add_slab(region, 1, &slab, error);
	if (ret)
		return dart_error__system(error, -ret,
					  "cannot allocate the page of the entry " NAME);
	self->slice.slab = slab.id;
	self->slice.pages = 1;
	ret = region__add_slice(region, &self->slice, error);
	if (ret)
		return ret;
	memory = mmap(NULL, sizeof(*self->counts), PROT_READ | PROT_WRITE,
		      MAP_SHARED, self->slice.fd, 0);
	if (memory == MAP_FAILED)
		ret = dart_error__system(error, errno, "cannot map the values of dartd");
	close(self->slice.fd);
	if (ret)
		return ret;
	self->counts = memory;
	count__set(&self->counts->start_realtime, dart_clock__ns(CLOCK_REALTIME));
	count__set(&self->counts->start_boottime, dart_clock__ns(CLOCK_BOOTTIME));
	host__kernel(&self->counts->kernel);
	count__set(&self->counts->gathering_modules, region->way == &module_way);
	return 0;
}

void self__close(struct self *self)
{
	munmap(self->counts, sizeof(*self->counts));
}

int self__publish(const struct self *self, struct registry *registry, struct dart_error *error)
{
	struct dart_schema *schema = self_schema__new(NAME);

	if (!schema)
		return dart_error__no_memory(error);
	return registry__add_self(registry, NAME, schema, &self->slice, error);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Gathers by the module: the region is an open file of /dev/dart_zero. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "region.h"
#include "region_way.h"
#include "sample_programs.h"

static int cannot_open(int code, struct dart_error *error)
{
	const char *remedy = "";

	if (code == ENOENT || code == ENODEV || code == ENXIO)
		remedy = " (load the module: modprobe dart_zero)";
	else if (code == EACCES || code == EPERM)
		remedy = " (run dartd as root, in a service or container that may open it)";
	return dart_error__set(error, code, "cannot open %s: %s%s",
			       DART_ZERO_DEVICE, strerror(code), remedy);
}

static int module__open(struct region *region, struct dart_error *error)
{
	struct dart_zero_info info;
	void *memory;
	int ret;

	region->fd = open(DART_ZERO_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (region->fd < 0)
		return cannot_open(errno, error);

	ret = region__info(region, &info);
	if (ret || info.abi_version != DART_ZERO_ABI_VERSION) {
		ret = dart_error__set(
			error, EPROTONOSUPPORT,
			"%s does not have ABI version %d (install dartd and the module dart_zero from one release)",
			DART_ZERO_DEVICE, DART_ZERO_ABI_VERSION);
		goto close;
	}

	ret = region__reserve(info.capacity, &memory, error);
	if (ret)
		goto close;
	if (mmap(memory, info.capacity, PROT_READ, MAP_SHARED | MAP_FIXED, region->fd, 0) ==
	    MAP_FAILED) {
		ret = dart_error__system(error, errno, "cannot map %llu bytes of %s", info.capacity,
					 DART_ZERO_DEVICE);
		goto unreserve;
	}

	region->state = calloc(1, sizeof(struct sample_programs));
	if (!region->state) {
		ret = dart_error__no_memory(error);
		goto unreserve;
	}
	region->memory = memory;
	region->capacity = info.capacity;
	region->cpus = info.cpus;
	region->page_size = info.page_size;
	return 0;

unreserve:
	region__unreserve(memory, info.capacity);
close:
	close(region->fd);
	return ret;
}

static void module__close(struct region *region)
{
	sample_programs__close(region->state);
	free(region->state);
	region__unreserve((void *)region->memory, region->capacity);
	close(region->fd);
}

static int module__call(const struct region *region, unsigned long request, void *argument)
{
	return ioctl(region->fd, request, argument);
}

static ssize_t module__read(const struct region *region, struct dart_zero_event *events,
			    size_t size)
{
	return read(region->fd, events, size);
}

static int module__take_source(struct region *region, const struct source *source,
			       struct dart_error *error)
{
	return sample_programs__take(region->state, source, error);
}

static void module__give_source(struct region *region, enum dart_zero_source source)
{
	sample_programs__give(region->state, source);
}

const struct region_way module_way = {
	.name = "module",
	.why_no_windows = "dart_zero was loaded with windows=0",
	.load_for_windows = "dart_zero without windows=0",
	.maps_again = true,
	.gathers_processes = true,
	.open = module__open,
	.close = module__close,
	.call = module__call,
	.read = module__read,
	.take_source = module__take_source,
	.give_source = module__give_source,
};

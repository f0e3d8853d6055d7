// SPDX-License-Identifier: GPL-2.0-only
/* Makes the requests of /dev/dart_zero to the way of the region, and explains their errors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "agent/base/inotify.h"
#include "agent/base/log.h"
#include "agent/base/rdma_base.h"
#include "region.h"

/* Without the setting "rest": passes, and the longest time between two rows. */
#define REST_PASSES	8
#define REST_MS		1000

int region__reserve(uint64_t capacity, void **memory, struct dart_error *error)
{
	const uint64_t bytes = capacity + REGION_CLIENT_BYTES, more = bytes + RDMA_BASE_ALIGN;
	uint8_t *first, *aligned;

	first = mmap(NULL, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (first == MAP_FAILED)
		return dart_error__system(error, errno, "cannot reserve %llu bytes of addresses",
					  (unsigned long long)more);
	aligned = first + -(uintptr_t)first % RDMA_BASE_ALIGN;
	if (aligned > first)
		munmap(first, aligned - first);
	if (aligned + bytes < first + more)
		munmap(aligned + bytes, first + more - (aligned + bytes));
	*memory = aligned;
	return 0;
}

void region__unreserve(void *memory, uint64_t capacity)
{
	munmap(memory, capacity + REGION_CLIENT_BYTES);
}

/* Returns 0, or -1 and sets errno. */
static int call(const struct region *region, unsigned long request, void *argument)
{
	return region->way->call(region, request, argument);
}

int region__open(struct region *region, const struct region_way *way, struct dart_error *error)
{
	*region = (struct region){ .way = way };
	return way->open(region, error);
}

void region__close(struct region *region)
{
	region->way->close(region);
}

int region__take_source(struct region *region, const struct source *source,
			struct dart_error *error)
{
	return region->way->take_source(region, source, error);
}

void region__give_source(struct region *region, enum dart_zero_source source)
{
	region->way->give_source(region, source);
}

int region__info(const struct region *region, struct dart_zero_info *info)
{
	*info = (struct dart_zero_info){ .size = sizeof(*info) };
	if (call(region, DART_ZERO_IOC_INFO, info))
		return -errno;
	return 0;
}

int region__quarantine(const struct region *region, struct dart_zero_quarantine *quarantine)
{
	*quarantine = (struct dart_zero_quarantine){
		.size = sizeof(*quarantine),
	};
	if (call(region, DART_ZERO_IOC_QUARANTINE, quarantine))
		return -errno;
	return 0;
}

/* The error of a window where the way shows no memory of the kernel. */
static int no_windows(const struct region *region, struct dart_error *error)
{
	return dart_error__set(
		error, EACCES,
		"%s and shows no page of the kernel (register it with --gather, or load %s)",
		region->way->why_no_windows, region->way->load_for_windows);
}

/* The end of region__add_*(): passes @added on, or sets @error. */
static int region__take(struct region *region, int failed, const struct dart_zero_extent *added,
			struct dart_zero_extent *extent, const char *object,
			struct dart_error *error)
{
	if (!failed) {
		*extent = *added;
		region->changes++;
		return 0;
	}
	if (errno == ENOSPC)
		return dart_error__set(
			error, ENOSPC,
			"the region is full (unregister something, or load dart_zero with a larger capacity=)");
	return dart_error__system(error, errno, "the kernel refuses %s", object);
}

/* Explains @code, the error of opening the counters of @selector. */
static int cannot_open_counters(const struct region *region, const struct selector *selector,
				int code, struct dart_error *error)
{
	const struct source *source = selector->source;

	switch (code) {
	case EPERM:
		if (source->id == DART_ZERO_SOURCE_PERF)
			return dart_error__set(
				error, EPERM,
				"the kernel forbids to count: dartd lacks CAP_PERFMON, or the kernel is locked down for confidentiality (see kernel_lockdown(7))");
		if (source->id == DART_ZERO_SOURCE_NETDEV_LINK)
			return dart_error__set(
				error, EPERM,
				"%s: dartd lacks CAP_NET_ADMIN, or lacks it in the user namespace that owns this network namespace",
				selector->name);
		return dart_error__set(
			error, EPERM,
			"the kernel forbids to show its counters: dartd lacks CAP_SYS_ADMIN, or the kernel is locked down for confidentiality (see kernel_lockdown(7))");
	case EACCES:
		return no_windows(region, error);
	case ENOENT:
	case ENODEV:
		return dart_error__set(
			error, code,
			source->selector == SOURCE_SELECTOR_FILESYSTEM ?
				"%s: the host has no such file system mounted there" :
				"%s: its namespace, device or cgroup no longer exists",
			selector->name);
	case EDQUOT:
		return dart_error__set(
			error, EDQUOT,
			"%s: namespaces of its user take an eighth of the region already (load dart_zero with a larger capacity=)",
			selector->name);
	case E2BIG:
		return dart_error__set(
			error, code,
			"%s: this host has too many CPUs for the values of all to be gathered at once by eBPF programs (load %s)",
			selector->name, region->way->load_for_sources);
	case EOPNOTSUPP:
		/* Not -EOPNOTSUPP, which means that no object of this kernel has them. */
		if (source->selector == SOURCE_SELECTOR_NETDEV)
			return dart_error__set(
				error, ENODATA, "%s",
				source->id == DART_ZERO_SOURCE_RDMA_PORTS ?
					"no RDMA device with counters that dart_zero knows works on this device" :
					"this device has no per-CPU statistics that dart_zero knows");
		/* Only the module sees file systems that a sandbox hides from dartd. */
		if (region->way->load_for_sources && source->selector == SOURCE_SELECTOR_FILESYSTEM)
			return dart_error__set(
				error, code,
				"eBPF programs do not gather %s here (load %s)", selector->name,
				region->way->load_for_sources);
		return dart_error__set(
			error, code, "%s",
			source->id == DART_ZERO_SOURCE_PERF ?
				"the machine has no hardware counters that perf knows (a virtual machine needs a virtual PMU)" :
				"this kernel does not have these counters");
	case EINVAL:
		return dart_error__set(
			error, EINVAL, "the kernel does not show the counters of %s%s",
			selector->name,
			source->selector == SOURCE_SELECTOR_CGROUP ?
				": the root cgroup has no counters" :
				"");
	case ENOTTY:
		return dart_error__set(
			error, EOPNOTSUPP,
			"the module dart_zero cannot gather (install dartd and the module from one release)");
	case ENOSPC:
		return dart_error__set(
			error, ENOSPC,
			"the region is full (unregister something, or load dart_zero with a larger capacity=)");
	default:
		return dart_error__system(error, code, "the kernel refuses the counters of %s",
					  selector->name);
	}
}

int region__add_window(struct region *region, const struct selector *selector,
		       struct dart_zero_extent *extent, struct dart_error *error)
{
	struct dart_zero_window window = {
		.size = sizeof(window),
		.source = selector->source->id,
		.fd = selector->fd,
		.netns = selector->fd < 0 ? selector->key.object : 0,
		.ifindex = selector->key.ifindex,
	};

	if (call(region, DART_ZERO_IOC_ADD_WINDOW, &window))
		return cannot_open_counters(region, selector, errno, error);
	*extent = window.extent;
	region->changes++;
	return 0;
}

static uint32_t rest_of(const struct region *region, uint32_t gather_ms)
{
	const uint32_t passes = REST_MS / gather_ms;

	if (region->rest_max)
		return region->rest_max;
	return passes < 1 ? 1 : passes > REST_PASSES ? REST_PASSES : passes;
}

int region__add_record(struct region *region, const struct selector *selector,
		       struct dart_zero_record *record, struct dart_error *error)
{
	record->size = sizeof(*record);
	record->flags = selector->is_deferrable ? DART_ZERO_RECORD_DEFERRABLE : 0;
	record->interval_ms = selector->key.gather_ms;
	record->rest_max = rest_of(region, record->interval_ms);
	record->source = selector->source->id;
	record->fd = selector->fd;
	record->ifindex = selector->key.ifindex;
	if (selector->path) {
		record->path = (uintptr_t)selector->path;
		record->device_major = major(selector->key.object);
		record->device_minor = minor(selector->key.object);
	} else if (selector->fd < 0) {
		record->netns = selector->key.object;
	}
	if (call(region, DART_ZERO_IOC_ADD_RECORD, record))
		return cannot_open_counters(region, selector, errno, error);
	return 0;
}

int region__add_process_record(struct region *region, struct dart_zero_record *record,
			       struct dart_error *error)
{
	record->size = sizeof(*record);
	record->form = DART_ZERO_RECORD_SUM;
	record->source = DART_ZERO_SOURCE_PROCESS_MEMORY;
	record->fd = -1;
	if (!call(region, DART_ZERO_IOC_ADD_RECORD, record))
		return 0;
	switch (errno) {
	case ESRCH:
	case ENODEV:
		return dart_error__set(error, ESRCH, "process %u has ended", record->pid);
	case EPERM:
		return dart_error__set(
			error, EPERM,
			"dartd may not read the memory of process %u (give dartd CAP_SYS_PTRACE in its user namespace)",
			record->pid);
	case ENOSPC:
		return dart_error__set(
			error, ENOSPC,
			"the region is full (unregister something, or load dart_zero with a larger capacity=)");
	default:
		return dart_error__system(error, errno,
					  "the module refuses the memory of process %u",
					  record->pid);
	}
}

int region__add_map(struct region *region, int map_fd,
		    struct dart_zero_extent *extent, struct dart_error *error)
{
	struct dart_zero_map map = { .size = sizeof(map), .fd = map_fd };
	int failed = call(region, DART_ZERO_IOC_ADD_MAP, &map);

	switch (failed ? errno : 0) {
	case EINVAL:
	case EBADF:
		return dart_error__set(error, EINVAL,
				       "this is not an eBPF array map created with BPF_F_MMAPABLE");
	case EPERM:
		return dart_error__set(
			error, EPERM,
			"the map is not open for reading, or dartd lacks CAP_SYS_ADMIN");
	default:
		return region__take(region, failed, &map.extent, extent, "the map", error);
	}
}

int region__add_counters(struct region *region, const char *name, uint32_t count,
			 struct dart_zero_extent *extent, struct dart_error *error)
{
	struct dart_zero_counters counters = {
		.size = sizeof(counters),
		.flags = count ? DART_ZERO_COUNTERS_CREATE : 0,
		.count = count,
	};
	int failed;

	if (strlen(name) >= sizeof(counters.name))
		return dart_error__set(error, EINVAL,
				       "the name of counters has at most %zu characters",
				       sizeof(counters.name) - 1);
	strcpy(counters.name, name);
	failed = call(region, DART_ZERO_IOC_ADD_COUNTERS, &counters);

	switch (failed ? errno : 0) {
	case ENOENT:
		return dart_error__set(
			error, ENOENT,
			"no module has counters called '%s' (load the module, or name the counters to create)",
			name);
	case EACCES:
		return dart_error__set(
			error, EACCES,
			"%s and shows no counters of modules or eBPF programs (load %s)",
			region->way->why_no_windows, region->way->load_for_windows);
	case EEXIST:
		return dart_error__set(error, EEXIST, "counters called '%s' already exist", name);
	default:
		return region__take(region, failed, &counters.extent, extent,
				    "the counters", error);
	}
}

static int region__add_pages(struct region *region, uint32_t pages, uint32_t flags,
			     struct dart_zero_extent *extent, struct dart_error *error)
{
	struct dart_zero_slab slab = {
		.size = sizeof(slab),
		.flags = flags,
		.pages = pages,
	};

	if (call(region, DART_ZERO_IOC_ADD_SLAB, &slab))
		return dart_error__system(error, errno, "cannot allocate %u pages for %s", pages,
					  flags ? "records" : "slices");
	*extent = slab.extent;
	region->changes++;
	return 0;
}

int region__add_slab(struct region *region, uint32_t pages,
		     struct dart_zero_extent *extent, struct dart_error *error)
{
	return region__add_pages(region, pages, 0, extent, error);
}

int region__add_record_pages(struct region *region, uint32_t pages, struct dart_zero_extent *extent,
			     struct dart_error *error)
{
	return region__add_pages(region, pages, DART_ZERO_SLAB_RECORDS, extent, error);
}

/* The end of a process with a slice would not be noticed. */
static int no_watches(struct dart_error *error)
{
	return dart_error__set(error, EUSERS, "too many files are watched already%s",
			       inotify__remedy(ENOSPC));
}

int region__add_slice(struct region *region, struct dart_zero_slice *slice,
		      struct dart_error *error)
{
	slice->size = sizeof(*slice);
	if (!call(region, DART_ZERO_IOC_ADD_SLICE, slice))
		return 0;
	if (errno == ENOSPC)
		return dart_error__set(
			error, ENOSPC,
			"all pages for slices are lent (end a process that has one)");
	if (errno == EUSERS)
		return no_watches(error);
	return dart_error__system(error, errno, "cannot lend pages");
}

int region__adopt_slice(struct region *region, int fd, struct dart_zero_adoption *adoption,
			struct dart_error *error)
{
	*adoption = (struct dart_zero_adoption){
		.size = sizeof(*adoption),
		.fd = fd,
	};
	if (!call(region, DART_ZERO_IOC_ADOPT_SLICE, adoption))
		return 0;

	switch (errno) {
	case EINVAL:
	case EBADF:
		return dart_error__set(
			error, EINVAL,
			"this is not the descriptor of a slice (send the one that came with the first reply)");
	case EBUSY:
		return dart_error__set(
			error, EBUSY,
			"the region of another process still has this slice or its slab (try again when that process has ended)");
	case EEXIST:
		return dart_error__set(error, EEXIST, "the region has this slice already");
	case ENOSPC:
		return dart_error__set(
			error, ENOSPC,
			"the region is full (unregister something, or load dart_zero with a larger capacity=)");
	case EUSERS:
		return no_watches(error);
	case ENOTTY:
		return dart_error__set(
			error, EOPNOTSUPP,
			"the module dart_zero cannot take slices over (install dartd and the module from one release)");
	default:
		return dart_error__system(error, errno, "cannot take the slice over");
	}
}

/* Removes an extent, a slice or a record. */
static void remove_by_id(const struct region *region, uint32_t id)
{
	struct dart_zero_remove remove = { .size = sizeof(remove), .id = id };

	if (call(region, DART_ZERO_IOC_REMOVE, &remove))
		log__error("cannot remove extent %u: %s", id, strerror(errno));
}

void region__remove_part(struct region *region, uint32_t id)
{
	remove_by_id(region, id);
}

void region__remove(struct region *region, uint32_t id)
{
	remove_by_id(region, id);
	region->changes++;
}

int region__read_events(const struct region *region, struct dart_zero_event *events, uint32_t room)
{
	ssize_t got = region->way->read(region, events, room * sizeof(*events));

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return got / sizeof(*events);
}

int region__namespaces(const struct region *region, bool is_watched, uint32_t **inodes,
		       uint32_t *count, struct dart_error *error)
{
	struct dart_zero_namespaces list = {
		.size = sizeof(list),
		.flags = is_watched ? DART_ZERO_NAMESPACES_WATCH : 0,
		.count = 64,
	};
	uint32_t *room = NULL, *more;
	int ret;

	/*
	 * After ENOSPC the count is the one needed; more namespaces may appear before the next
	 * attempt.
	 */
	do {
		more = reallocarray(room, list.count, sizeof(*room));
		if (!more) {
			free(room);
			return dart_error__no_memory(error);
		}
		room = more;
		list.inodes = (uintptr_t)room;
		if (!call(region, DART_ZERO_IOC_NAMESPACES, &list)) {
			*inodes = room;
			*count = list.count;
			return 0;
		}
	} while (errno == ENOSPC);

	ret = -errno;
	free(room);
	if (!region->way->explain_namespaces)
		return dart_error__system(error, -ret, "cannot list the network namespaces");
	region->way->explain_namespaces(region, error);
	return ret;
}

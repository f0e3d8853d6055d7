/* SPDX-License-Identifier: GPL-2.0-only */
/* The calls of <linux/dart_zero.h>, for tests: they return 0 or -errno. */
#ifndef DART_TEST_DEVICE_H
#define DART_TEST_DEVICE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/dart_zero.h>

#include "test.h"

/* Bytes of a page of this kernel. */
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* Loads the module again, with "NAME=VALUE" or "". The device must be closed in all tests. */
static inline int module_reload(const char *parameter)
{
	char command[96];

	snprintf(command, sizeof(command),
		 "modprobe -r dart_zero && modprobe dart_zero %s", parameter);
	return system(command);
}

static inline int device_open(void)
{
	int fd = open(DART_ZERO_DEVICE, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static inline struct dart_zero_info device_info(int region)
{
	struct dart_zero_info info = { .size = sizeof(info) };

	assert_int_equal(ioctl(region, DART_ZERO_IOC_INFO, &info), 0);
	return info;
}

static inline int device_call(int region, unsigned long command, void *argument)
{
	return ioctl(region, command, argument) ? -errno : 0;
}

static inline int device_add_window(int region, uint32_t source, struct dart_zero_extent *extent)
{
	struct dart_zero_window window = {
		.size = sizeof(window),
		.source = source,
		.fd = -1,
	};
	int ret = device_call(region, DART_ZERO_IOC_ADD_WINDOW, &window);

	if (extent)
		*extent = window.extent;
	return ret;
}

/* Selected by a descriptor of a namespace, cgroup or disk; @ifindex: a device or 0. */
static inline int device_add_selected(int region, uint32_t source, int fd, uint32_t ifindex,
				      struct dart_zero_extent *extent)
{
	struct dart_zero_window window = {
		.size = sizeof(window),
		.source = source,
		.fd = fd,
		.ifindex = ifindex,
	};
	int ret = device_call(region, DART_ZERO_IOC_ADD_WINDOW, &window);

	*extent = window.extent;
	return ret;
}

static inline int device_add_map(int region, int fd, struct dart_zero_extent *extent)
{
	struct dart_zero_map map = { .size = sizeof(map), .fd = fd };
	int ret = device_call(region, DART_ZERO_IOC_ADD_MAP, &map);

	if (extent)
		*extent = map.extent;
	return ret;
}

/* Creates @count counters; 0: they exist already. */
static inline int device_add_counters(int region, const char *name, uint32_t count,
				      struct dart_zero_extent *extent)
{
	struct dart_zero_counters counters = {
		.size = sizeof(counters),
		.flags = count ? DART_ZERO_COUNTERS_CREATE : 0,
		.count = count,
	};
	int ret;

	strcpy(counters.name, name);
	ret = device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &counters);
	if (extent)
		*extent = counters.extent;
	return ret;
}

/* Lists up to 64 namespaces; returns the result of the call. */
static inline int device_namespaces(int region, uint32_t flags)
{
	uint32_t inodes[64];
	struct dart_zero_namespaces list = {
		.size = sizeof(list),
		.flags = flags,
		.count = 64,
		.inodes = (uintptr_t)inodes,
	};

	return device_call(region, DART_ZERO_IOC_NAMESPACES, &list);
}

static inline int device_quarantine(int region)
{
	struct dart_zero_quarantine quarantine = {
		.size = sizeof(quarantine),
	};

	return device_call(region, DART_ZERO_IOC_QUARANTINE, &quarantine);
}

static inline int device_open_reader(int region, int *fd)
{
	struct dart_zero_reader reader = { .size = sizeof(reader) };
	int ret = device_call(region, DART_ZERO_IOC_OPEN_READER, &reader);

	*fd = reader.fd;
	return ret;
}

static inline int device_remove(int region, uint32_t id)
{
	struct dart_zero_remove remove = { .size = sizeof(remove), .id = id };

	return device_call(region, DART_ZERO_IOC_REMOVE, &remove);
}

static inline const char *device_map(int region)
{
	void *address = mmap(NULL, device_info(region).capacity, PROT_READ, MAP_SHARED, region, 0);

	assert_true(address != MAP_FAILED);
	return address;
}

/* The sum of word @index over all copies. */
static inline uint64_t device_sum(const char *address, const struct dart_zero_extent *extent,
				  size_t index)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < extent->copies; cpu++)
		sum += ((const volatile uint64_t *)
			(address + extent->data + cpu * extent->stride))[index];
	return sum;
}

/*
 * The id of the next event, which comes within 2 minutes and is of @type.  A kernel that looks
 * for faults takes more than 20 s on a busy machine to end a network namespace.
 */
static inline uint32_t device_event(int region, uint32_t type)
{
	struct pollfd poll_region = { .fd = region, .events = POLLIN };
	struct dart_zero_event event;

	assert_int_equal(poll(&poll_region, 1, 120000), 1);
	assert_int_equal(read(region, &event, sizeof(event)), sizeof(event));
	assert_int_equal(event.type, type);
	return event.id;
}

static inline void device_no_event(int region)
{
	struct pollfd poll_region = { .fd = region, .events = POLLIN };

	assert_int_equal(poll(&poll_region, 1, 0), 0);
}

/* An array map of @entries values of @value_size bytes. */
static inline int array_map(const char *name, uint32_t value_size, uint32_t entries, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t),
				value_size, entries, &options);

	assert_true(fd >= 0);
	return fd;
}

static inline uint32_t map_id(int fd)
{
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	return info.id;
}

#endif /* DART_TEST_DEVICE_H */

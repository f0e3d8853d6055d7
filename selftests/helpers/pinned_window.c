// SPDX-License-Identifier: GPL-2.0-only
/*
 * pinned_window: closes a region while a window of it is registered for RDMA, notifies
 * that it is ready, and keeps the registration until a test kills it.
 */
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "selftests/lib/device.h"
#include "selftests/lib/loopback.h"

/* Counters of the first namespace are never freed, and so never in quarantine. */
static int new_namespace(void)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), namespace;

	if (unshare(CLONE_NEWNET))
		return -1;
	namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	/* The own namespace contains the socket for sd_notify(). */
	return setns(own, CLONE_NEWNET) ? -1 : namespace;
}

int main(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(loopback__open_device());
	int region = device_open(), namespace = new_namespace();
	const char *address = device_map(region);
	uint64_t capacity = device_info(region).capacity;
	struct dart_zero_extent extent;

	if (device_add_selected(region, DART_ZERO_SOURCE_TCP, namespace, 0, &extent) || !pd ||
	    !ibv_reg_mr(pd, (char *)address + extent.data, extent.length, IBV_ACCESS_REMOTE_READ)) {
		perror("pinned_window");
		return 1;
	}
	munmap((void *)address, capacity);
	close(region);
	sd_notify(0, "READY=1");
	pause();
	return 0;
}

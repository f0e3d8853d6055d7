// SPDX-License-Identifier: GPL-2.0-only
/* Windows: the sources on which they can be opened, and the function that opens each. */
#include "window.h"

#include <linux/err.h>
#include <linux/kernel_stat.h>
#include <linux/netdevice.h>
#include <linux/nospec.h>
#include <linux/part_stat.h>
#include <linux/vmstat.h>
#include <net/net_namespace.h>

#include <linux/dart_zero.h>

#include "cpustat.h"
#include "kmod/extents/extent.h"
#include "kmod/extents/percpu.h"
#include "kmod/objects/cgroup.h"
#include "kmod/objects/disk.h"
#include "kmod/objects/namespace.h"
#include "kmod/objects/source.h"
#include "netdev.h"

static struct dart_percpu *open_static(const struct dart_source *source,
				       const struct dart_zero_window *window)
{
	struct dart_percpu *percpu;

	percpu = dart_percpu_new_static(source->variable, source->length, source->name);
	if (!IS_ERR(percpu))
		percpu->read = source->read;
	return percpu;
}

#define VARIABLE(symbol, ...) {						\
	.open = open_static,						\
	.name = #symbol,						\
	.length = sizeof(symbol),					\
	.variable = &(symbol),						\
	__VA_ARGS__							\
}

#define MIB(type, member) {						\
	.open = dart_namespace_open,					\
	.borrow = dart_namespace_borrow,				\
	.name = #type,							\
	.length = sizeof(struct type),					\
	.align = __alignof__(struct type),				\
	.place = offsetof(struct net, mib.member),			\
	.by_fd = true,							\
}

static const struct dart_source sources[] = {
	[DART_ZERO_SOURCE_CPUSTAT] = VARIABLE(kernel_cpustat,
					     .read = dart_cpustat_read),
	[DART_ZERO_SOURCE_VMSTAT] = VARIABLE(vm_event_states),
	[DART_ZERO_SOURCE_SOFTNET] = VARIABLE(softnet_data),
	[DART_ZERO_SOURCE_KSTAT] = VARIABLE(kstat),
#ifdef CONFIG_X86
	[DART_ZERO_SOURCE_IRQ_STAT] = VARIABLE(irq_stat),
#endif
	[DART_ZERO_SOURCE_IP] = MIB(ipstats_mib, ip_statistics),
	[DART_ZERO_SOURCE_TCP] = MIB(tcp_mib, tcp_statistics),
	[DART_ZERO_SOURCE_TCPEXT] = MIB(linux_mib, net_statistics),
	[DART_ZERO_SOURCE_UDP] = MIB(udp_mib, udp_statistics),
	[DART_ZERO_SOURCE_ICMP] = MIB(icmp_mib, icmp_statistics),
#if IS_ENABLED(CONFIG_IPV6)
	[DART_ZERO_SOURCE_IP6] = MIB(ipstats_mib, ipv6_statistics),
	[DART_ZERO_SOURCE_UDP6] = MIB(udp_mib, udp_stats_in6),
	[DART_ZERO_SOURCE_ICMP6] = MIB(icmpv6_mib, icmpv6_statistics),
#endif
	[DART_ZERO_SOURCE_NETDEV ... DART_ZERO_SOURCE_NETDEV_CORE] = {
		.open = dart_namespace_open,
		.borrow = dart_netdev_borrow,
		.by_fd = true,
		.by_ifindex = true,
	},
	[DART_ZERO_SOURCE_DISK] = {
		.open = dart_disk_open,
		.by_fd = true,
	},
	[DART_ZERO_SOURCE_CGROUP_CPU] = {
		.open = dart_cgroup_open_cpu,
		.by_fd = true,
	},
};

/* True if a kernel can be built without this source. */
static bool is_optional(u32 id)
{
	return id == DART_ZERO_SOURCE_IRQ_STAT || id == DART_ZERO_SOURCE_IP6 ||
	       id == DART_ZERO_SOURCE_UDP6 || id == DART_ZERO_SOURCE_ICMP6;
}

static const struct dart_source *source_find(u32 id)
{
	if (id >= ARRAY_SIZE(sources))
		return ERR_PTR(-EINVAL);

	id = array_index_nospec(id, ARRAY_SIZE(sources));
	if (sources[id].open)
		return &sources[id];
	return ERR_PTR(is_optional(id) ? -EOPNOTSUPP : -EINVAL);
}

static const struct dart_extent_kind window_kind = {
	.id = DART_ZERO_EXTENT_WINDOW,
	.show = dart_percpu_extent_show,
	.begin = dart_percpu_extent_begin,
	.end = dart_percpu_extent_end,
	.release = dart_percpu_extent_release,
};

struct dart_percpu *dart_window_open_percpu(const struct dart_zero_window *window)
{
	const struct dart_source *source = source_find(window->source);

	if (IS_ERR(source))
		return ERR_CAST(source);
	if ((source->by_fd && !window->netns ? window->fd < 0 : window->fd != -1) ||
	    (window->netns && !source->borrow) || source->by_ifindex != !!window->ifindex)
		return ERR_PTR(-EINVAL);

	return source->open(source, window);
}

struct dart_extent *dart_window_open(const struct dart_zero_window *window)
{
	struct dart_percpu *percpu = dart_window_open_percpu(window);
	struct dart_extent *extent;

	if (IS_ERR(percpu))
		return ERR_CAST(percpu);
	extent = dart_percpu_extent_new(&window_kind, percpu);
	if (!IS_ERR(extent))
		extent->info.source = window->source;
	return extent;
}

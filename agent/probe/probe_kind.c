// SPDX-License-Identifier: GPL-2.0-only
/* The table of probes. */
#include <bpf/libbpf.h>

#include "biolat.skel.h"
#include "cgroupnet.skel.h"
#include "runqlat.skel.h"
#include "tcp_traffic.skel.h"
#include "tcpconn.skel.h"

#include "probe_kind.h"

static const struct probe_kind kinds[] = {
	{
		.name = "tcp",
		.description = "TCP traffic of the host",
		.object = tcp_traffic_bpf__elf_bytes,
		.maps = { { "tcp_traffic", "tcp", true } },
		.is_loaded_at_start = true,
	},
	{
		.name = "tcpconn",
		.description = "each TCP connection",
		.object = tcpconn_bpf__elf_bytes,
		.maps = {
			{ "tcpconn", "tcpconn", false },
			{ "tcpconn_rows", "tcpconn.rows", false },
		},
	},
	{
		.name = "runqlat",
		.description = "how long tasks wait for a CPU",
		.object = runqlat_bpf__elf_bytes,
		.maps = { { "runqlat", "runqlat", true } },
		.needs = "/proc/schedstat",
		.needs_what = "the kernel keeps no scheduler statistics (CONFIG_SCHEDSTATS)",
	},
	{
		.name = "biolat",
		.description = "how long block devices take",
		.object = biolat_bpf__elf_bytes,
		.maps = { { "biolat", "biolat", true } },
	},
	{
		.name = "cgroupnet",
		.description = "packets in and out of each cgroup",
		.object = cgroupnet_bpf__elf_bytes,
		.maps = {
			{ "cgroupnet", "cgroupnet", false },
			{ "cgroupnet_rows", "cgroupnet.rows", false },
		},
		.needs = "/sys/fs/cgroup/cgroup.controllers",
		.needs_what = "there is no cgroup file system of version 2 at /sys/fs/cgroup",
	},
};

size_t probe_kind__count(void)
{
	return sizeof(kinds) / sizeof(kinds[0]);
}

const struct probe_kind *probe_kind__at(size_t index)
{
	return index < probe_kind__count() ? &kinds[index] : NULL;
}

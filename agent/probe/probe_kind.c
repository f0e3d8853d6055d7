// SPDX-License-Identifier: GPL-2.0-only
/* The table of probes. */
#include <errno.h>
#include <string.h>

#include "biolat.skel.h"
#include "cgroupnet.skel.h"
#include "probe_kind.h"
#include "runqlat.skel.h"
#include "tcp_traffic.skel.h"
#include "tcpconn.skel.h"

const struct probe_kind probe_kinds[] = {
	{
		"tcp", "TCP traffic of the host", tcp_traffic_bpf__elf_bytes,
		.maps = { { "tcp_traffic", "tcp", true } },
	},
	{
		"tcpconn", "each TCP connection", tcpconn_bpf__elf_bytes,
		.maps = {
			{ "tcpconn", "tcpconn", false },
			{ "tcpconn_rows", "tcpconn.rows", false },
		},
	},
	{
		"runqlat", "how long tasks wait for a CPU", runqlat_bpf__elf_bytes,
		.maps = { { "runqlat", "runqlat", true } },
		.needs = "/proc/schedstat",
		.needs_what = "the kernel keeps no scheduler statistics (run a kernel with CONFIG_SCHEDSTATS=y)",
	},
	{
		"biolat", "how long block devices take", biolat_bpf__elf_bytes,
		.maps = { { "biolat", "biolat", true } },
	},
	{
		"cgroupnet", "packets in and out of each cgroup",
		cgroupnet_bpf__elf_bytes,
		.maps = {
			{ "cgroupnet", "cgroupnet", false },
			{ "cgroupnet_rows", "cgroupnet.rows", false },
		},
		.needs = "/sys/fs/cgroup/cgroup.controllers",
		.needs_what = "there is no cgroup file system of version 2 at /sys/fs/cgroup",
	},
};

const size_t probe_kind_count = sizeof(probe_kinds) / sizeof(probe_kinds[0]);

const struct probe_kind *probe_kind__find(const char *name, struct dart_error *error)
{
	size_t i;

	for (i = 0; i < probe_kind_count; i++)
		if (!strcmp(probe_kinds[i].name, name))
			return &probe_kinds[i];
	dart_error__set(error, ENOENT, "there is no probe '%s' (dartctl probe list names them)",
			name);
	return NULL;
}

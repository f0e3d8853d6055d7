// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/libbpf.h>

#include "runqlat.skel.h"
#include "tcp_traffic.skel.h"
#include "tcpconn.skel.h"

#include "probe_kind.h"

#define BTF "/sys/kernel/btf/vmlinux"
#define BTF_WHAT "the kernel does not say what its types are (CONFIG_DEBUG_INFO_BTF)"

static const struct probe_kind kinds[] = {
	{
		.name = "tcp",
		.description = "TCP traffic of the host",
		.object = tcp_traffic_bpf__elf_bytes,
		.maps = { { "tcp_traffic", "tcp", true } },
		.is_loaded_at_start = true,
		.needs = BTF,
		.needs_what = BTF_WHAT,
	},
	{
		.name = "tcpconn",
		.description = "each TCP connection",
		.object = tcpconn_bpf__elf_bytes,
		.maps = {
			{ "tcpconn", "tcpconn", false },
			{ "tcpconn_slots", "tcpconn.slots", false },
		},
		.needs = BTF,
		.needs_what = BTF_WHAT,
	},
	{
		.name = "runqlat",
		.description = "how long tasks wait for a CPU",
		.object = runqlat_bpf__elf_bytes,
		.maps = { { "runqlat", "runqlat", true } },
		.needs = "/proc/schedstat",
		.needs_what = "the kernel keeps no scheduler statistics (CONFIG_SCHEDSTATS)",
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

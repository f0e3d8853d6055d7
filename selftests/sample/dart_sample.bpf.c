// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minimal eBPF programs that add to counters in a region. The counters are made by
 *
 *	dartctl register counters NAME packets bytes cgroups
 *
 * which prints their id.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dart_counters.h"

enum counter { PACKETS, BYTES, CGROUPS };

__u32 id;

SEC("xdp")
int sample_packet(struct xdp_md *context)
{
	bpf_dart_counters_add(id, PACKETS, 1);
	return XDP_PASS;
}

SEC("tc")
int sample_bytes(struct __sk_buff *packet)
{
	bpf_dart_counters_add(id, BYTES, packet->len);
	return 0; /* go on */
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(sample_cgroup)
{
	bpf_dart_counters_add(id, CGROUPS, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

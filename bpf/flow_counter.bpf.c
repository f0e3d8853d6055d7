// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the packets of each flow that arrives at an interface, and passes them.  There are two
 * maps of sums: while the loader reads and empties one of them, the program counts in the other.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "flow_counter.h"
#include "flow_key.h"

struct sums {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FLOW_COUNTER_FLOWS);
	__type(key, struct flow_counter_key);
	__type(value, __u64);
} sums_0 SEC(".maps"), sums_1 SEC(".maps");

/* The map that the program counts in; a change waits until no program uses the former one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct sums);
} current SEC(".maps") = {
	.values = { [0] = (void *)&sums_0 },
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flow_counter_rest);
} rest SEC(".maps");

static __always_inline int read_flow(struct xdp_md *context, struct telemetry *flow)
{
	struct cursor cursor = {
		.at = (void *)(long)context->data,
		.end = (void *)(long)context->data_end,
		.begin = (void *)(long)context->data,
		.context = context,
	};
	struct inner inner;
	__be16 ports[2];
	int ret;

	ret = read_ethernet(&cursor, flow, &inner) ?: check_ipv4(&cursor, &inner);
	if (!ret)
		ret = read_ports(&cursor, inner.protocol, ports);
	if (!ret)
		finish_key(flow, inner.is_ipv6, ports, inner.protocol);
	return ret;
}

/* Returns whether the sum of the flow contains this packet. */
static __always_inline bool count(const struct flow_counter_key *key)
{
	__u64 one = 1, *sum;
	__u32 zero = 0;
	void *sums;

	sums = bpf_map_lookup_elem(&current, &zero);
	if (!sums)
		return false;
	sum = bpf_map_lookup_elem(sums, key);
	if (!sum) {
		if (!bpf_map_update_elem(sums, key, &one, BPF_NOEXIST))
			return true;
		/* Another CPU was faster, or the map is full. */
		sum = bpf_map_lookup_elem(sums, key);
		if (!sum)
			return false;
	}
	__sync_fetch_and_add(sum, 1);
	return true;
}

SEC("xdp")
int dart_flow_counter(struct xdp_md *context)
{
	struct flow_counter_key key = { };
	struct flow_counter_rest *row;
	struct telemetry flow = { };
	__u32 zero = 0;

	row = bpf_map_lookup_elem(&rest, &zero);
	if (!row)
		return XDP_PASS;
	if (read_flow(context, &flow)) {
		row->others++;
		return XDP_PASS;
	}
	__builtin_memcpy(key.bytes, flow.key, FLOW_COUNTER_KEY);
	key.length = flow.key_length;
	if (!count(&key))
		row->crowded++;
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";

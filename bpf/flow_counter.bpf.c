// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the packets of each flow that arrives at an interface, and passes them.  There are two
 * maps of sums: while the loader reads and empties one of them, the program counts in the other.
 * Another program counts the packets of any number of flows in the columns of a sketch.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include <dart/sketch.h>

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

/* ---- columns of a sketch */

const volatile struct flow_counter_sketch sketch;
/* The effect of a byte on the register of a row's CRC. */
const volatile __u32 row_tables[DART_SKETCH_ROWS_MAX][256];

__u32 bank; /* that the program counts in */

/*
 * Two banks, column by column.  Counters of 64 bits do not overflow, and the loader adds them to
 * the counters of the sketcher, which saturate.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, __s64);
} columns SEC(".maps");

static __always_inline __u32 row_crc(const struct telemetry *flow, __u32 row)
{
	__u32 crc = ~0, i;

#pragma clang loop unroll(disable)
	for (i = 0; i < TELEMETRY_KEY_MAX; i++) {
		if (i >= flow->key_length)
			break;
		crc = crc >> 8 ^ row_tables[row & (DART_SKETCH_ROWS_MAX - 1)]
					   [(__u8)crc ^ flow->key[i]];
	}
	return ~crc;
}

SEC("xdp")
int dart_flow_sketcher(struct xdp_md *context)
{
	__u32 zero = 0, begin, crc, at, i;
	struct flow_counter_rest *row;
	struct telemetry flow = { };
	__s64 *counter;

	row = bpf_map_lookup_elem(&rest, &zero);
	if (!row)
		return XDP_PASS;
	if (read_flow(context, &flow)) {
		row->others++;
		return XDP_PASS;
	}
	begin = (*(volatile __u32 *)&bank & 1) << (sketch.columns_log2 & 31);
#pragma clang loop unroll(disable)
	for (i = 0; i < DART_SKETCH_ROWS_MAX; i++) {
		if (i >= sketch.rows)
			break;
		crc = row_crc(&flow, i);
		at = begin + (crc & ((1U << (sketch.columns_log2 & 31)) - 1));
		at = at * sketch.rows + i;
		counter = bpf_map_lookup_elem(&columns, &at);
		if (counter)
			__sync_fetch_and_add(counter, sketch.is_count_sketch && crc >> 31 ? -1 : 1);
	}
	row->counted++;
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";

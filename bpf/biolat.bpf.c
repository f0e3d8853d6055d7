// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long block devices take for a request, and how long requests wait before they are issued to a
 * device.  One row of histograms per CPU: the CPU that issues the request, or the CPU that handles
 * its completion.
 *
 * A request records when it was allocated, but only some schedulers record when it was issued, so
 * this keeps the time of issue.
 *
 * The two programs may interrupt each other, but not themselves, and they add to different
 * histograms and counters.  So the adds need not be atomic.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dart_tags.h"
#include "histogram.h"

#define NS_PER_US 1000
/* Requests that are tracked at a time. */
#define REQUESTS 16384

/* BTF lacks macros: from linux/blk_types.h. */
#define REQ_OP_MASK 0xff

struct biolat {
	/* from issue to completion */
	__u64 read[HISTOGRAM_BUCKETS] DART_HISTOGRAM DART_UNIT("us");
	__u64 write[HISTOGRAM_BUCKETS] DART_HISTOGRAM DART_UNIT("us");
	/* discards, flushes and others */
	__u64 other[HISTOGRAM_BUCKETS] DART_HISTOGRAM DART_UNIT("us");
	/* from allocation to issue */
	__u64 queued[HISTOGRAM_BUCKETS] DART_HISTOGRAM DART_UNIT("us");
	/* in none of the first three, because too many were issued */
	__u64 untracked DART_COUNTER DART_UNIT("requests");
} DART_COPIES_ARE_CPUS __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* possible CPUs, set by the loader */
	__type(key, __u32);
	__type(value, struct biolat);
} biolat SEC(".maps");

/* The time of issue, in ns, by the address of the request. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS);
	__type(key, __u64);
	__type(value, __u64);
} issued SEC(".maps");

static __always_inline struct biolat *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&biolat, &cpu);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(dart_rq_issue, struct request *request)
{
	__u64 key = (__u64)request, now = bpf_ktime_get_ns();
	__u64 made = request->start_time_ns;
	struct biolat *row = this_cpu();

	if (bpf_map_update_elem(&issued, &key, &now, BPF_ANY) && row)
		row->untracked++;
	/* 0: the device keeps no statistics */
	if (row && made)
		histogram__add(row->queued, now > made ? (now - made) / NS_PER_US : 0);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(dart_rq_complete, struct request *request, int error, unsigned int bytes)
{
	__u64 key = (__u64)request, *since, took;
	struct biolat *row;

	/* A partial completion: the rest of the request is still to come. */
	if (bytes < request->__data_len)
		return 0;
	since = bpf_map_lookup_elem(&issued, &key);
	row = this_cpu();
	if (!since || !row)
		return 0;
	took = (bpf_ktime_get_ns() - *since) / NS_PER_US;
	bpf_map_delete_elem(&issued, &key);

	switch (request->cmd_flags & REQ_OP_MASK) {
	case REQ_OP_READ:
		histogram__add(row->read, took);
		break;
	case REQ_OP_WRITE:
		histogram__add(row->write, took);
		break;
	default:
		histogram__add(row->other, took);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

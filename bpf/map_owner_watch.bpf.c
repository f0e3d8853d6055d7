// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports maps that lost their last owner: no program, pin or descriptor refers to such a map any
 * more, and only the region still holds it.  The kernel raises no event for that, but it drops each
 * reference to a map in one of these functions.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The ids of the watched maps. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u8);
} watched SEC(".maps");

/* The ids of maps that lost their last owner. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} let_go SEC(".maps");

/*
 * The map may have been freed already, and its id may then be any number.  But the region holds
 * every watched map, so an id that is watched belongs to @map.
 */
static __always_inline int look_at(struct bpf_map *map)
{
	__u32 id = BPF_CORE_READ(map, id);

	if (bpf_map_lookup_elem(&watched, &id) && BPF_CORE_READ(map, refcnt.counter) == 1)
		bpf_ringbuf_output(&let_go, &id, sizeof(id), 0);
	return 0;
}

/* All three are traced, because compilers inline one into another of the same source file. */
SEC("fexit/bpf_map_put")
int BPF_PROG(dart_map_put, struct bpf_map *map)
{
	return look_at(map);
}

SEC("fexit/bpf_map_put_with_uref")
int BPF_PROG(dart_map_put_with_uref, struct bpf_map *map)
{
	return look_at(map);
}

SEC("fexit/bpf_map_release")
int BPF_PROG(dart_map_release, struct inode *inode, struct file *file)
{
	return look_at(BPF_CORE_READ(file, private_data));
}

char LICENSE[] SEC("license") = "GPL";

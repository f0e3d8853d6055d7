// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells when a map is nobody's any more: the last program, pin and descriptor of
 * it are gone, and only the region still holds it. There is no event for that in
 * the kernel, but all who let go of a map pass here.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The maps that are watched, by id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u8);
} watched SEC(".maps");

/* Ids, as they are let go. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} let_go SEC(".maps");

/*
 * The map may have been freed already, and the id then be anything; but what is
 * watched is held, so that an id that is watched is that of @map.
 */
static __always_inline int look_at(struct bpf_map *map)
{
	__u32 id = BPF_CORE_READ(map, id);

	if (bpf_map_lookup_elem(&watched, &id) &&
	    BPF_CORE_READ(map, refcnt.counter) == 1)
		bpf_ringbuf_output(&let_go, &id, sizeof(id), 0);
	return 0;
}

/* Three, as compilers inline one into the other where both are in one file. */
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

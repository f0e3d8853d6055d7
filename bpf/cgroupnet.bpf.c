// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets and bytes in and out of each cgroup.  A socket counts for the cgroup in which it was
 * created, but not for the parents of that cgroup.  The row of a cgroup exists from its first
 * packet until its removal.
 *
 * All CPUs add atomically to the one row of a cgroup.  With a row for each CPU, the cache line
 * would not move between CPUs, but for 4096 cgroups on 256 CPUs there would be 64 MiB to READ,
 * nearly all of it unused.  A packet costs microseconds anyway, and few CPUs handle the packets of
 * one cgroup.
 *
 * The programs are attached to the root cgroup, so they run for all cgroups.  They let every packet
 * pass.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dart_tags.h"
#include "rows.h"

#define CGROUPS 4096
#define PASS 1
/* BTF lacks macros: from asm-generic/errno-base.h. */
#define E2BIG 7

/* Instead of a row number: the cgroup was removed. */
#define ROW_REMOVED (ROW_NONE - 1)

/*
 * One cache line.  The sequences change only when the row passes to another
 * cgroup; each counter is consistent by itself.
 */
struct cgroupnet {
	__u32 sequence DART_SEQUENCE;
	__u64 cgroup; /* its id, the inode number of its directory */
	__u64 received_bytes DART_COUNTER DART_UNIT("bytes");
	__u64 received_packets DART_COUNTER DART_UNIT("packets");
	__u64 sent_bytes DART_COUNTER DART_UNIT("bytes");
	__u64 sent_packets DART_COUNTER DART_UNIT("packets");
	__u64:64;
	__u32:32;
	__u32 last_sequence DART_SEQUENCE;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct cgroupnet) == LINE, "one line");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CGROUPS);
	__type(key, __u32);
	__type(value, struct cgroupnet);
} cgroupnet SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct row_usage);
} cgroupnet_rows SEC(".maps");

/*
 * Rows that were given back.  They are reused as late as possible, because another CPU may be about
 * to add a packet of the previous cgroup.
 */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, CGROUPS);
	__type(value, struct free_row);
} free_rows SEC(".maps");

/* Row number of a cgroup; ROW_NONE if no row was free, or ROW_REMOVED. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4 * CGROUPS);
	__type(key, __u64);
	__type(value, __u32);
} row_of_cgroup SEC(".maps");

/*
 * Removed cgroups in row_of_cgroup.  The kernel releases a cgroup only when nothing refers to it any
 * more, such as a socket or a page of a file that it used, which can be never: so the cgroup that was
 * removed first makes room for another one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4 * CGROUPS);
	__type(value, __u64);
} removed SEC(".maps");

/* Number of cgroups in removed, of which some may have been released. */
static __u32 removed_count;
/* How many of them are taken out for one cgroup that comes. */
#define FORGET_MOST 8

static __u32 fresh_rows;
/* Number of rows in free_rows.  Each packet without a row reads it, without the lock of the map. */
static __u32 free_count;
/* row_of_cgroup is full of cgroups that exist: no cgroup is added until one leaves. */
static __u32 is_full;

static __always_inline struct row_usage *row_usage(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cgroupnet_rows, &zero);
}

/* Gives a row back that other CPUs can no longer find. */
static __always_inline void give_back(__u32 number)
{
	struct cgroupnet *row = bpf_map_lookup_elem(&cgroupnet, &number);
	struct free_row free = { .row = number };

	if (!row)
		return;
	free.sequence = row__clear(row, sizeof(*row));
	rows__give_back(&free_rows, &free_count, &free);
}

/* Takes a row for @cgroup, if one is left.  No other CPU can find the row yet. */
static __always_inline __u32 write_row(__u64 cgroup)
{
	struct free_row free = {};
	struct cgroupnet *row;
	__u32 odd;

	free.row = rows__take_fresh(&fresh_rows, CGROUPS);
	if (free.row == ROW_NONE && !rows__take_free(&free_rows, &free_count, &free))
		return ROW_NONE;
	row = bpf_map_lookup_elem(&cgroupnet, &free.row);
	if (row) {
		odd = row__begin(row, sizeof(*row), free.sequence);
		row->cgroup = cgroup;
		row->received_bytes = 0;
		row->received_packets = 0;
		row->sent_bytes = 0;
		row->sent_packets = 0;
		row__end(row, sizeof(*row), odd);
	}
	return free.row;
}

/*
 * Forgets the cgroup that was removed first; packets of its last sockets take a row again.  Returns
 * false if none is left.
 */
static __noinline bool forget_oldest(void)
{
	__u64 cgroup = 0;
	__u32 *known;

	if (!*(volatile __u32 *)&removed_count || bpf_map_pop_elem(&removed, &cgroup))
		return false;
	__sync_fetch_and_add(&removed_count, -1);
	known = bpf_map_lookup_elem(&row_of_cgroup, &cgroup);
	if (known && *known == ROW_REMOVED && !bpf_map_delete_elem(&row_of_cgroup, &cgroup))
		is_full = 0;
	return true;
}

static __always_inline void remember_removed(__u64 cgroup)
{
	if (bpf_map_push_elem(&removed, &cgroup, 0) &&
	    (!forget_oldest() || bpf_map_push_elem(&removed, &cgroup, 0)))
		return;
	__sync_fetch_and_add(&removed_count, 1);
}

/* Makes @number known as the row of @cgroup; returns 0 or -errno. */
static __always_inline int know(__u64 cgroup, __u32 number)
{
	/* An int, because the word has no sign before Linux 6.4. */
	int ret = bpf_map_update_elem(&row_of_cgroup, &cgroup, &number, BPF_NOEXIST);
	__u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < FORGET_MOST && ret == -E2BIG && forget_oldest(); i++)
		ret = bpf_map_update_elem(&row_of_cgroup, &cgroup, &number, BPF_NOEXIST);
	return ret;
}

/* Takes a row for an unknown cgroup. */
static __noinline __u32 take_row(__u64 cgroup)
{
	struct row_usage *usage = row_usage();
	__u32 number = ROW_NONE, *other;
	int ret = -E2BIG;

	if (!usage)
		return ROW_NONE;
	if (!*(volatile __u32 *)&is_full) {
		number = write_row(cgroup);
		ret = know(cgroup, number);
	}
	if (!ret) {
		__sync_fetch_and_add(number == ROW_NONE ? &usage->without_row : &usage->in_use, 1);
		return number;
	}

	give_back(number);
	/* Another CPU may have taken a row for this cgroup first. */
	other = bpf_map_lookup_elem(&row_of_cgroup, &cgroup);
	if (other)
		return *other;
	if (ret == -E2BIG && !*(volatile __u32 *)&removed_count)
		is_full = 1;
	__sync_fetch_and_add(&usage->unknown, 1);
	return ROW_NONE;
}

/* Takes a row that was given back, for a cgroup that found no row earlier. */
static __noinline __u32 retry_row(__u64 cgroup)
{
	__u32 *known = bpf_map_lookup_elem(&row_of_cgroup, &cgroup);
	struct row_usage *usage = row_usage();
	__u32 number;

	if (!known || !usage)
		return ROW_NONE;
	number = write_row(cgroup);
	if (number == ROW_NONE)
		return ROW_NONE;
	if (__sync_val_compare_and_swap(known, ROW_NONE, number) != ROW_NONE) {
		give_back(number);
		return *known;
	}
	__sync_fetch_and_add(&usage->without_row, -1);
	__sync_fetch_and_add(&usage->in_use, 1);
	return number;
}

static __always_inline struct cgroupnet *row_of(struct __sk_buff *packet)
{
	__u64 cgroup = bpf_skb_cgroup_id(packet);
	__u32 *known = bpf_map_lookup_elem(&row_of_cgroup, &cgroup);
	__u32 number = known ? *known : take_row(cgroup);

	if (known && number == ROW_NONE && *(volatile __u32 *)&free_count)
		number = retry_row(cgroup);
	return bpf_map_lookup_elem(&cgroupnet, &number);
}

/* More than one if GSO will split the packet, or GRO merged it. */
static __always_inline __u32 packets_of(const struct __sk_buff *packet)
{
	return packet->gso_segs ?: 1;
}

SEC("cgroup_skb/ingress")
int dart_ingress(struct __sk_buff *packet)
{
	struct cgroupnet *row = row_of(packet);

	if (row) {
		__sync_fetch_and_add(&row->received_bytes, packet->len);
		__sync_fetch_and_add(&row->received_packets, packets_of(packet));
	}
	return PASS;
}

SEC("cgroup_skb/egress")
int dart_egress(struct __sk_buff *packet)
{
	struct cgroupnet *row = row_of(packet);

	if (row) {
		__sync_fetch_and_add(&row->sent_bytes, packet->len);
		__sync_fetch_and_add(&row->sent_packets, packets_of(packet));
	}
	return PASS;
}

/* Cgroups of version 1 use separate ids, which may equal ids of version 2. */
static __always_inline bool is_known_here(const struct cgroup *cgroup)
{
	return !cgroup->root->hierarchy_id;
}

static __always_inline void forget(__u64 cgroup)
{
	__u32 *known = bpf_map_lookup_elem(&row_of_cgroup, &cgroup);
	struct row_usage *usage = row_usage();
	__u32 number;

	if (!known || *known == ROW_REMOVED || !usage)
		return;
	number = __sync_lock_test_and_set(known, ROW_REMOVED);
	give_back(number);
	__sync_fetch_and_add(number == ROW_NONE ? &usage->without_row : &usage->in_use, -1);
	/* Whoever waits for room may have it from this cgroup. */
	is_full = 0;
	remember_removed(cgroup);
}

/* Packets of remaining sockets are not counted from now on. */
SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(dart_cgroup_rmdir, struct cgroup *cgroup)
{
	if (is_known_here(cgroup))
		forget(cgroup->kn->id);
	return 0;
}

/*
 * The last socket was freed, so no packet looks for the row again.  A cgroup whose first packet
 * came after its removal keeps its row until now.
 */
SEC("tp_btf/cgroup_release")
int BPF_PROG(dart_cgroup_release, struct cgroup *cgroup)
{
	__u64 id = cgroup->kn->id;

	if (!is_known_here(cgroup))
		return 0;
	forget(id);
	if (!bpf_map_delete_elem(&row_of_cgroup, &id))
		is_full = 0;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP traffic of the host: one row of counters per CPU, each on its own cache
 * line, in an array map.  Such a map can be mapped into user space; a
 * BPF_MAP_TYPE_PERCPU_ARRAY cannot.
 *
 * The adds are atomic because a softirq may interrupt a system call between
 * the load and the store of the same counter; no other CPU touches the line.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "dart_tags.h"

/* BTF lacks macros: from linux/socket.h. */
#define MSG_PEEK 2
#define MSG_ERRQUEUE 0x2000

struct tcp_traffic {
	/*
	 * accepted from and delivered to applications; data received through
	 * TCP_ZEROCOPY_RECEIVE, a sockmap or kernel TLS is not counted, nor that
	 * of MPTCP in either direction.  Kernel TLS sends encrypted records: they
	 * are counted, with their headers
	 */
	__u64 sent_bytes DART_COUNTER DART_UNIT("bytes");
	__u64 received_bytes DART_COUNTER DART_UNIT("bytes");
	/*
	 * of connections, counted as on the wire: after GSO and before GRO.
	 * Replies without a full socket (resets, TIME_WAIT) are not counted
	 */
	__u64 sent_segments DART_COUNTER DART_UNIT("segments");
	__u64 received_segments DART_COUNTER DART_UNIT("segments");
	__u64 retransmissions DART_COUNTER DART_UNIT("segments");
} DART_COPIES_ARE_CPUS __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* possible CPUs, set by the loader */
	__type(key, __u32);
	__type(value, struct tcp_traffic);
} tcp_traffic SEC(".maps");

static __always_inline struct tcp_traffic *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&tcp_traffic, &cpu);
}

static __always_inline __u64 segments_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *info;
	__u16 segments;

	info = (const void *)(BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end));
	segments = BPF_CORE_READ(info, gso_segs);
	return segments ?: 1;
}

static __always_inline int count_sent(const struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_traffic *row;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;

	row = this_cpu();
	if (row)
		__sync_fetch_and_add(&row->sent_segments, segments_of(skb));
	return 0;
}

static __always_inline int count_received(const struct sk_buff *skb)
{
	struct tcp_traffic *row = this_cpu();

	if (row)
		__sync_fetch_and_add(&row->received_segments, segments_of(skb));
	return 0;
}

SEC("fexit/tcp_sendmsg_locked")
int BPF_PROG(dart_tcp_sendmsg, struct sock *sk, struct msghdr *msg, size_t size, int sent)
{
	struct tcp_traffic *row = this_cpu();

	if (row && sent > 0)
		__sync_fetch_and_add(&row->sent_bytes, sent);
	return 0;
}

static __always_inline int count_received_bytes(void *context)
{
	struct tcp_traffic *row = this_cpu();
	__u64 result;

	/* Not as an argument: kernels differ in the number of arguments. */
	if (bpf_get_func_ret(context, &result) || !row || (int)result <= 0)
		return 0;
	__sync_fetch_and_add(&row->received_bytes, (int)result);
	return 0;
}

/* Not tcp_cleanup_rbuf(): it gets the same bytes again after each wait. */
SEC("fexit/tcp_recvmsg")
int BPF_PROG(dart_tcp_recvmsg, struct sock *sk, struct msghdr *msg, size_t size, int flags)
{
	if (flags & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	return count_received_bytes(ctx);
}

/* splice(), and users inside the kernel. */
SEC("fexit/tcp_read_sock")
int BPF_PROG(dart_tcp_read_sock, struct sock *sk)
{
	return count_received_bytes(ctx);
}

SEC("fentry/ip_queue_xmit")
int BPF_PROG(dart_ip_queue_xmit, struct sock *sk, struct sk_buff *skb)
{
	return count_sent(sk, skb);
}

SEC("fentry/inet6_csk_xmit")
int BPF_PROG(dart_inet6_csk_xmit, struct sock *sk, struct sk_buff *skb)
{
	return count_sent(sk, skb);
}

SEC("fentry/tcp_v4_do_rcv")
int BPF_PROG(dart_tcp_v4_do_rcv, struct sock *sk, struct sk_buff *skb)
{
	return count_received(skb);
}

SEC("fentry/tcp_v6_do_rcv")
int BPF_PROG(dart_tcp_v6_do_rcv, struct sock *sk, struct sk_buff *skb)
{
	return count_received(skb);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(dart_tcp_retransmit_skb, const struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_traffic *row = this_cpu();

	if (row)
		__sync_fetch_and_add(&row->retransmissions, segments_of(skb));
	return 0;
}

/* The kernel loads tracing programs only if their licence is compatible. */
char LICENSE[] SEC("license") = "GPL";

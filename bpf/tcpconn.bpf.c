// SPDX-License-Identifier: GPL-2.0-only
/*
 * One row for each TCP connection of the host: from connect(), or on the passive side from the end
 * of the handshake, until the connection is closed.
 *
 * The kernel keeps all figures in the socket.  A row is a copy of them, made when a segment is
 * received or retransmitted, or when the state changes.  Every event of a connection leads to one
 * of these, at the latest when the peer acknowledges sent data.
 *
 * All programs run under the lock of the socket, so a row has one writer at a time.  The socket's
 * local storage contains the row number, or a map contains it by the socket's cookie.
 *
 * The kernel does not run a program while the same program runs on that CPU, even for another
 * socket.  Later events make up for a missed one.  If no row was taken, the next segment takes one;
 * in this way connections in other network namespaces get rows that are older than the probe.  If a
 * row was not given back when the connection closed, it is given back when the socket is destroyed,
 * where softirqs are off and nothing can intervene.
 */
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dart_tags.h"
#include "rows.h"

#define CONNECTIONS 16384

/* BTF lacks macros: from linux/socket.h. */
#define AF_INET6 10

/* Two cache lines: the first identifies the connection, the second contains figures. */
struct tcpconn {
	__u32 sequence DART_SEQUENCE;
	__u32 netns;	/* its inode number */
	__u32 local_address[4] DART_ADDRESS;
	__u32 remote_address[4] DART_ADDRESS;
	__u64 cookie;	/* unique among the sockets of this boot */
	__u64 cgroup;	/* its id, the inode number of its directory */
	__u16 local_port;
	__u16 remote_port;
	__u32 identity_sequence DART_SEQUENCE;

	__u32 figures_sequence DART_SEQUENCE;
	__u8 state;	/* enum of include/net/tcp_states.h */
	/* acknowledged by the peer; sent, with retransmissions */
	__u64 acked_bytes DART_COUNTER DART_UNIT("bytes");
	__u64 sent_bytes DART_COUNTER DART_UNIT("bytes");
	__u64 received_bytes DART_COUNTER DART_UNIT("bytes");
	__u32 sent_segments DART_COUNTER DART_UNIT("segments");
	__u32 received_segments DART_COUNTER DART_UNIT("segments");
	__u32 retransmissions DART_COUNTER DART_UNIT("segments");
	__u32 srtt DART_UNIT("us");
	__u32 min_rtt DART_UNIT("us");	/* 0: not known yet */
	__u32 cwnd DART_UNIT("segments");
	__u32:32;
	__u32 last_sequence DART_SEQUENCE;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct tcpconn) == 2 * LINE, "two lines");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CONNECTIONS);
	__type(key, __u32);
	__type(value, struct tcpconn);
} tcpconn SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct row_usage);
} tcpconn_rows SEC(".maps");

/* Rows that were given back.  The last of them is likely still in a cache. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, CONNECTIONS);
	__type(value, struct free_row);
} free_rows SEC(".maps");

/* Row number + 1; ROW_NONE if no row was free; 0 if no row was taken yet. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} row_of_socket SEC(".maps");

/*
 * The same by cookie, for sockets without local storage: since Linux 6.19 the kernel cannot
 * allocate it here on CPUs that lack an atomic exchange of 16 bytes (cmpxchg16b).  Memory is taken
 * for entries in use only.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 2 * CONNECTIONS);
	__type(key, __u64);
	__type(value, __u32);
} row_of_cookie SEC(".maps");

/* Number of entries in row_of_cookie.  Without any, other sockets need not be looked up. */
static __u32 cookie_count;

static __u32 fresh_rows;
/* Number of rows in free_rows.  Each event without a row reads it, without the lock of the map. */
static __u32 free_count;

static __always_inline struct row_usage *row_usage(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&tcpconn_rows, &zero);
}

/* Sockets that listen or are closed are not connections. */
static __always_inline bool is_connection(__u8 state)
{
	return state != TCP_CLOSE && state != TCP_LISTEN &&
	       state != TCP_SYN_RECV && state < TCP_NEW_SYN_RECV;
}

/*
 * Takes a row for a socket without one; tries again if none was free earlier.  Returns the row's
 * last sequence, or 0.
 */
static __always_inline __u32 take_row(__u32 *number)
{
	struct row_usage *usage = row_usage();
	bool is_first = !*number;
	struct free_row free = {};

	if (!usage)
		return 0;
	if (!rows__take_free(&free_rows, &free_count, &free))
		free.row = rows__take_fresh(&fresh_rows, CONNECTIONS);
	if (free.row != ROW_NONE) {
		*number = free.row + 1;
		__sync_fetch_and_add(&usage->in_use, 1);
		if (!is_first)
			__sync_fetch_and_add(&usage->without_row, -1);
	} else if (is_first) {
		*number = ROW_NONE;
		__sync_fetch_and_add(&usage->without_row, 1);
	}
	return free.sequence;
}

static __always_inline void write_addresses(struct tcpconn *row, const struct sock_common *socket)
{
	const __u32 mapped = bpf_htonl(0xffff);

	if (socket->skc_family == AF_INET6) {
		const __u32 *local = socket->skc_v6_rcv_saddr.in6_u.u6_addr32;
		const __u32 *remote = socket->skc_v6_daddr.in6_u.u6_addr32;

		row->local_address[0] = local[0];
		row->local_address[1] = local[1];
		row->local_address[2] = local[2];
		row->local_address[3] = local[3];
		row->remote_address[0] = remote[0];
		row->remote_address[1] = remote[1];
		row->remote_address[2] = remote[2];
		row->remote_address[3] = remote[3];
		return;
	}
	row->local_address[0] = 0;
	row->local_address[1] = 0;
	row->local_address[2] = mapped;
	row->local_address[3] = socket->skc_rcv_saddr;
	row->remote_address[0] = 0;
	row->remote_address[1] = 0;
	row->remote_address[2] = mapped;
	row->remote_address[3] = socket->skc_daddr;
}

static __always_inline void write_identity(struct tcpconn *row, struct tcp_sock *connection)
{
	const struct sock *socket = &connection->inet_conn.icsk_inet.sk;

	write_addresses(row, &socket->__sk_common);
	row->cookie = bpf_get_socket_cookie(connection);
	row->cgroup = socket->sk_cgrp_data.cgroup->kn->id;
	row->local_port = socket->__sk_common.skc_num;
	row->remote_port = bpf_ntohs(socket->__sk_common.skc_dport);
	row->netns = socket->__sk_common.skc_net.net->ns.inum;
}

static __always_inline void write_figures(struct tcpconn *row, const struct tcp_sock *connection,
					  __u8 state)
{
	__u32 min_rtt = connection->rtt_min.s[0].v;

	row->acked_bytes = connection->bytes_acked;
	row->sent_bytes = connection->bytes_sent;
	row->received_bytes = connection->bytes_received;
	row->sent_segments = connection->segs_out;
	row->received_segments = connection->segs_in;
	row->retransmissions = connection->total_retrans;
	row->srtt = connection->srtt_us >> 3;
	row->min_rtt = min_rtt == 0xffffffff ? 0 : min_rtt;
	row->cwnd = connection->snd_cwnd;
	row->state = state;
}

/* The row number of a socket, as above; NULL if none is kept or no memory is left to keep it. */
static __always_inline __u32 *number_of(struct tcp_sock *connection, bool is_new_kept)
{
	__u32 *number, none = 0;
	__u64 cookie;

	/* First, because memory for local storage may be there by now. */
	if (*(volatile __u32 *)&cookie_count) {
		cookie = bpf_get_socket_cookie(connection);
		number = bpf_map_lookup_elem(&row_of_cookie, &cookie);
		if (number)
			return number;
	}
	number = bpf_sk_storage_get(&row_of_socket, connection, NULL,
				    is_new_kept ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (number || !is_new_kept)
		return number;
	cookie = bpf_get_socket_cookie(connection);
	if (bpf_map_update_elem(&row_of_cookie, &cookie, &none, BPF_NOEXIST))
		return NULL;
	__sync_fetch_and_add(&cookie_count, 1);
	return bpf_map_lookup_elem(&row_of_cookie, &cookie);
}

static __always_inline void forget_cookie(struct tcp_sock *connection)
{
	__u64 cookie;

	if (!*(volatile __u32 *)&cookie_count)
		return;
	cookie = bpf_get_socket_cookie(connection);
	if (!bpf_map_delete_elem(&row_of_cookie, &cookie))
		__sync_fetch_and_add(&cookie_count, -1);
}

/* Updates the row of a socket, or takes a row if the socket has none. */
static __always_inline int update(struct tcp_sock *connection, __u8 state)
{
	__u32 *number, index, odd, last = 0;
	struct row_usage *usage;
	struct tcpconn *row;
	bool is_new;

	if (!connection || !is_connection(state))
		return 0;
	number = number_of(connection, true);
	if (!number) {
		usage = row_usage();
		if (usage)
			__sync_fetch_and_add(&usage->unknown, 1);
		return 0;
	}
	is_new = !*number || *number == ROW_NONE;
	if (is_new)
		last = take_row(number);
	index = *number - 1;
	row = bpf_map_lookup_elem(&tcpconn, &index);
	if (!row)
		return 0;

	odd = row__begin(row, sizeof(*row), last);
	if (is_new || state == TCP_SYN_SENT)
		write_identity(row, connection);
	write_figures(row, connection, state);
	row__end(row, sizeof(*row), odd);
	return 0;
}

static __always_inline int give_back(struct tcp_sock *connection)
{
	struct row_usage *usage = row_usage();
	struct free_row free;
	struct tcpconn *row;
	__u32 *number;

	if (!connection || !usage)
		return 0;
	number = number_of(connection, false);
	if (!number || !*number)
		return 0;
	free.row = *number - 1;
	*number = 0;
	forget_cookie(connection);

	row = bpf_map_lookup_elem(&tcpconn, &free.row);
	if (!row) {
		__sync_fetch_and_add(&usage->without_row, -1);
		return 0;
	}
	free.sequence = row__clear(row, sizeof(*row));
	rows__give_back(&free_rows, &free_count, &free);
	__sync_fetch_and_add(&usage->in_use, -1);
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(dart_set_state, struct sock *socket, int before, int state)
{
	struct tcp_sock *connection = bpf_skc_to_tcp_sock(socket);

	/* Addresses and port are complete only in tcp_connect(), which comes later. */
	if (state == TCP_SYN_SENT)
		return 0;
	if (state == TCP_CLOSE)
		return give_back(connection);
	return update(connection, state);
}

SEC("fexit/tcp_connect")
int BPF_PROG(dart_connect, struct sock *socket)
{
	return update(bpf_skc_to_tcp_sock(socket), socket->__sk_common.skc_state);
}

SEC("fexit/tcp_rcv_established")
int BPF_PROG(dart_rcv_established, struct sock *socket)
{
	return update(bpf_skc_to_tcp_sock(socket), socket->__sk_common.skc_state);
}

/* Connections that were closed by one side or both. */
SEC("fexit/tcp_rcv_state_process")
int BPF_PROG(dart_rcv_state_process, struct sock *socket)
{
	return update(bpf_skc_to_tcp_sock(socket), socket->__sk_common.skc_state);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(dart_retransmit, struct sock *socket)
{
	return update(bpf_skc_to_tcp_sock(socket), socket->__sk_common.skc_state);
}

SEC("fentry/tcp_v4_destroy_sock")
int BPF_PROG(dart_destroy, struct sock *socket)
{
	return give_back(bpf_skc_to_tcp_sock(socket));
}

/* Connections that exist when dartd loads the probe. */
SEC("iter/tcp")
int dart_existing(struct bpf_iter__tcp *context)
{
	struct sock_common *socket = context->sk_common;

	if (!socket)
		return 0;
	return update(bpf_skc_to_tcp_sock(socket), socket->skc_state);
}

char LICENSE[] SEC("license") = "GPL";

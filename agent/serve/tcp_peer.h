/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Callers over TCP: TLS, hello, and then a session.  Each peer gets one buffer for a request and
 * one for a message of the answer. dartd runs for it when its bytes arrive or leave, and sleeps
 * while it is idle.
 */
#ifndef TCP_PEER_H
#define TCP_PEER_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>
#include <libdart/rpc/stream.h>
#include <libdart/rpc/tls.h>

#include "agent/base/changes.h"
#include "agent/base/counts.h"
#include "agent/base/lease.h"
#include "session.h"

/* Shared by all peers. */
struct tcp_peers {
	sd_event *loop;
	struct sessions sessions;
	const struct changes *changes;
	struct serve_counts *counts;
	struct tcp_counts *refused;
	/* A handshake, a request and an answer take at most as long as a lease. */
	struct leases deadlines;
	TAILQ_HEAD(tcp_peer_list, tcp_peer) list;	/* the oldest first */
	uint32_t count;
};

struct tcp_peer {
	TAILQ_ENTRY(tcp_peer) link;
	struct tcp_peers *peers;
	struct lease lease;	/* deadline of the request or handshake in progress */
	bool has_deadline;
	int fd;
	sd_event_source *events;
	enum tcp_peer_state {
		TCP_PEER_HANDSHAKE,
		TCP_PEER_HELLO,
		TCP_PEER_OPEN,
		TCP_PEER_LEAVING,	/* was told why: its socket alone is left */
	} state;
	struct dart_tls_stream *tls;	/* until the end of the handshake */
	struct dart_rpc_stream *stream;	/* from then on */
	char *subject;			/* that its certificate is for */
	uint32_t answer_max;		/* bytes of a message, as its hello says */
	struct session session;
	int64_t established;	/* ns, CLOCK_BOOTTIME; 0: not yet, or no longer */
	struct sockaddr_storage address;
	char name[80];		/* the same and the port, as text */
};

int tcp_peers__open(struct tcp_peers *peers, sd_event *loop, struct snapshots *snapshots,
		    const struct changes *changes, struct serve_counts *counts,
		    struct tcp_counts *refused);
/* Ends all peers. */
void tcp_peers__close(struct tcp_peers *peers);

/*
 * Serves @fd, a connected socket, which it takes also if it fails.  The certificate of
 * the peer must be for one of the @count subjects, which stay the caller's while the
 * peer is in its handshake.
 */
int tcp_peer__new(struct tcp_peers *peers, int fd, const struct sockaddr_storage *address,
		  struct dart_tls *tls, const char *const *subjects, size_t count);
/* Logs the reason and frees the peer. */
void tcp_peer__end(struct tcp_peer *peer, const char *reason);

#endif /* TCP_PEER_H */

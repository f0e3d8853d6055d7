// SPDX-License-Identifier: GPL-2.0-only
/* Serves callers by TCP, each as far as its socket allows. */
#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/log.h"
#include "tcp_peer.h"

/* Messages that are sent to a peer before the turn of others. */
#define TURN 4

/* Bytes of a refused peer that are dropped before the turn of others. */
#define DROP_MAX (1 << 20)

int tcp_peers__open(struct tcp_peers *peers, sd_event *loop, struct snapshots *snapshots,
		    const struct changes *changes, struct serve_counts *counts,
		    struct tcp_counts *refused)
{
	*peers = (struct tcp_peers){
		.loop = loop,
		.changes = changes,
		.counts = counts,
		.refused = refused,
	};
	TAILQ_INIT(&peers->list);
	sessions__open(&peers->sessions, snapshots, counts);
	return leases__open(&peers->deadlines, loop);
}

/* The next step has a deadline of its own. */
static void tcp_peer__forget_deadline(struct tcp_peer *peer)
{
	if (peer->has_deadline)
		lease__cancel(&peer->peers->deadlines, &peer->lease);
	peer->has_deadline = false;
}

/* Releases everything except the socket. */
static void tcp_peer__stop(struct tcp_peer *peer)
{
	struct tcp_peers *peers = peer->peers;

	if (peer->established) {
		count__add(&peers->counts->peers.connected, -1);
		changes__announce(peers->changes, "disconnected", "caller", peer->name);
	}
	peer->established = 0;
	tcp_peer__forget_deadline(peer);
	session__close(&peer->session);
	dart_rpc_stream__free(peer->stream);
	dart_tls_stream__free(peer->tls);
	peer->stream = NULL;
	peer->tls = NULL;
}

static void tcp_peer__free(struct tcp_peer *peer)
{
	TAILQ_REMOVE(&peer->peers->list, peer, link);
	peer->peers->count--;
	tcp_peer__stop(peer);
	sd_event_source_disable_unref(peer->events);
	close(peer->fd);
	free(peer->subject);
	free(peer);
}

void tcp_peers__close(struct tcp_peers *peers)
{
	struct tcp_peer *peer;

	while ((peer = TAILQ_FIRST(&peers->list)))
		tcp_peer__free(peer);
	leases__close(&peers->deadlines);
}

static void tcp_peer__log_end(const struct tcp_peer *peer, const char *reason)
{
	if (peer->established)
		log__peer_info("caller %s (%s) disconnected: %s", peer->name,
			       peer->subject, reason);
	else if (peer->state != TCP_PEER_LEAVING)
		log__peer_warning("caller %s rejected: %s", peer->name, reason);
}

void tcp_peer__end(struct tcp_peer *peer, const char *reason)
{
	tcp_peer__log_end(peer, reason);
	tcp_peer__free(peer);
}

static void on_end_of_leave(struct lease *lease)
{
	struct tcp_peer *peer = lease__owner(lease, struct tcp_peer);

	peer->has_deadline = false;
	tcp_peer__free(peer);
}

/*
 * It is told why, in the last message or by TLS.  If the socket were closed while bytes
 * of the peer are unread, these would reset the connection, and the peer might not learn
 * of it: so the agent reads until the peer closes its end as well, or for a lease.
 */
static void tcp_peer__leave(struct tcp_peer *peer, const char *reason)
{
	tcp_peer__log_end(peer, reason);
	tcp_peer__stop(peer);
	peer->state = TCP_PEER_LEAVING;
	if (shutdown(peer->fd, SHUT_WR)) {
		tcp_peer__free(peer);
		return;
	}
	lease__start(&peer->peers->deadlines, &peer->lease, on_end_of_leave);
	peer->has_deadline = true;
	sd_event_source_set_io_events(peer->events, EPOLLIN);
}

/* Drops some bytes that a peer still sends; the kernel does not copy them. */
static void tcp_peer__discard(struct tcp_peer *peer)
{
	ssize_t got = recv(peer->fd, NULL, DROP_MAX, MSG_DONTWAIT | MSG_TRUNC);

	if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
		tcp_peer__free(peer);
}

static void tcp_peer__set_deadline(struct tcp_peer *peer);

static void on_deadline(struct lease *lease)
{
	struct tcp_peer *peer = lease__owner(lease, struct tcp_peer);

	peer->has_deadline = false;
	if (lease__is_late(lease)) {
		/* Handles received and sent bytes first. */
		tcp_peer__set_deadline(peer);
		return;
	}
	if (peer->established)
		count__add(&peer->peers->counts->cut_off, 1);
	else
		count__add(&peer->peers->refused->handshakes, 1);
	tcp_peer__end(peer, peer->established ? "it is too slow with a request or an answer" :
						"it is too slow with the handshake");
}

/*
 * Starts the deadline for the request in progress unless one is running.  Idle peers have no
 * deadline.
 */
static void tcp_peer__set_deadline(struct tcp_peer *peer)
{
	struct leases *deadlines = &peer->peers->deadlines;
	bool is_idle = peer->state == TCP_PEER_OPEN && session__is_idle(&peer->session) &&
		       dart_rpc_stream__out(peer->stream) &&
		       !dart_rpc_stream__has_begun(peer->stream);

	if (peer->has_deadline && is_idle)
		lease__cancel(deadlines, &peer->lease);
	else if (!peer->has_deadline && !is_idle)
		lease__start(deadlines, &peer->lease, on_deadline);
	peer->has_deadline = !is_idle;
}

static int tcp_peer__shake_hands(struct tcp_peer *peer, struct dart_error *error)
{
	struct dart_tls_stream *tls = peer->tls;
	const char *subject;
	int ret;

	ret = dart_tls_stream__handshake(tls, error);
	if (ret < 0)
		return ret;
	if (!ret)
		return -EAGAIN;
	subject = dart_tls_stream__peer_name(tls);
	peer->subject = subject ? strdup(subject) : NULL;
	if (!peer->subject)
		return dart_error__no_memory(error);
	session__name(&peer->session, peer->subject);
	peer->tls = NULL;
	peer->state = TCP_PEER_HELLO;
	return dart_rpc_stream__open(tls, DART_RPC_REQUEST_MAX,
				     DART_RPC_ANSWER_MAX, &peer->stream, error);
}

static void tcp_peer__welcome(struct tcp_peer *peer)
{
	struct dart_rpc_welcome_values values = session__welcome(&peer->peers->sessions);

	dart_rpc_stream__put(peer->stream,
			     dart_rpc__put_welcome(dart_rpc_stream__out(peer->stream), &values));
	peer->state = TCP_PEER_OPEN;
	peer->established = dart_clock__ns(CLOCK_BOOTTIME);
	count__add(&peer->peers->counts->peers.connected, 1);
	count__add(&peer->peers->counts->peers.total, 1);
	log__peer_info("caller %s (%s) connected", peer->name, peer->subject);
	changes__announce(peer->peers->changes, "connected", "caller", peer->name);
}

static void tcp_peer__take_hello(struct tcp_peer *peer, const void *bytes, size_t length)
{
	struct dart_rpc_message message;
	struct dart_error error;

	if (dart_rpc_message__decode(bytes, length, &message, &error)) {
		session__refuse(&peer->session, DART_RPC_ERROR_MALFORMED, &error);
	} else if (message.type != DART_RPC_HELLO) {
		dart_error__set(&error, EBADMSG, "its first message is of type %u, not a hello",
				message.type);
		session__refuse(&peer->session, DART_RPC_ERROR_MALFORMED, &error);
	} else if (message.hello.abi_version != DART_RPC_ABI_VERSION) {
		dart_error__set(&error, EPROTONOSUPPORT,
				"it speaks version %u of the protocol, not %d",
				message.hello.abi_version, DART_RPC_ABI_VERSION);
		session__refuse(&peer->session, DART_RPC_ERROR_VERSION, &error);
	} else if (message.hello.receives) {
		dart_error__set(&error, EBADMSG, "it has %u receives, which TCP has not",
				message.hello.receives);
		session__refuse(&peer->session, DART_RPC_ERROR_MALFORMED, &error);
	} else {
		peer->answer_max = message.hello.answer_max;
		session__join_audience(&peer->session, message.hello.interval_ms);
		tcp_peer__welcome(peer);
	}
}

/* The next message to be sent, if there is one: then it is put into the stream. */
static bool tcp_peer__produce(struct tcp_peer *peer)
{
	size_t length =
		session__next(&peer->session, dart_rpc_stream__out(peer->stream), peer->answer_max);

	if (!length)
		return false;
	dart_rpc_stream__put(peer->stream, length);
	return true;
}

/* Takes the next message of the peer, if it is whole: 0, -EAGAIN, or another -errno. */
static int tcp_peer__consume(struct tcp_peer *peer, struct dart_error *error)
{
	struct dart_error ignored;
	const void *bytes;
	size_t length;
	int ret;

	ret = dart_rpc_stream__next(peer->stream, &bytes, &length, error);
	if (ret == -EBADMSG) {
		session__refuse(&peer->session, DART_RPC_ERROR_MALFORMED, error);
		return 0;
	}
	if (ret < 0)
		return ret;
	tcp_peer__forget_deadline(peer);
	if (peer->state == TCP_PEER_HELLO)
		tcp_peer__take_hello(peer, bytes, length);
	else
		/* The peer is told, and the session is over. */
		session__take(&peer->session, bytes, length, &ignored);
	return 0;
}

/* Returns 0 if it can go on at once, -EAGAIN, or another -errno to end the peer. */
static int tcp_peer__run(struct tcp_peer *peer, struct dart_error *error)
{
	int ret = 0, sent = 0;

	if (peer->state == TCP_PEER_HANDSHAKE)
		ret = tcp_peer__shake_hands(peer, error);
	while (!ret && sent < TURN) {
		ret = dart_rpc_stream__flush(peer->stream, error);
		if (ret)
			break;
		if (tcp_peer__produce(peer))
			sent++;
		else if (peer->session.is_over)
			ret = dart_error__set(error, EBADMSG, "%s", peer->session.error.text);
		else
			ret = tcp_peer__consume(peer, error);
	}
	return ret;
}

static bool tcp_peer__waits_to_send(const struct tcp_peer *peer)
{
	return peer->stream ? dart_rpc_stream__waits_to_send(peer->stream) :
			      dart_tls_stream__waits_to_send(peer->tls);
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct tcp_peer *peer = userdata;
	struct dart_error error;
	int ret;

	if (peer->state == TCP_PEER_LEAVING) {
		tcp_peer__discard(peer);
		return 0;
	}
	ret = tcp_peer__run(peer, &error);
	if (ret && ret != -EAGAIN) {
		if (!peer->established)
			count__add(&peer->peers->refused->handshakes, 1);
		if (ret == -EBADMSG || ret == -EACCES || ret == -EPROTO)
			tcp_peer__leave(peer, error.text);
		else
			tcp_peer__end(peer, error.text);
		return 0;
	}
	tcp_peer__set_deadline(peer);
	/* With more to do, it is called again after the turns of the others. */
	sd_event_source_set_io_events(source,
				      !ret || tcp_peer__waits_to_send(peer) ? EPOLLOUT : EPOLLIN);
	return 0;
}

static void name_peer(struct tcp_peer *peer)
{
	const struct sockaddr *address = (const struct sockaddr *)&peer->address;
	char host[64], port[8];

	if (getnameinfo(address, sizeof(peer->address), host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(peer->name, sizeof(peer->name), "(unknown)");
	else
		snprintf(peer->name, sizeof(peer->name),
			 address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* The event loop serves the peer in its turn, as after other events of the socket. */
static void tcp_peer__has_message(struct session *session)
{
	struct tcp_peer *peer =
		(struct tcp_peer *)((char *)session - offsetof(struct tcp_peer, session));

	sd_event_source_set_io_events(peer->events, EPOLLOUT);
}

int tcp_peer__new(struct tcp_peers *peers, int fd, const struct sockaddr_storage *address,
		  struct dart_tls *tls, const char *const *subjects, size_t count)
{
	struct tcp_peer *peer = calloc(1, sizeof(*peer));
	struct dart_error error;
	int ret;

	if (!peer) {
		close(fd);
		return -ENOMEM;
	}
	peer->peers = peers;
	peer->fd = fd;
	peer->address = *address;
	/* Until its hello, of the error that refuses it. */
	peer->answer_max = DART_RPC_ANSWER_MIN;
	name_peer(peer);
	session__open(&peer->session, &peers->sessions, (const struct sockaddr *)address,
		      tcp_peer__has_message);
	TAILQ_INSERT_TAIL(&peers->list, peer, link);
	peers->count++;
	ret = dart_tls_stream__open(tls, fd, true, subjects, count, &peer->tls, &error);
	if (!ret)
		ret = sd_event_add_io(peers->loop, &peer->events, fd, EPOLLIN, on_event, peer);
	if (ret < 0) {
		tcp_peer__free(peer);
		return ret;
	}
	tcp_peer__set_deadline(peer);
	return 0;
}

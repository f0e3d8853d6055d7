// SPDX-License-Identifier: GPL-2.0-only
/* Accepts callers over TCP that are allowed, while there is room. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "agent/base/request.h"
#include "tcp_listener.h"

/* After a connection could not be accepted. */
#define PAUSE_MS 100

static void tcp_listener__set_admission(struct tcp_listener *listener,
					const struct tcp_admission *admission)
{
	listener->admission = *admission;
	listener->peers.sessions.changers = admission->subjects;
	listener->peers.sessions.changer_count = admission->changer_count;
}

static void tcp_listener__take(struct tcp_listener *listener, int fd,
			       const struct sockaddr_storage *address)
{
	const char *reason = tcp_listener__refuse(listener, address);
	int ret;

	if (reason) {
		if (!tcp_listener__allows(listener, address))
			dart_tls__deny(fd);
		log__peer_warning("a caller is rejected: %s", reason);
		close(fd);
		return;
	}
	ret = tcp_peer__new(&listener->peers, fd, address, listener->tls,
			    listener->admission.subjects, listener->admission.subject_count);
	if (ret)
		log__peer_error("cannot serve a caller: %s", strerror(-ret));
}

static void tcp_listener__enable(struct tcp_listener *listener, int enabled)
{
	size_t i;

	for (i = 0; i < listener->socket_count; i++)
		sd_event_source_set_enabled(listener->sockets[i].events, enabled);
}

/* Out of descriptors, for example: without a pause, dartd would be called again. */
static void tcp_listener__pause(struct tcp_listener *listener, int code)
{
	log__peer_error("cannot accept callers: %s (tried again in %d ms)",
			strerror(code), PAUSE_MS);
	tcp_listener__enable(listener, SD_EVENT_OFF);
	loop_timer__start(listener->resume, PAUSE_MS * 1000);
}

/* Errors of one connection, which accept(2) passes on. */
static bool is_passing(int code)
{
	return code == EAGAIN || code == EINTR || code == ECONNABORTED || code == EPROTO ||
	       code == ENETDOWN || code == ENETUNREACH || code == EHOSTUNREACH ||
	       code == EHOSTDOWN || code == ENOPROTOOPT || code == EPERM;
}

/* One connection for each call, so that other sources of the loop take turns. */
static int on_connection(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	const struct tcp_socket *socket = userdata;
	struct sockaddr_storage address = {};
	socklen_t size = sizeof(address);
	int connection;

	connection = accept4(fd, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (connection >= 0)
		tcp_listener__take(socket->listener, connection, &address);
	else if (!is_passing(errno))
		tcp_listener__pause(socket->listener, errno);
	return 0;
}

static int tcp_listener__open_events(struct tcp_listener *listener)
{
	struct tcp_socket *socket;
	size_t i;
	int ret = 0;

	for (i = 0; ret >= 0 && i < listener->socket_count; i++) {
		socket = &listener->sockets[i];
		ret = sd_event_add_io(listener->peers.loop, &socket->events, socket->fd, EPOLLIN,
				      on_connection, socket);
	}
	return ret;
}

static void tcp_listener__close_sockets(struct tcp_listener *listener)
{
	struct tcp_socket *socket;

	while (listener->socket_count) {
		socket = &listener->sockets[--listener->socket_count];
		sd_event_source_disable_unref(socket->events);
		close(socket->fd);
	}
	free(listener->sockets);
	listener->sockets = NULL;
	listener->port = 0;
}

static void tcp_listener__stop(struct tcp_listener *listener)
{
	tcp_listener__close_sockets(listener);
	dart_tls__put(listener->tls);
	listener->tls = NULL;
}

/* Begins to listen; on error nothing has changed. */
static int tcp_listener__start(struct tcp_listener *listener, struct dart_error *error)
{
	int ret = 0;

	if (!listener->tls)
		ret = dart_tls__load(&listener->admission.files, &listener->tls, error);
	if (ret)
		return ret;
	ret = tcp_listener__listen(listener, listener->place, error);
	if (!ret) {
		ret = tcp_listener__open_events(listener);
		if (ret < 0)
			dart_error__system(error, -ret, "cannot wait for callers");
	}
	if (ret >= 0) {
		listener->port = listener->place->port;
		return 0;
	}
	/* Keep the certificates: callers that they admitted may still be connected. */
	tcp_listener__close_sockets(listener);
	return ret;
}

/* Begins to listen, or sets @failure, and tries it again later. */
static int tcp_listener__try(struct tcp_listener *listener)
{
	int ret;

	listener->failure = (struct dart_error){};
	ret = tcp_listener__start(listener, &listener->failure);
	if (ret)
		loop_timer__start(listener->resume, TCP_LISTENER_RETRY_S * UINT64_C(1000000));
	return ret;
}

/* After a time in which it accepted nobody, or did not listen at all. */
static int on_resume(sd_event_source *source, uint64_t time, void *userdata)
{
	struct tcp_listener *listener = userdata;
	const struct dart_error before = listener->failure;

	if (listener->socket_count)
		tcp_listener__enable(listener, SD_EVENT_ON);
	else if (!tcp_listener__try(listener))
		log__info("callers by TCP can connect");
	else if (strcmp(before.text, listener->failure.text))
		log__error("callers over TCP cannot connect: %s", listener->failure.text);
	return 0;
}

int tcp_listener__open(struct tcp_listener *listener, sd_event *loop, const struct tcp_place *place,
		       const struct tcp_admission *admission, struct snapshots *snapshots,
		       const struct changes *changes, struct serve_counts *counts,
		       struct tcp_counts *refused, struct dart_error *error)
{
	int ret;

	*listener = (struct tcp_listener){ .place = place };
	ret = tcp_peers__open(&listener->peers, loop, snapshots, changes, counts, refused);
	tcp_listener__set_admission(listener, admission);
	if (ret >= 0)
		ret = handshake_rates__open(&listener->rates, HANDSHAKES_PER_SECOND,
					    HANDSHAKES_PER_SECOND_OF_ADDRESS);
	if (ret >= 0)
		ret = loop_timer__add(loop, &listener->resume, CLOCK_MONOTONIC, on_resume,
				      listener);
	if (ret < 0) {
		dart_error__system(error, -ret, "cannot prepare for callers");
		tcp_listener__close(listener);
		return ret;
	}
	if (place)
		tcp_listener__try(listener);
	return 0;
}

void tcp_listener__close(struct tcp_listener *listener)
{
	tcp_listener__close_sockets(listener);
	sd_event_source_disable_unref(listener->resume);
	tcp_peers__close(&listener->peers);
	dart_tls__put(listener->tls);
}

static bool tcp_listener__admits(const struct tcp_listener *listener, const struct tcp_peer *peer)
{
	const struct tcp_admission *admission = &listener->admission;
	size_t i;

	if (!tcp_listener__allows(listener, &peer->address))
		return false;
	for (i = 0; i < admission->subject_count; i++)
		if (!strcmp(admission->subjects[i], peer->subject))
			return true;
	return false;
}

/*
 * Reads the files again.  If the authorities or the lists of revoked certificates differ, callers
 * are disconnected and have to connect again.
 */
static int tcp_listener__reload(struct tcp_listener *listener, struct dart_error *error)
{
	struct tcp_peer *peer, *next;
	struct dart_tls *tls;
	bool is_same;
	int ret = dart_tls__load(&listener->admission.files, &tls, error);

	if (ret)
		return ret;
	is_same = dart_tls__have_same_authorities(listener->tls, tls);
	dart_tls__put(listener->tls);
	listener->tls = tls;
	for (peer = TAILQ_FIRST(&listener->peers.list); !is_same && peer; peer = next) {
		next = TAILQ_NEXT(peer, link);
		tcp_peer__end(peer, "the authorities or the revoked certificates have changed");
	}
	return 0;
}

int tcp_listener__admit(struct tcp_listener *listener, const struct tcp_admission *admission,
			struct dart_error *error)
{
	struct tcp_peer *peer, *next;
	int ret;

	tcp_listener__set_admission(listener, admission);
	for (peer = TAILQ_FIRST(&listener->peers.list); peer; peer = next) {
		next = TAILQ_NEXT(peer, link);
		if (!peer->established)
			tcp_peer__end(peer, "the configuration is reloaded");
		else if (!tcp_listener__admits(listener, peer))
			tcp_peer__end(peer, "the configuration no longer allows it");
	}
	listener->failure = (struct dart_error){};
	if (!admission->files.certificate) {
		sd_event_source_set_enabled(listener->resume, SD_EVENT_OFF);
		tcp_listener__stop(listener);
		return 0;
	}
	if (!listener->place)
		return 0;
	ret = listener->tls ? tcp_listener__reload(listener, &listener->failure) : 0;
	if (!ret && !listener->socket_count)
		ret = tcp_listener__try(listener);
	*error = listener->failure;
	return ret;
}

int tcp_listener__move(struct tcp_listener *listener,
		       const struct tcp_place *place, struct dart_error *error)
{
	int ret;

	sd_event_source_set_enabled(listener->resume, SD_EVENT_OFF);
	tcp_listener__close_sockets(listener);
	listener->failure = (struct dart_error){};
	listener->place = place;
	if (!place)
		return 0;
	ret = tcp_listener__try(listener);
	*error = listener->failure;
	return ret;
}

json_t *tcp_listener__names(const struct tcp_listener *listener)
{
	const struct tcp_peer *peer;
	json_t *names = json_array();

	TAILQ_FOREACH(peer, &listener->peers.list, link)
		if (peer->established)
			reply__append(&names, json_sprintf("%s (%s)", peer->name, peer->subject));
	return names;
}

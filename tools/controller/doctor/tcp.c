// SPDX-License-Identifier: GPL-2.0-only
/* Connects to a host over TCP, and calls dartd there if this machine has certificates. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/rpc/client.h>

#include "tcp.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/transport/certificates.h"

/* Limits for connecting, and then for a refusal, which dartd sends at once. */
#define CONNECT_TIMEOUT_MS 2000
#define REFUSAL_TIMEOUT_MS 500

/* Returns the milliseconds until @end_ns, rounded up. */
static int left_ms(uint64_t end_ns)
{
	uint64_t now_ns = monotonic_ns();

	return now_ns < end_ns ? (end_ns - now_ns) / 1000000 + 1 : 0;
}

/* Returns a connected socket, or -errno. */
static int connect_to(const char *address, uint16_t port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
	struct pollfd events = { .events = POLLOUT };
	socklen_t length = sizeof(int);
	struct addrinfo *found;
	char service[8];
	int code = 0;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(address, service, &hints, &found))
		return -EHOSTUNREACH;
	events.fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (events.fd < 0 ||
	    (connect(events.fd, found->ai_addr, found->ai_addrlen) && errno != EINPROGRESS))
		code = errno;
	freeaddrinfo(found);
	if (!code && poll(&events, 1, CONNECT_TIMEOUT_MS) <= 0)
		code = ETIMEDOUT;
	if (!code && getsockopt(events.fd, SOL_SOCKET, SO_ERROR, &code, &length))
		code = errno;
	if (!code)
		return events.fd;
	if (events.fd >= 0)
		close(events.fd);
	return -code;
}

/*
 * Waits for the refusal that dartd sends before the handshake. Without one, dartd allows this
 * machine.
 */
static enum tcp_answer listen_to(int fd)
{
	/* The alert that dart_tls__deny() sends. */
	static const unsigned char denied[] = { 21, 3, 3, 0, 2, 2, 49 };
	struct pollfd events = { .fd = fd, .events = POLLIN };
	unsigned char said[sizeof(denied)];

	if (poll(&events, 1, REFUSAL_TIMEOUT_MS) <= 0)
		return TCP_LISTENS;
	if (recv(fd, said, sizeof(said), MSG_WAITALL) == sizeof(said) &&
	    !memcmp(said, denied, sizeof(said)))
		return TCP_DENIED;
	return TCP_REFUSES;
}

static enum tcp_answer call(struct tcp_way *way, struct dart_rpc_client *client)
{
	uint64_t end_ns = monotonic_ns() + ANSWER_TIMEOUT_MS * 1000000ULL;
	enum dart_rpc_client_event event = DART_RPC_CLIENT_NOTHING;
	struct pollfd events[2];
	unsigned int count;

	while (event == DART_RPC_CLIENT_NOTHING) {
		count = dart_rpc_client__wait(client, events);
		if (poll(events, count, left_ms(end_ns)) <= 0) {
			dart_error__set(&way->error, ETIMEDOUT, "no answer");
			return TCP_REFUSES;
		}
		event = dart_rpc_client__on_ready(client, &way->error);
	}
	if (event != DART_RPC_CLIENT_CONNECTED)
		return TCP_REFUSES;
	dart_rpc_client__path(client, &way->path);
	dart_rpc_client__clock(client, &way->clock_offset_ns, &way->clock_uncertainty_ns);
	return TCP_SERVES;
}

static enum tcp_answer call_with(struct tcp_way *way, const struct connection *connection,
				 const struct settings_tls *files)
{
	enum tcp_answer answer = TCP_REFUSES;
	struct dart_rpc_client *client;
	struct dart_tls *tls = NULL;

	if (certificates__load(files, &tls, &way->error))
		return answer;
	/* This machine has no certificate to show to the host. */
	if (!tls)
		return TCP_LISTENS;
	if (!dart_rpc_client__connect_tcp(connection->address, way->port, tls,
					  connection->target->host, &client, &way->error)) {
		answer = call(way, client);
		dart_rpc_client__free(client);
	}
	dart_tls__put(tls);
	return answer;
}

void tcp_way__try(struct tcp_way *way, const struct connection *connection, uint16_t port,
		  const struct settings_tls *tls)
{
	int fd;

	*way = (struct tcp_way){ .port = port };
	fd = connect_to(connection->address, port);
	if (fd < 0) {
		dart_error__set(&way->error, -fd, "%s", strerror(-fd));
		return;
	}
	way->answer = listen_to(fd);
	if (way->answer == TCP_REFUSES)
		dart_error__set(&way->error, ECONNRESET, "it closes the connection");
	close(fd);
	if (way->answer == TCP_LISTENS)
		way->answer = call_with(way, connection, tls);
}

bool tcp_way__is_open(const struct tcp_way *way)
{
	return way->answer == TCP_LISTENS || way->answer == TCP_SERVES;
}

void check_tcp(struct findings *findings, const struct connection *connection,
	       const struct tcp_way *way, bool is_only)
{
	const char *host = connection->target->host;

	switch (way->answer) {
	case TCP_SERVES:
		findings__ok(findings, "tcp", "dartd answers on TCP port %u%s", way->port,
			     is_only ? "" : " (transport: tcp)");
		break;
	case TCP_LISTENS:
		findings__warn(
			findings, "tcp",
			"%s listens on TCP port %u; without certificates of this machine no more is known",
			connection->address, way->port);
		findings__command(
			findings,
			"dart-controller doctor --transport tcp --config /etc/dart/controller.yaml %s",
			host);
		break;
	case TCP_DENIED:
		findings__fail(
			findings, "tcp",
			"dartd listens on TCP port %u, but its configuration does not allow the address of this machine",
			way->port);
		findings__advise(
			findings,
			"add the address to allow: callers of dartd.yaml there, and reload dartd");
		break;
	case TCP_REFUSES:
		findings__fail(findings, "tcp", "TCP port %u of %s: %s", way->port,
			       connection->address, way->error.text);
		findings__command(findings, "ssh %s journalctl -n 20 -u dartd", host);
		break;
	case TCP_NOTHING:
		if (is_only) {
			findings__fail(findings, "tcp", "TCP port %u of %s: %s", way->port,
				       connection->address, way->error.text);
			findings__advise(
				findings,
				"does dartd there have tcp in its configuration, and does a firewall let it in?");
		} else {
			findings__ok(findings, "tcp", "no way either: TCP port %u of %s: %s",
				     way->port, connection->address, way->error.text);
		}
	}
}

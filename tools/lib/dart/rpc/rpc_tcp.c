// SPDX-License-Identifier: LGPL-2.1-or-later
/* Connects over TCP, then by TLS, then by a hello. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/rpc/stream.h>
#include <libdart/rpc/tls.h>

#include "client.h"
#include "rpc_transport_internal.h"
#include "tools/lib/dart/rdma/path_internal.h"
#include "tools/lib/dart/rdma/remote_clock_internal.h"

/*
 * The bytes that the agent may send before the caller reads.  Sixteen fragments of 4 KiB, as many
 * as an adapter answers of one READ after the other; more helps only where a round trip takes
 * longer than 50 us at 10 Gbit/s.
 */
#define WINDOW	65536

struct tcp {
	struct dart_rpc_transport base;
	int fd;
	enum { CONNECTING, IN_HANDSHAKE, IN_HELLO, OPEN } state;
	char *name;			/* that the agent's certificate has */
	struct dart_tls *tls;		/* until @stream has it */
	struct dart_tls_stream *tls_stream;	/* the same */
	struct dart_rpc_stream *stream;	/* from the hello on */
	bool waits_to_send;
	uint64_t asked_ns;		/* CLOCK_MONOTONIC of the hello */
};

static struct tcp *tcp_of(const struct dart_rpc_transport *transport)
{
	return (struct tcp *)transport;
}

static void tcp__free(struct dart_rpc_transport *transport)
{
	struct tcp *tcp = tcp_of(transport);

	dart_rpc_stream__free(tcp->stream);
	dart_tls_stream__free(tcp->tls_stream);
	dart_tls__put(tcp->tls);
	if (tcp->fd >= 0)
		close(tcp->fd);
	free(tcp->name);
	free(tcp);
}

static unsigned int tcp__wait(const struct dart_rpc_transport *transport,
			      struct pollfd descriptors[2])
{
	const struct tcp *tcp = tcp_of(transport);

	descriptors[0] = (struct pollfd){
		.fd = tcp->fd,
		.events = tcp->waits_to_send ? POLLOUT : POLLIN,
	};
	return 1;
}

static int tcp__flush(struct tcp *tcp, struct dart_error *error)
{
	int ret = dart_rpc_stream__flush(tcp->stream, error);

	tcp->waits_to_send = ret == -EAGAIN && dart_rpc_stream__waits_to_send(tcp->stream);
	return ret == -EAGAIN ? 0 : ret;
}

static int tcp__send(struct dart_rpc_transport *transport, size_t length, struct dart_error *error)
{
	struct tcp *tcp = tcp_of(transport);

	dart_rpc_stream__put(tcp->stream, length);
	return tcp__flush(tcp, error);
}

static void *tcp__request(struct dart_rpc_transport *transport)
{
	return dart_rpc_stream__out(tcp_of(transport)->stream);
}

static int tcp__receive(struct dart_rpc_transport *transport, const void **bytes,
			size_t *length, struct dart_error *error)
{
	struct tcp *tcp = tcp_of(transport);
	int ret = 0;

	if (!dart_rpc_stream__out(tcp->stream))
		ret = tcp__flush(tcp, error);
	return ret ?: dart_rpc_stream__next(tcp->stream, bytes, length, error);
}

/* The result of the non-blocking connect(2). */
static int tcp__finish_connect(struct tcp *tcp, struct dart_error *error)
{
	struct pollfd descriptor = { .fd = tcp->fd, .events = POLLOUT };
	socklen_t size = sizeof(int);
	int code = 0;

	if (poll(&descriptor, 1, 0) < 1)
		return 0;
	if (getsockopt(tcp->fd, SOL_SOCKET, SO_ERROR, &code, &size))
		code = errno;
	if (code)
		return dart_error__set(error, code, "cannot connect: %s%s", strerror(code),
				       code == ECONNREFUSED ?
					       " (has dartd there 'tcp' in its configuration?)" :
					       "");
	tcp->state = IN_HANDSHAKE;
	tcp->waits_to_send = false;
	return dart_tls_stream__open(tcp->tls, tcp->fd, false,
				     (const char *const *)&tcp->name, 1,
				     &tcp->tls_stream, error) ?: 1;
}

static int tcp__say_hello(struct tcp *tcp, struct dart_error *error)
{
	struct dart_tls_stream *tls_stream = tcp->tls_stream;
	size_t length;
	int ret;

	/* The arguments are freed in any case. */
	tcp->tls_stream = NULL;
	ret = dart_rpc_stream__open(tls_stream, DART_RPC_ANSWER_MAX,
				    DART_RPC_REQUEST_MAX, &tcp->stream, error);
	if (ret)
		return ret;
	tcp->state = IN_HELLO;
	tcp->asked_ns = dart_monotonic_ns();
	length = dart_rpc__put_hello(dart_rpc_stream__out(tcp->stream), DART_RPC_ANSWER_MAX, 0,
				     tcp->base.interval_ms);
	return tcp__send(&tcp->base, length, error);
}

static int tcp__shake_hands(struct tcp *tcp, struct dart_error *error)
{
	int ret = dart_tls_stream__handshake(tcp->tls_stream, error);

	tcp->waits_to_send = !ret && dart_tls_stream__waits_to_send(tcp->tls_stream);
	if (ret <= 0)
		return ret;
	return tcp__say_hello(tcp, error) ?: 1;
}

/* The agent welcomes this side or says why not. */
static int tcp__await_welcome(struct tcp *tcp, struct dart_error *error)
{
	struct dart_rpc_message message;
	const void *bytes;
	size_t length;
	int ret;

	ret = tcp__receive(&tcp->base, &bytes, &length, error);
	if (ret == -EAGAIN)
		return 0;
	if (ret < 0)
		return ret;
	ret = dart_rpc_message__decode(bytes, length, &message, error);
	if (ret)
		return ret;
	switch (message.type) {
	case DART_RPC_WELCOME:
		tcp->base.welcome = message.welcome;
		dart_remote_clock__compare(tcp->asked_ns, message.welcome.time_ns,
					   &tcp->base.clock_offset_ns,
					   &tcp->base.clock_uncertainty_ns);
		tcp->state = OPEN;
		return 1;
	case DART_RPC_ERROR:
		return dart_error__set(
			error,
			message.error.code == DART_RPC_ERROR_VERSION ? EPROTONOSUPPORT : EACCES,
			"the agent refused the connection: %s", message.error.reason);
	default:
		return dart_error__set(error, EBADMSG, "the agent does not welcome this program");
	}
}

static int tcp__connect(struct dart_rpc_transport *transport, struct dart_error *error)
{
	struct tcp *tcp = tcp_of(transport);
	int ret = 1;

	while (ret > 0 && tcp->state != OPEN) {
		switch (tcp->state) {
		case CONNECTING:
			ret = tcp__finish_connect(tcp, error);
			break;
		case IN_HANDSHAKE:
			ret = tcp__shake_hands(tcp, error);
			break;
		default:
			ret = tcp__await_welcome(tcp, error);
		}
	}
	return ret;
}

static void tcp__path(const struct dart_rpc_transport *transport, struct dart_endpoint_path *path)
{
	const int fd = tcp_of(transport)->fd;
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);

	*path = (struct dart_endpoint_path){ };
	if (!getsockname(fd, (struct sockaddr *)&address, &length))
		dart_path__print_address((struct sockaddr *)&address, path->source);
	length = sizeof(address);
	if (!getpeername(fd, (struct sockaddr *)&address, &length))
		dart_path__print_address((struct sockaddr *)&address, path->destination);
}

static const struct dart_rpc_transport_operations operations = {
	.free = tcp__free,
	.wait = tcp__wait,
	.connect = tcp__connect,
	.path = tcp__path,
	.request = tcp__request,
	.send = tcp__send,
	.receive = tcp__receive,
};

static int begin(struct tcp *tcp, const char *host, uint16_t port, struct dart_error *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *address;
	const int on = 1, window = WINDOW;
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, &address);
	if (ret)
		return dart_error__set(error, ret == EAI_MEMORY ? ENOMEM : EHOSTUNREACH,
				       "cannot resolve '%s': %s", host, gai_strerror(ret));
	tcp->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ret = 0;
	if (tcp->fd < 0 ||
	    /* A request is one segment; it must not wait for another one. */
	    setsockopt(tcp->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    setsockopt(tcp->fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &window, sizeof(window)) ||
	    (connect(tcp->fd, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS))
		ret = dart_error__system(error, errno, "cannot connect to '%s'", host);
	freeaddrinfo(address);
	return ret;
}

int dart_rpc_client__connect_tcp(const char *host, uint16_t port, struct dart_tls *tls,
				 const char *name, struct dart_rpc_client **result,
				 struct dart_error *error)
{
	struct tcp *tcp = calloc(1, sizeof(*tcp));
	int ret;

	if (!tcp)
		return dart_error__no_memory(error);
	tcp->base.operations = &operations;
	tcp->base.window = WINDOW;
	tcp->fd = -1;
	tcp->tls = dart_tls__hold(tls);
	tcp->waits_to_send = true;
	tcp->name = strdup(name ?: host);
	ret = tcp->name ? begin(tcp, host, port, error) : dart_error__no_memory(error);
	if (ret)
		tcp__free(&tcp->base);
	return ret ?: dart_rpc_client__new(&tcp->base, result, error);
}

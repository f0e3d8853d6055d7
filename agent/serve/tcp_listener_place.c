// SPDX-License-Identifier: GPL-2.0-only
/* Binds the sockets at the addresses of the configuration, or at all. */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/listen_address.h"
#include "tcp_listener.h"

#define BACKLOG 64

/* Bytes that wait for a slow reader in the kernel, in addition to the bytes in dartd. */
#define SEND_BUFFER (256 << 10)

/*
 * A caller without power or network: its connection ends after 90 s.  An idle one is
 * found by probes; one that leaves bytes unacknowledged, or a window of 0, by the time of
 * these, which without a limit is a quarter of an hour, or no end.
 */
#define KEEPALIVE_S 60
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES 3
#define UNACKNOWLEDGED_MS 90000

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

/* Connections inherit these. */
static int set_options(int fd, int family, bool is_any)
{
	int ret = 0;

	if (family == AF_INET6)
		ret = set(fd, IPPROTO_IPV6, IPV6_V6ONLY, !is_any);
	return ret								 ?:
		       set(fd, SOL_SOCKET, SO_REUSEADDR, 1)			 ?:
		       set(fd, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER)		 ?:
		       set(fd, SOL_SOCKET, SO_KEEPALIVE, 1)			 ?:
		       set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_S)		 ?:
		       set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S) ?:
		       set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES)	 ?:
		       set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS) ?:
		       set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static int open_socket(const union listen_address *address, bool is_any)
{
	socklen_t length = address->any.sa_family == AF_INET6 ? sizeof(address->v6) :
								sizeof(address->v4);
	int fd, ret;

	fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = set_options(fd, address->any.sa_family, is_any);
	if (!ret && (bind(fd, &address->any, length) || listen(fd, BACKLOG)))
		ret = -errno;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* IPv6 and IPv4 if the host supports both. */
static int open_any(uint16_t port)
{
	const union listen_address any6 = {
		.v6 = { .sin6_family = AF_INET6, .sin6_port = htobe16(port) },
	};
	const union listen_address any = {
		.v4 = { .sin_family = AF_INET, .sin_port = htobe16(port) },
	};
	int fd = open_socket(&any6, true);

	return fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL ? open_socket(&any, true) : fd;
}

static int open_at(const char *text, uint16_t port)
{
	union listen_address address = listen_address__parse(text, port);

	return open_socket(&address, false);
}

static const char *remedy(int code)
{
	if (code == -EADDRINUSE)
		return " (choose another port)";
	if (code == -EADDRNOTAVAIL)
		return " (is it an address of this host?)";
	return "";
}

int tcp_listener__listen(struct tcp_listener *listener, const struct tcp_place *place,
			 struct dart_error *error)
{
	size_t i, count = place->count ?: 1;
	const char *at = "all addresses";
	int fd;

	listener->sockets = calloc(count, sizeof(*listener->sockets));
	if (!listener->sockets)
		return dart_error__no_memory(error);
	for (i = 0; i < count; i++) {
		if (place->count)
			at = place->addresses[i];
		fd = place->count ? open_at(at, place->port) : open_any(place->port);
		if (fd < 0)
			return dart_error__set(error, -fd,
					       "cannot listen for callers at %s, TCP port %u: %s%s",
					       at, place->port, strerror(-fd), remedy(fd));
		listener->sockets[listener->socket_count++] =
			(struct tcp_socket){ .listener = listener, .fd = fd };
	}
	return 0;
}

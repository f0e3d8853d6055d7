// SPDX-License-Identifier: GPL-2.0-only
/* Bytes to and from a Thrift server, with limits: see wire.h. */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/rdma/address.h>

#include "wire.h"

#define CALL_MS		10000
#define TOTAL_MS	120000

static void start_timer(struct thrift_wire *wire)
{
	wire->call_end = dart_clock__ms(CLOCK_MONOTONIC) + CALL_MS;
	if (wire->call_end > wire->end)
		wire->call_end = wire->end;
	wire->answer_left = THRIFT_WIRE_ANSWER_MAX;
}

/* Waits until the socket is ready for @events; returns false when the time of the call is over. */
static bool wait_for(struct thrift_wire *wire, short events)
{
	struct pollfd poller = { .fd = wire->socket, .events = events };
	int64_t left;

	do {
		left = wire->call_end - dart_clock__ms(CLOCK_MONOTONIC);
		if (left <= 0)
			break;
		if (poll(&poller, 1, left) > 0)
			return true;
	} while (1);
	thrift_wire__fail(wire, ETIMEDOUT, "it does not answer in time");
	return false;
}

/* Returns 0 or -errno. */
static int open_socket(struct thrift_wire *wire, const struct addrinfo *address)
{
	socklen_t length = sizeof(int);
	int error = 0;

	wire->socket = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (wire->socket < 0)
		return -errno;
	if (connect(wire->socket, address->ai_addr, address->ai_addrlen)) {
		if (errno != EINPROGRESS)
			return -errno;
		if (!wait_for(wire, POLLOUT))
			return wire->ret;
		getsockopt(wire->socket, SOL_SOCKET, SO_ERROR, &error, &length);
	}
	setsockopt(wire->socket, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	return -error;
}

/* Connects to the first address that accepts. */
static void try_addresses(struct thrift_wire *wire, const struct addrinfo *address)
{
	int ret = -EADDRNOTAVAIL;

	for (; ret && address; address = address->ai_next) {
		if (wire->socket >= 0)
			close(wire->socket);
		wire->ret = 0; /* an address before may have taken too long */
		start_timer(wire);
		ret = open_socket(wire, address);
	}
	if (ret)
		thrift_wire__fail(wire, -ret, "%s", strerror(-ret));
}

int thrift_wire__connect(struct thrift_wire *wire, const char *name)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *addresses;
	char *host, service[8];
	uint16_t port;
	int ret;

	wire->socket = -1;
	wire->ret = 0;
	wire->out_length = 0;
	wire->in_start = 0;
	wire->in_end = 0;
	wire->end = dart_clock__ms(CLOCK_MONOTONIC) + TOTAL_MS;
	ret = dart_address__parse(name, &host, &port);
	if (ret) {
		thrift_wire__fail(wire, -ret, "%s", strerror(-ret));
		return ret;
	}
	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, &addresses);
	free(host);
	if (ret) {
		thrift_wire__fail(wire, EHOSTUNREACH, "%s", gai_strerror(ret));
		return wire->ret;
	}
	try_addresses(wire, addresses);
	freeaddrinfo(addresses);
	return wire->ret;
}

void thrift_wire__close(struct thrift_wire *wire)
{
	if (wire->socket >= 0)
		close(wire->socket);
}

void thrift_wire__put(struct thrift_wire *wire, const void *bytes, uint32_t length)
{
	if (length > sizeof(wire->out) - wire->out_length)
		thrift_wire__fail(wire, E2BIG, "a call would be too long");
	if (wire->ret)
		return;
	memcpy(wire->out + wire->out_length, bytes, length);
	wire->out_length += length;
}

void thrift_wire__send(struct thrift_wire *wire)
{
	uint32_t sent = 0;
	ssize_t count;

	start_timer(wire);
	while (!wire->ret && sent < wire->out_length) {
		count = send(wire->socket, wire->out + sent, wire->out_length - sent, MSG_NOSIGNAL);
		if (count >= 0)
			sent += count;
		else if (errno == EAGAIN)
			wait_for(wire, POLLOUT);
		else
			thrift_wire__fail(wire, errno, "%s", strerror(errno));
	}
	wire->out_length = 0;
}

/* Waits for bytes; the buffer is empty. */
static void receive(struct thrift_wire *wire)
{
	ssize_t count;

	do {
		if (!wait_for(wire, POLLIN))
			return;
		count = recv(wire->socket, wire->in, sizeof(wire->in), 0);
	} while (count < 0 && (errno == EAGAIN || errno == EINTR));
	if (count < 0)
		thrift_wire__fail(wire, errno, "%s", strerror(errno));
	else if (!count)
		thrift_wire__fail(wire, ECONNRESET, "it has disconnected");
	if (wire->ret)
		return;
	wire->in_start = 0;
	wire->in_end = count;
}

void thrift_wire__get(struct thrift_wire *wire, void *bytes, uint32_t length)
{
	uint8_t *rest = bytes;
	uint32_t part;

	if (length > wire->answer_left)
		thrift_wire__fail(wire, EPROTO, "its answer is too long");
	else
		wire->answer_left -= length;
	while (length && !wire->ret) {
		if (wire->in_start == wire->in_end)
			receive(wire);
		if (wire->ret)
			break;
		part = wire->in_end - wire->in_start;
		if (part > length)
			part = length;
		memcpy(rest, wire->in + wire->in_start, part);
		wire->in_start += part;
		rest += part;
		length -= part;
	}
	memset(rest, 0, length);
}

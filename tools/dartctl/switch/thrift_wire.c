// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <libdart/rdma/address.h>

#include "thrift_wire.h"

#define CALL_MS		10000
#define TOTAL_MS	120000

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000) + time.tv_nsec / 1000000;
}

void wire__fail(struct wire *wire, int error, const char *format, ...)
{
	va_list arguments;

	if (wire->error)
		return;
	wire->error = error;
	va_start(arguments, format);
	vsnprintf(wire->why, sizeof(wire->why), format, arguments);
	va_end(arguments);
}

static void begin_call(struct wire *wire)
{
	wire->call_end = now() + CALL_MS;
	if (wire->call_end > wire->end)
		wire->call_end = wire->end;
	wire->answer_left = WIRE_ANSWER_MAX;
}

/* Until the socket is ready for @events; false if it is too late. */
static bool wait_for(struct wire *wire, short events)
{
	struct pollfd poller = { .fd = wire->socket, .events = events };
	int64_t left;

	do {
		left = wire->call_end - now();
		if (left <= 0)
			break;
		if (poll(&poller, 1, left) > 0)
			return true;
	} while (1);
	wire__fail(wire, -ETIMEDOUT, "it does not answer in time");
	return false;
}

/* Returns 0 or -errno. */
static int open_socket(struct wire *wire, const struct addrinfo *address)
{
	socklen_t length = sizeof(int);
	int error = 0;

	wire->socket = socket(address->ai_family,
			      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (wire->socket < 0)
		return -errno;
	if (connect(wire->socket, address->ai_addr, address->ai_addrlen)) {
		if (errno != EINPROGRESS)
			return -errno;
		if (!wait_for(wire, POLLOUT))
			return wire->error;
		getsockopt(wire->socket, SOL_SOCKET, SO_ERROR, &error, &length);
	}
	setsockopt(wire->socket, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 },
		   sizeof(int));
	return -error;
}

/* The first address that takes the connection. */
static void try_addresses(struct wire *wire, const struct addrinfo *address)
{
	int ret = -EADDRNOTAVAIL;

	for (; ret && address; address = address->ai_next) {
		if (wire->socket >= 0)
			close(wire->socket);
		wire->error = 0; /* one that was too slow is not the last */
		begin_call(wire);
		ret = open_socket(wire, address);
	}
	if (ret)
		wire__fail(wire, ret, "%s", strerror(-ret));
}

int wire__connect(struct wire *wire, const char *name)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *addresses;
	char *host, service[8];
	uint16_t port;
	int err;

	wire->socket = -1;
	wire->error = 0;
	wire->out_length = 0;
	wire->in_start = 0;
	wire->in_end = 0;
	wire->end = now() + TOTAL_MS;
	err = dart_address__parse(name, &host, &port);
	if (err) {
		wire__fail(wire, err, "%s", strerror(-err));
		return err;
	}
	snprintf(service, sizeof(service), "%u", port);
	err = getaddrinfo(host, service, &hints, &addresses);
	free(host);
	if (err) {
		wire__fail(wire, -EHOSTUNREACH, "%s", gai_strerror(err));
		return wire->error;
	}
	try_addresses(wire, addresses);
	freeaddrinfo(addresses);
	return wire->error;
}

void wire__close(struct wire *wire)
{
	if (wire->socket >= 0)
		close(wire->socket);
}

void wire__put(struct wire *wire, const void *bytes, uint32_t length)
{
	if (length > sizeof(wire->out) - wire->out_length)
		wire__fail(wire, -E2BIG, "a call would be too long");
	if (wire->error)
		return;
	memcpy(wire->out + wire->out_length, bytes, length);
	wire->out_length += length;
}

void wire__send(struct wire *wire)
{
	uint32_t sent = 0;
	ssize_t count;

	begin_call(wire);
	while (!wire->error && sent < wire->out_length) {
		count = send(wire->socket, wire->out + sent,
			     wire->out_length - sent, MSG_NOSIGNAL);
		if (count >= 0)
			sent += count;
		else if (errno == EAGAIN)
			wait_for(wire, POLLOUT);
		else
			wire__fail(wire, -errno, "%s", strerror(errno));
	}
	wire->out_length = 0;
}

/* Waits for bytes where there are none. */
static void fill(struct wire *wire)
{
	ssize_t count;

	do {
		if (!wait_for(wire, POLLIN))
			return;
		count = recv(wire->socket, wire->in, sizeof(wire->in), 0);
	} while (count < 0 && (errno == EAGAIN || errno == EINTR));
	if (count < 0)
		wire__fail(wire, -errno, "%s", strerror(errno));
	else if (!count)
		wire__fail(wire, -ECONNRESET, "it has hung up");
	if (wire->error)
		return;
	wire->in_start = 0;
	wire->in_end = count;
}

void wire__get(struct wire *wire, void *bytes, uint32_t length)
{
	uint8_t *rest = bytes;
	uint32_t part;

	if (length > wire->answer_left)
		wire__fail(wire, -EPROTO, "its answer is too long");
	else
		wire->answer_left -= length;
	while (length && !wire->error) {
		if (wire->in_start == wire->in_end)
			fill(wire);
		if (wire->error)
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

uint32_t wire__left(const struct wire *wire)
{
	return wire->answer_left;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Listens to a publisher of nanomsg: see publisher.h. */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <libdart/rdma/address.h>

#include "publisher.h"

#define CONNECT_SECONDS	10
#define GREETING	8		/* bytes */
#define LENGTH		8		/* likewise */
#define LOCAL		1		/* byte before the length */

static const uint8_t greeting_of_publisher[GREETING] = { 0, 'S', 'P', 0, 0, 32, 0, 0 };
static const uint8_t greeting_of_listener[GREETING] = { 0, 'S', 'P', 0, 0, 33, 0, 0 };

struct publisher {
	int socket;
	bool is_local;
	bool has_greeted;
	uint32_t start, end;	/* the bytes that were received and not taken yet */
	uint8_t bytes[LOCAL + LENGTH + PUBLISHER_MESSAGE_MAX];
};

/* The rest of @address after @scheme, or NULL. */
static const char *rest_after(const char *address, const char *scheme)
{
	const size_t length = strlen(scheme);

	return strncmp(address, scheme, length) ? NULL : address + length;
}

/* Returns 0 or -errno. */
static int open_socket(struct publisher *publisher, int family,
		       const struct sockaddr *address, socklen_t length)
{
	const struct timeval limit = { .tv_sec = CONNECT_SECONDS };

	publisher->socket = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (publisher->socket < 0)
		return -errno;
	/* SO_SNDTIMEO limits connect(), too. */
	if (setsockopt(publisher->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ||
	    connect(publisher->socket, address, length))
		return errno == EINPROGRESS ? -ETIMEDOUT : -errno;
	if (send(publisher->socket, greeting_of_listener, GREETING, MSG_NOSIGNAL) != GREETING)
		return -errno;
	return 0;
}

static int connect_local(struct publisher *publisher, const char *path, struct dart_error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ret;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return dart_error__set(error, EINVAL, "'%s' cannot be the path of a socket", path);
	strcpy(address.sun_path, path);
	publisher->is_local = true;
	ret = open_socket(publisher, AF_UNIX, (const void *)&address, sizeof(address));
	if (ret)
		dart_error__set(error, -ret, "cannot connect to '%s': %s", path, strerror(-ret));
	return ret;
}

static int connect_remote(struct publisher *publisher, const char *name, struct dart_error *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *addresses, *address;
	char *host, service[8];
	uint16_t port;
	int ret;

	/* dart_address__parse() has a default port, nanomsg has none. */
	ret = strchr(name, ':') ? dart_address__parse(name, &host, &port) : -EINVAL;
	if (ret)
		return dart_error__set(error, -ret, "'%s' is not HOST:PORT", name);
	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, &addresses);
	free(host);
	if (ret)
		return dart_error__set(error, EHOSTUNREACH, "'%s': %s", name, gai_strerror(ret));
	ret = -EADDRNOTAVAIL;
	for (address = addresses; ret && address; address = address->ai_next) {
		if (publisher->socket >= 0)
			close(publisher->socket);
		ret = open_socket(publisher, address->ai_family,
				  address->ai_addr, address->ai_addrlen);
	}
	freeaddrinfo(addresses);
	if (ret)
		dart_error__set(error, -ret, "cannot connect to '%s': %s", name, strerror(-ret));
	return ret;
}

int publisher__open(const char *address, struct publisher **result, struct dart_error *error)
{
	const char *path = rest_after(address, "ipc://");
	const char *name = rest_after(address, "tcp://");
	struct publisher *publisher;
	int ret;

	if (!path && !name)
		return dart_error__set(error, EINVAL,
				       "'%s' is not of the form tcp://HOST:PORT or ipc://PATH",
				       address);
	publisher = calloc(1, sizeof(*publisher));
	if (!publisher)
		return dart_error__no_memory(error);
	publisher->socket = -1;
	ret = path ? connect_local(publisher, path, error) : connect_remote(publisher, name, error);
	if (ret) {
		publisher__close(publisher);
		return ret;
	}
	*result = publisher;
	return 0;
}

void publisher__close(struct publisher *publisher)
{
	if (publisher && publisher->socket >= 0)
		close(publisher->socket);
	free(publisher);
}

int publisher__descriptor(const struct publisher *publisher)
{
	return publisher->socket;
}

/* Takes the greeting once all of it has arrived.  Returns 1, 0 or -EPROTO. */
static int take_greeting(struct publisher *publisher)
{
	const uint32_t here = publisher->end - publisher->start;

	/* Another protocol may send fewer bytes: refuse its first one. */
	if (memcmp(publisher->bytes + publisher->start, greeting_of_publisher,
		   here < GREETING ? here : GREETING))
		return -EPROTO;
	if (here < GREETING)
		return 0;
	publisher->start += GREETING;
	publisher->has_greeted = true;
	return 1;
}

/* Takes a message once all of it has arrived.  Returns 1, 0 or -EPROTO. */
static int take_message(struct publisher *publisher, const uint8_t **message, uint32_t *length)
{
	const uint32_t before = publisher->is_local ? LOCAL + LENGTH : LENGTH;
	const uint32_t here = publisher->end - publisher->start;
	const uint8_t *bytes = publisher->bytes + publisher->start;
	uint64_t announced;

	if (publisher->is_local && here && bytes[0] != LOCAL)
		return -EPROTO;
	if (here < before)
		return 0;
	memcpy(&announced, bytes + before - LENGTH, sizeof(announced));
	announced = be64toh(announced);
	if (announced > PUBLISHER_MESSAGE_MAX)
		return -EPROTO;
	if (here - before < announced)
		return 0;
	*message = bytes + before;
	*length = announced;
	publisher->start += before + announced;
	return 1;
}

/* Receives the bytes that have arrived.  Returns 1, 0 if there are none, or -errno. */
static int receive(struct publisher *publisher)
{
	const uint32_t here = publisher->end - publisher->start;
	ssize_t count;

	/* The rest is shorter than a whole message, so there is room for more. */
	memmove(publisher->bytes, publisher->bytes + publisher->start, here);
	publisher->start = 0;
	publisher->end = here;
	do {
		count = recv(publisher->socket, publisher->bytes + here,
			     sizeof(publisher->bytes) - here, MSG_DONTWAIT);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (!count)
		return -ECONNRESET;
	publisher->end += count;
	return 1;
}

int publisher__next(struct publisher *publisher, const uint8_t **message,
		    uint32_t *length, struct dart_error *error)
{
	int ret = 1;

	while (ret > 0) {
		ret = publisher->has_greeted ? 1 : take_greeting(publisher);
		if (ret > 0) {
			ret = take_message(publisher, message, length);
			if (ret > 0)
				return ret;
		}
		if (!ret)
			ret = receive(publisher);
	}
	if (ret == -EPROTO)
		dart_error__set(error, EPROTO, "it sends what no publisher of nanomsg sends");
	else if (ret)
		dart_error__set(error, -ret, "the connection ended: %s", strerror(-ret));
	return ret;
}

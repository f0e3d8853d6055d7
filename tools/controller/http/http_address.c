// SPDX-License-Identifier: GPL-2.0-only
/* Parses an address, and listens there. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_address.h"

#define BACKLOG 64

struct parts {
	char host[256];		/* "": all addresses */
	char port[8];
};

static int copy(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		return -EINVAL;
	memcpy(to, from, length);
	to[length] = '\0';
	return 0;
}

static int take_port(struct parts *parts, const char *text)
{
	unsigned long port;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	port = strtoul(text, &end, 10);
	if (*end || errno || port > 65535)
		return -EINVAL;
	snprintf(parts->port, sizeof(parts->port), "%lu", port);
	return 0;
}

/* -EINVAL: it is none. */
static int split(const char *address, struct parts *parts)
{
	const char *host = address, *end;
	int ret;

	snprintf(parts->port, sizeof(parts->port), "%d", HTTP_PORT_DEFAULT);
	if (*address == '[') {
		host++;
		end = strchr(host, ']');
		if (!end || end == host)
			return -EINVAL;
		address = end + 1;
	} else {
		end = address + strcspn(address, ":");
		address = end;
	}
	ret = copy(parts->host, sizeof(parts->host), host, end - host);
	if (ret || !*address)
		return ret ?: *parts->host ? 0 : -EINVAL;
	return *address == ':' ? take_port(parts, address + 1) : -EINVAL;
}

bool http_address__is_valid(const char *address)
{
	struct parts parts;

	return !split(address, &parts);
}

bool http_address__has_port(const char *address)
{
	const char *end = *address == '[' ? strchr(address, ']') : address;

	return end && strchr(end, ':');
}

static int listen_at(const struct addrinfo *found)
{
	const int on = 1;
	int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC,
			found->ai_protocol), err;

	if (fd < 0)
		return -errno;
	/* Connections of a server before that wait for late packets hold no address. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, found->ai_addr, found->ai_addrlen) ||
	    listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static const char *remedy(int err)
{
	switch (err) {
	case -EADDRINUSE:
		return " (choose another port, HOST:PORT; ss -ltnp shows the program that has this one)";
	case -EADDRNOTAVAIL:
		return " (is it an address of this host?)";
	case -EACCES:
		return " (only root may listen at ports below 1024: choose another one)";
	}
	return "";
}

int http_address__listen(const char *address, struct dart_error *error)
{
	const struct addrinfo hints = {
		.ai_flags = AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *all, *found;
	struct parts parts;
	char whole[sizeof(parts.host) + sizeof(parts.port) + 4];
	int ret;

	address = address ?: HTTP_ADDRESS_DEFAULT;
	if (split(address, &parts))
		return dart_error__set(
			error, EINVAL,
			"'%s' is not an address to listen at (expected HOST:PORT, [V6]:PORT or :PORT)",
			address);
	snprintf(whole, sizeof(whole), "%s%s%s", address,
		 http_address__has_port(address) ? "" : ":",
		 http_address__has_port(address) ? "" : parts.port);
	ret = getaddrinfo(*parts.host ? parts.host : NULL, parts.port, &hints,
			  &all);
	if (ret)
		return dart_error__set(error, EADDRNOTAVAIL,
				       "cannot listen at '%s': %s", whole,
				       gai_strerror(ret));
	ret = -EADDRNOTAVAIL;
	for (found = all; found && ret < 0; found = found->ai_next)
		ret = listen_at(found);
	freeaddrinfo(all);
	if (ret < 0)
		return dart_error__set(error, -ret,
				       "cannot listen at '%s': %s%s", whole,
				       strerror(-ret), remedy(ret));
	return ret;
}

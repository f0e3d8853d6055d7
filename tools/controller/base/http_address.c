// SPDX-License-Identifier: GPL-2.0-only
/* Parses the address of an HTTP server, and opens sockets that listen there. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_address.h"

#define BACKLOG 64

struct parts {
	char host[256]; /* "": all addresses */
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

/* Returns 0, or -EINVAL if @address is invalid. */
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

void http_address__share(const int *fds, int count, bool shares)
{
	const int on = shares;
	int i;

	for (i = 0; i < count; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
}

/* Returns a descriptor or -errno.  With @takes_both, a socket of IPv6 accepts IPv4, too. */
static int listen_at(const struct sockaddr *address, socklen_t length, bool takes_both,
		     bool shares)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;
	const int on = 1, is_only = !takes_both;

	if (fd < 0)
		return -errno;
	/* The address is free even while closed connections of an earlier server time out. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	http_address__share(&fd, 1, shares);
	if ((address->sa_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &is_only, sizeof(is_only))) ||
	    bind(fd, address, length) || listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* Listens at all addresses of this host, of IPv4 only if it lacks IPv6.  Returns 1 or -errno. */
static int listen_at_all(const struct parts *parts, bool shares, int *fd)
{
	const in_port_t port = htons(strtoul(parts->port, NULL, 10));
	const struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6,
		.sin6_port = port,
		.sin6_addr = IN6ADDR_ANY_INIT,
	};
	const struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_port = port,
		.sin_addr.s_addr = htonl(INADDR_ANY),
	};

	*fd = listen_at((const struct sockaddr *)&v6, sizeof(v6), true, shares);
	if (*fd == -EAFNOSUPPORT || *fd == -EADDRNOTAVAIL)
		*fd = listen_at((const struct sockaddr *)&v4, sizeof(v4), false, shares);
	return *fd < 0 ? *fd : 1;
}

static void set_port(struct sockaddr *address, in_port_t port)
{
	if (address->sa_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port = port;
	else
		((struct sockaddr_in6 *)address)->sin6_port = port;
}

/* The port of the socket @fd: with port 0 in the address, the kernel chose it. */
static in_port_t port_of(int fd)
{
	struct sockaddr_storage address = {};
	socklen_t length = sizeof(address);

	getsockname(fd, (struct sockaddr *)&address, &length);
	return address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port :
					      ((struct sockaddr_in6 *)&address)->sin6_port;
}

/* True if one of @fds listens at @found: /etc/hosts may list an address of a name twice. */
static bool has_socket(const int *fds, int count, const struct addrinfo *found)
{
	struct sockaddr_storage address;
	socklen_t length;
	int i;

	for (i = 0; i < count; i++) {
		length = sizeof(address);
		memset(&address, 0, sizeof(address));
		if (!getsockname(fds[i], (struct sockaddr *)&address, &length) &&
		    length == found->ai_addrlen && !memcmp(&address, found->ai_addr, length))
			return true;
	}
	return false;
}

/*
 * Listens at each address of @found and skips addresses that do not belong to this host, such as
 * ::1 without IPv6; an error if none is left.  Returns the number of sockets or -errno.
 */
static int listen_at_each(struct addrinfo *found, bool shares, int fds[static HTTP_SOCKETS_MAX])
{
	int count = 0, ret = -EADDRNOTAVAIL;

	for (; found && count < HTTP_SOCKETS_MAX; found = found->ai_next) {
		if (found->ai_family != AF_INET && found->ai_family != AF_INET6)
			continue;
		if (count)
			set_port(found->ai_addr, port_of(fds[0]));
		if (has_socket(fds, count, found))
			continue;
		fds[count] = listen_at(found->ai_addr, found->ai_addrlen, false, shares);
		if (fds[count] >= 0) {
			count++;
			continue;
		}
		ret = fds[count];
		if (ret != -EADDRNOTAVAIL && ret != -EAFNOSUPPORT)
			goto err;
	}
	return count ?: ret;

err:
	while (count)
		close(fds[--count]);
	return ret;
}

bool http_address__is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct in6_addr *v6;

	if (address->sa_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	if (address->sa_family != AF_INET6)
		return false;
	v6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
	return IN6_IS_ADDR_LOOPBACK(v6) ||
	       (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET);
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

int http_address__listen(const char *address, bool shares, int fds[static HTTP_SOCKETS_MAX],
			 struct dart_error *error)
{
	const struct addrinfo hints = {
		.ai_flags = AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *all;
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
	if (*parts.host) {
		ret = getaddrinfo(parts.host, parts.port, &hints, &all);
		if (ret)
			return dart_error__set(error, EADDRNOTAVAIL, "cannot listen at '%s': %s",
					       whole, gai_strerror(ret));
		ret = listen_at_each(all, shares, fds);
		freeaddrinfo(all);
	} else {
		ret = listen_at_all(&parts, shares, fds);
	}
	if (ret < 0)
		return dart_error__set(error, -ret, "cannot listen at '%s': %s%s", whole,
				       strerror(-ret), remedy(ret));
	return ret;
}

/* Copies the name of this host, or "localhost" if no name is set. */
static void name_host(char name[static NI_MAXHOST])
{
	if (gethostname(name, NI_MAXHOST - 1) || !*name)
		strcpy(name, "localhost");
	name[NI_MAXHOST - 1] = '\0';
}

void http_address__url(const struct sockaddr *address, bool is_local, const char *scheme,
		       char url[HTTP_URL_MAX])
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	const bool is_of_v6 = address->sa_family == AF_INET6;
	bool is_v6 = is_of_v6;
	char host[NI_MAXHOST] = "localhost";

	if (is_v6 ? IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr) :
		    v4->sin_addr.s_addr == htonl(INADDR_ANY)) {
		name_host(host);
		is_v6 = false;
	} else if (is_local ||
		   getnameinfo(address, is_v6 ? sizeof(*v6) : sizeof(*v4), host, sizeof(host), NULL,
			       0, NI_NUMERICHOST)) {
		is_v6 = false;
	}
	snprintf(url, HTTP_URL_MAX, "%s://%s%.250s%s:%u/", scheme, is_v6 ? "[" : "", host,
		 is_v6 ? "]" : "", ntohs(is_of_v6 ? v6->sin6_port : v4->sin_port));
}

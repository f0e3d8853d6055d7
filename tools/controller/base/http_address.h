/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address that an HTTP server listens at: "HOST", "HOST:PORT", "[V6]", "[V6]:PORT", or
 * ":PORT", which is all addresses, of IPv4 and of IPv6.
 */
#ifndef CONTROLLER_HTTP_ADDRESS_H
#define CONTROLLER_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include <libdart/error.h>

/* Beside 4792 and 4793 of agents. */
#define HTTP_PORT_DEFAULT 4794
#define HTTP_ADDRESS_DEFAULT "127.0.0.1"
/* Of the addresses that a name has, as many are used. */
#define HTTP_SOCKETS_MAX 8

bool http_address__is_valid(const char *address);
/* @address is valid. */
bool http_address__has_port(const char *address);

/*
 * Sockets that listen at each address that @address has on this host, all at the same port;
 * NULL: the default.  Returns their number, or -errno with a sentence and no socket.
 */
int http_address__listen(const char *address, int fds[static HTTP_SOCKETS_MAX],
			 struct dart_error *error);

/* Is @address, of either family, one of this host that no other host can reach? */
bool http_address__is_loopback(const struct sockaddr *address);

#endif /* CONTROLLER_HTTP_ADDRESS_H */

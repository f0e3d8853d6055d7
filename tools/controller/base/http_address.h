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

/* Agents use 4792 and 4793. */
#define HTTP_PORT_DEFAULT 4794
#define HTTP_ADDRESS_DEFAULT "127.0.0.1"
/* A host name may resolve to more addresses: the server listens at the first ones. */
#define HTTP_SOCKETS_MAX 8

bool http_address__is_valid(const char *address);
/* True if the valid @address includes a port. */
bool http_address__has_port(const char *address);

/*
 * Opens sockets that listen at each address of this host that @address resolves to, all at the
 * same port.  NULL stands for the default address.  With @shares, sockets that share an address may
 * listen there already, see http_address__share().  Returns the number of @fds, which the caller
 * closes, or -errno with a sentence in @error and no open socket.
 */
int http_address__listen(const char *address, bool shares, int fds[static HTTP_SOCKETS_MAX],
			 struct dart_error *error);
/* Lets further sockets of this user that share as well listen at the addresses of @fds, or no more. */
void http_address__share(const int *fds, int count, bool shares);

/* True if only programs of this host can reach @address, which is IPv4 or IPv6. */
bool http_address__is_loopback(const struct sockaddr *address);

#define HTTP_URL_MAX 320 /* bytes, for a host name of up to 253 */

/*
 * Prints the URL under which browsers find a server at @address: "http://localhost:4795/", or
 * https; with the address in place of localhost, or the name of this host if the server listens at
 * all addresses.  @is_local: only programs of this host can reach it.
 */
void http_address__url(const struct sockaddr *address, bool is_local, const char *scheme,
		       char url[HTTP_URL_MAX]);

#endif /* CONTROLLER_HTTP_ADDRESS_H */

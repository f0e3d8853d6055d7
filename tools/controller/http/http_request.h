/* SPDX-License-Identifier: GPL-2.0-only */
/* A request of a peer of an HTTP server: see http_server.h. */
#ifndef CONTROLLER_HTTP_REQUEST_H
#define CONTROLLER_HTTP_REQUEST_H

#include <stdbool.h>

struct MHD_Connection;
struct http_access;
struct http_head;

struct http_request {
	struct MHD_Connection *connection;
	const struct http_head *head; /* NULL before the head was read, and after the request */
	const struct http_access *access; /* of the server, while a page answers; NULL: none */
};

/* Bytes of a numeric address and a port, "[V6]:PORT". */
#define HTTP_ADDRESS_TEXT_MAX 72

/* Returns NULL without such an argument, and "" without a value; valid until the page returns. */
const char *http_request__argument(const struct http_request *request, const char *name);
/* Returns the name, with its port, by which the request calls the server; NULL without a name. */
const char *http_request__host(const struct http_request *request);
const char *http_request__header(const struct http_request *request, const char *name);

/* Returns the value of a cookie; NULL without this cookie. */
const char *http_request__cookie(const struct http_request *request, const char *name);
/* True if no other host can connect to the address at which the request arrived. */
bool http_request__is_at_loopback(const struct http_request *request);
/* Does the request come from this host, and not from a proxy that says so? */
bool http_request__is_from_this_host(const struct http_request *request);
/*
 * Print the address of the server at which the request arrived, and the address of the peer without
 * a port.
 */
void http_request__own_address(const struct http_request *request,
			       char text[static HTTP_ADDRESS_TEXT_MAX]);
void http_request__peer(const struct http_request *request,
			char text[static HTTP_ADDRESS_TEXT_MAX]);
/* Returns the descriptor of the connection. */
int http_request__fd(const struct http_request *request);

#endif /* CONTROLLER_HTTP_REQUEST_H */

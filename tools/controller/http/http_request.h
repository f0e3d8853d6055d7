/* SPDX-License-Identifier: GPL-2.0-only */
/* What a peer asks an HTTP server: see http_server.h. */
#ifndef CONTROLLER_HTTP_REQUEST_H
#define CONTROLLER_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;
struct http_head;

struct http_request {
	struct MHD_Connection *connection;
	const struct http_head *head; /* NULL: before it is there, and after the request */
};

/* A numeric address and a port, "[V6]:PORT". */
#define HTTP_ADDRESS_TEXT_MAX 72

/* NULL if the request has none, "" if it has no value; valid until the page returns. */
const char *http_request__argument(const struct http_request *request, const char *name);
/* By which name and port the request calls the server; NULL: it does not say. */
const char *http_request__host(const struct http_request *request);
const char *http_request__header(const struct http_request *request, const char *name);

/* A cookie that the request has; NULL: none. */
const char *http_request__cookie(const struct http_request *request, const char *name);
/* Can no other host connect to the address that the request came to? */
bool http_request__is_at_loopback(const struct http_request *request);
/* Does the request come from this host, not passed on by a proxy that says so? */
bool http_request__is_from_this_host(const struct http_request *request);
/* The address of the server that the request came to, and that of the peer without its port. */
void http_request__own_address(const struct http_request *request,
			       char text[static HTTP_ADDRESS_TEXT_MAX]);
void http_request__peer(const struct http_request *request,
			char text[static HTTP_ADDRESS_TEXT_MAX]);
/* The descriptor of its connection. */
int http_request__fd(const struct http_request *request);

#endif /* CONTROLLER_HTTP_REQUEST_H */

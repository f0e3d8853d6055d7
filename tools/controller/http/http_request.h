/* SPDX-License-Identifier: GPL-2.0-only */
/* What a peer asks an HTTP server: see http_server.h. */
#ifndef CONTROLLER_HTTP_REQUEST_H
#define CONTROLLER_HTTP_REQUEST_H

#include <stdbool.h>

struct MHD_Connection;

struct http_request {
	struct MHD_Connection *connection;
};

/* NULL if the request has none; valid until the page returns. */
const char *http_request__argument(const struct http_request *request,
				   const char *name);
const char *http_request__header(const struct http_request *request,
				 const char *name);

/* A cookie that the request has; NULL: none. */
const char *http_request__cookie(const struct http_request *request,
				 const char *name);
/* Can no other host connect to the address that the request came to? */
bool http_request__is_at_loopback(const struct http_request *request);
/* Does the request come from this host, not passed on by a proxy that says so? */
bool http_request__is_from_this_host(const struct http_request *request);
/* The descriptor of its connection. */
int http_request__fd(const struct http_request *request);

#endif /* CONTROLLER_HTTP_REQUEST_H */

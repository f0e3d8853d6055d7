/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTTP server of a controller: pages by their path, by GET and HEAD (RFC 9110), without
 * TLS and without write operations.  A thread of its own serves all peers, so that pages
 * delay no other thread.  Peers are strangers: connections are bounded, and those that are
 * idle or slow end.
 */
#ifndef CONTROLLER_HTTP_SERVER_H
#define CONTROLLER_HTTP_SERVER_H

#include <stddef.h>

#include <libdart/error.h>

#define HTTP_CONNECTIONS_MAX	256
#define HTTP_PEER_CONNECTIONS_MAX 64	/* of one address */
#define HTTP_IDLE_SECONDS	30

struct http_request;

/* NULL if the request has none; valid until the page returns. */
const char *http_request__argument(const struct http_request *request,
				   const char *name);
const char *http_request__header(const struct http_request *request,
				 const char *name);

/* Zeros, but for a status of 200, when a page is called. */
struct http_answer {
	unsigned int status;
	const char *type;	/* of the content; static */
	char *body;		/* allocated by malloc(); the server frees it */
	size_t length;
};

/*
 * Fills in @answer, in the server's thread.  An answer without a body has the standard
 * text of its status.
 */
typedef void http_page_function(void *data, const struct http_request *request,
				struct http_answer *answer);

struct http_page {
	const char *path;	/* "/metrics" */
	http_page_function *fill;
	void *data;
};

struct http_server;

/*
 * Serves @pages, which outlive the server, at @address, see http_address.h.  Returns 0, or
 * -errno with a sentence in @error.
 */
int http_server__new(const char *address, const struct http_page *pages,
		     size_t count, struct http_server **server,
		     struct dart_error *error);
/* The port that it listens at. */
unsigned int http_server__port(const struct http_server *server);
/* No page is called any more.  NULL is allowed. */
void http_server__free(struct http_server *server);

#endif /* CONTROLLER_HTTP_SERVER_H */

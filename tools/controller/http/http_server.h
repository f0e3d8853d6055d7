/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTTP server of a controller: pages by their path, by GET and HEAD (RFC 9110), without
 * TLS and without write operations.  A thread of its own serves all peers, so that pages
 * delay no other thread.  Peers are strangers: connections are bounded, and those that are
 * idle or slow end.
 */
#ifndef CONTROLLER_HTTP_SERVER_H
#define CONTROLLER_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <libdart/error.h>

#define HTTP_CONNECTIONS_MAX	256
#define HTTP_PEER_CONNECTIONS_MAX 64	/* of one address */
#define HTTP_IDLE_SECONDS	30

/* Streams that are open at the same time. */
#define HTTP_STREAMS_MAX	32

struct http_request;

/* NULL if the request has none; valid until the page returns. */
const char *http_request__argument(const struct http_request *request,
				   const char *name);
const char *http_request__header(const struct http_request *request,
				 const char *name);

/* A cookie that the request has; NULL: none. */
const char *http_request__cookie(const struct http_request *request,
				 const char *name);

/*
 * A body without an end, such as server-sent events.  It is read only as far as the peer
 * takes it: one that is slow delays no other, and ends after HTTP_IDLE_SECONDS in which it
 * takes nothing.
 */
struct http_stream;

struct http_stream_operations {
	/* Before the first read: @stream may be woken until free() returns. */
	void (*start)(void *data, struct http_stream *stream);
	/*
	 * Writes the next bytes, up to @size, and returns how many; 0: there are none until
	 * http_stream__wake() is called; -errno: the body ends here.
	 */
	ssize_t (*read)(void *data, char *buffer, size_t size);
	/* Also without a start(), if there are too many streams. */
	void (*free)(void *data);
};

/* In any thread, also with locks held that operations take: there is something to read. */
void http_stream__wake(struct http_stream *stream);

struct http_header {
	const char *name, *value;
};

/* Zeros, but for a status of 200, when a page is called. */
struct http_answer {
	unsigned int status;
	const char *type;	/* of the content; static */
	char *body;		/* allocated by malloc(); the server frees it */
	size_t length;
	/* In place of a body; called in the server's thread. */
	const struct http_stream_operations *stream;
	void *stream_data;
	/* Further ones; static. */
	const struct http_header *headers;
	size_t header_count;
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
/* Can only programs of this host connect? */
bool http_server__is_local(const struct http_server *server);

#define HTTP_URL_MAX 320	/* bytes, with a host name of 253 */

/*
 * Where browsers find the server: "http://localhost:4795/", its address in place of
 * localhost, or the name of this host if it listens at all addresses.
 */
void http_server__url(const struct http_server *server, char url[HTTP_URL_MAX]);
/* Ends all streams; no page is called any more.  NULL is allowed. */
void http_server__free(struct http_server *server);

#endif /* CONTROLLER_HTTP_SERVER_H */

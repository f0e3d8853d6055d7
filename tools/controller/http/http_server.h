/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTTP server of a controller: pages by their path (RFC 9110), over TLS if configured.  Its own
 * threads serve all peers, so that pages delay no other thread.  Peers are strangers:
 * http_connections.h limits their connections, and idle or slow connections are closed.
 */
#ifndef CONTROLLER_HTTP_SERVER_H
#define CONTROLLER_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <libdart/error.h>

#include "http_request.h"
#include "tools/controller/base/http_address.h"

#define HTTP_IDLE_SECONDS 30
/* Upper limit of serving threads. */
#define HTTP_THREADS_MAX 16

/* Limit of open streams, unless the options set another one. */
#define HTTP_STREAMS_MAX 32

/*
 * A body without an end, such as server-sent events.  The server reads it only as fast as the peer
 * takes it.  A slow peer delays no other peer, and its stream ends once it took nothing for
 * HTTP_IDLE_SECONDS.
 */
struct http_stream;

struct http_stream_operations {
	/* Called before the first read.  From now on until free() returns, @stream may be woken. */
	void (*start)(void *data, struct http_stream *stream);
	/*
	 * Writes the next bytes, up to @size, and returns their number.  0: no bytes until
	 * http_stream__wake() is called.  -ENOENT: the body ends here.  Another -errno: the server
	 * resets the connection in the middle of the body, so that the peer notices.
	 */
	ssize_t (*read)(void *data, char *buffer, size_t size);
	/* May be NULL.  The peer took nothing for HTTP_IDLE_SECONDS; free() follows. */
	void (*timed_out)(void *data);
	/* Called even without start(), if there are too many streams. */
	void (*free)(void *data);
};

/* Tells that bytes can be read.  Works in any thread, even with locks held that operations take. */
void http_stream__wake(struct http_stream *stream);

struct http_header {
	const char *name, *value;
};

/* A page gets it with the status 200 and all other members zero. */
struct http_answer {
	unsigned int status;
	const char *type; /* Content-Type; static */
	char *body; /* allocated by malloc(); the server frees it */
	size_t length;
	/* In place of a body.  Its operations run in threads of the server, one at a time. */
	const struct http_stream_operations *stream;
	void *stream_data;
	/* Content-Encoding of body and stream; static; NULL lets the server choose. */
	const char *encoding;
	/* Further headers; static. */
	const struct http_header *headers;
	size_t header_count;
};

/*
 * Fills in @answer, in a thread of the server.  An answer without a body gets the standard text of
 * its status.
 */
typedef void http_page_function(void *data, const struct http_request *request,
				struct http_answer *answer);

struct http_page {
	const char *path; /* "/metrics" */
	http_page_function *fill;
	void *data;
	bool is_action; /* changes something: POST instead of GET and HEAD */
	bool is_open; /* everybody may ask, or fill() itself checks who asks */
};

struct http_server;
struct http_access;

struct http_server_options {
	const char *address; /* see http_address.h; NULL: the default */
	const struct http_page *pages;
	size_t page_count;
	/* Decides who may ask for pages that are not open; NULL: all pages are open. */
	const struct http_access *access;
	bool pages_decide; /* by http_request.access: to the server, all pages are open */
	/*
	 * Without a secret in @access, the server is refused with this remedy if other hosts can
	 * connect; NULL: it is not.
	 */
	const char *remedy;
	struct http_server *before; /* ends afterwards, so both may have one address; NULL: none */
	unsigned int threads; /* threads for pages and streams, up to HTTP_THREADS_MAX; 0: one */
	unsigned int streams; /* limit of open streams; 0: HTTP_STREAMS_MAX */
	/* Paths of PEM files, both or none.  With them the server speaks only TLS 1.2 and 1.3. */
	const char *certificate, *key;
};

/*
 * Serves pages.  Pages and access outlive the server.  Returns 0, or -errno with a sentence in
 * @error.
 */
int http_server__new(const struct http_server_options *options, struct http_server **server,
		     struct dart_error *error);
/*
 * Reads the files of certificate and key again.  If they have changed, new connections use them,
 * and all others end.  Returns 0; or -errno with a sentence in @error, and nothing changes.  Call
 * this outside the threads of the server, in one thread at a time.
 */
int http_server__reload(struct http_server *server, struct dart_error *error);
/* Returns the port at which the server listens. */
unsigned int http_server__port(const struct http_server *server);
/* True if only programs of this host can connect. */
bool http_server__is_local(const struct http_server *server);

/* See http_address__url(). */
void http_server__url(const struct http_server *server, char url[HTTP_URL_MAX]);
/* Ends all streams; afterwards no page is called.  NULL is allowed. */
void http_server__free(struct http_server *server);

#endif /* CONTROLLER_HTTP_SERVER_H */

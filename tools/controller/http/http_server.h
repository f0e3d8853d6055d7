/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTTP server of a controller: pages by their path (RFC 9110), also by TLS.  Threads of its
 * own serve all peers, so that pages delay no other thread.  Peers are strangers: connections
 * are bounded (http_connections.h), and those that are idle or slow end.
 */
#ifndef CONTROLLER_HTTP_SERVER_H
#define CONTROLLER_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <libdart/error.h>

#include "http_request.h"

#define HTTP_IDLE_SECONDS 30
/* Threads that serve, at most. */
#define HTTP_THREADS_MAX 16

/* Streams that are open at the same time, unless the server has another bound. */
#define HTTP_STREAMS_MAX 32

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
	 * http_stream__wake() is called; -ENOENT: the body ends here; another -errno: the
	 * connection is reset in the middle of the body, so that the peer can tell.
	 */
	ssize_t (*read)(void *data, char *buffer, size_t size);
	/* May be NULL.  The peer took nothing for HTTP_IDLE_SECONDS: free() follows. */
	void (*timed_out)(void *data);
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
	const char *type; /* of the content; static */
	char *body; /* allocated by malloc(); the server frees it */
	size_t length;
	/* In place of a body; called in threads of the server, in one at a time. */
	const struct http_stream_operations *stream;
	void *stream_data;
	/* That body and stream are in; static; NULL: as the server likes. */
	const char *encoding;
	/* Further ones; static. */
	const struct http_header *headers;
	size_t header_count;
};

/*
 * Fills in @answer, in a thread of the server.  An answer without a body has the standard
 * text of its status.
 */
typedef void http_page_function(void *data, const struct http_request *request,
				struct http_answer *answer);

struct http_page {
	const char *path; /* "/metrics" */
	http_page_function *fill;
	void *data;
	bool is_action; /* by POST, not by GET and HEAD: it changes something */
	bool is_open; /* everybody may ask, or fill() looks who does */
};

struct http_server;
struct http_access;

struct http_server_options {
	const char *address; /* see http_address.h; NULL: the default */
	const struct http_page *pages;
	size_t page_count;
	/* Who may ask for pages that are not open; NULL: all are open. */
	const struct http_access *access;
	unsigned int threads; /* that call pages and streams, up to HTTP_THREADS_MAX; 0: one */
	unsigned int streams; /* at the same time; 0: HTTP_STREAMS_MAX */
	/* Paths of PEM files, both or none: with them there is TLS 1.2 and 1.3, and nothing else. */
	const char *certificate, *key;
};

/*
 * Serves pages.  Pages and access outlive the server.  Returns 0, or -errno with a sentence in
 * @error.
 */
int http_server__new(const struct http_server_options *options, struct http_server **server,
		     struct dart_error *error);
/*
 * Reads the files of certificate and key again: if they have changed, new connections are served
 * with them, and the others end.  Returns 0; or -errno with a sentence, and all is as it was.  Not
 * in a thread of the server, and in one at a time.
 */
int http_server__reload(struct http_server *server, struct dart_error *error);
/* The port that it listens at. */
unsigned int http_server__port(const struct http_server *server);
/* Can only programs of this host connect? */
bool http_server__is_local(const struct http_server *server);

#define HTTP_URL_MAX 320 /* bytes, with a host name of 253 */

/*
 * Where browsers find the server: "http://localhost:4795/", or https, its address in place of
 * localhost, or the name of this host if it listens at all addresses.
 */
void http_server__url(const struct http_server *server, char url[HTTP_URL_MAX]);
/* Ends all streams; no page is called any more.  NULL is allowed. */
void http_server__free(struct http_server *server);

#endif /* CONTROLLER_HTTP_SERVER_H */

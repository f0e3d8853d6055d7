/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The streams of an HTTP server.  A stream that has nothing to send is suspended by
 * libmicrohttpd, and resumed when it is woken.
 */
#ifndef CONTROLLER_HTTP_SERVER_STREAM_H
#define CONTROLLER_HTTP_SERVER_STREAM_H

#include <microhttpd.h>

#include "http_server.h"

struct http_streams;

/* Of @max at the same time.  NULL: out of memory. */
struct http_streams *http_streams__new(unsigned int max);
/* The server has stopped: there are none any more. */
void http_streams__free(struct http_streams *streams);

/*
 * In a thread of the server: takes the stream of @answer, and sets @stream to it, which the
 * response frees.  NULL: there are too many, or no memory; then the stream has been freed.
 */
struct MHD_Response *http_streams__add(struct http_streams *streams,
				       const struct http_answer *answer,
				       struct MHD_Connection *connection,
				       struct http_stream **stream);
/* In a thread of the server, before it is freed: its peer took nothing for HTTP_IDLE_SECONDS. */
void http_stream__time_out(struct http_stream *stream);
/* None is suspended any more, and each is cut off when it is read: the server can stop. */
void http_streams__end(struct http_streams *streams);

#endif /* CONTROLLER_HTTP_SERVER_STREAM_H */

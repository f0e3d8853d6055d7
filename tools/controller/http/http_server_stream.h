/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The streams of an HTTP server. libmicrohttpd suspends a stream without bytes to send, and resumes
 * it when it is woken.
 */
#ifndef CONTROLLER_HTTP_SERVER_STREAM_H
#define CONTROLLER_HTTP_SERVER_STREAM_H

#include <microhttpd.h>

#include "http_server.h"

struct http_streams;

/* Allows @max streams at a time.  Returns NULL if out of memory. */
struct http_streams *http_streams__new(unsigned int max);
/* Call this after the server has stopped, when no stream is left. */
void http_streams__free(struct http_streams *streams);

/*
 * Makes a response of the stream of @answer, in a thread of the server, and sets @stream, which the
 * response frees.  Returns NULL with the stream freed if there are too many streams, or no memory.
 */
struct MHD_Response *http_streams__add(struct http_streams *streams,
				       const struct http_answer *answer,
				       struct MHD_Connection *connection,
				       struct http_stream **stream);
/*
 * Tells a stream, in a thread of the server and before it is freed, that its peer took nothing for
 * HTTP_IDLE_SECONDS.
 */
void http_stream__time_out(struct http_stream *stream);
/* Resumes all streams and makes the next read of each cut it off, so that the server can stop. */
void http_streams__end(struct http_streams *streams);

#endif /* CONTROLLER_HTTP_SERVER_STREAM_H */

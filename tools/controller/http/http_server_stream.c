// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: see http_server_stream.h.
 *
 * Locks are taken in this order: the lock of all streams, the lock of a stream, locks inside
 * libmicrohttpd.  No operation of a stream is called with one of these held.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "http_server_stream.h"

/* Size of a stream's buffer in libmicrohttpd. */
#define BLOCK_BYTES (32U << 10)

struct http_streams {
	pthread_mutex_t lock;
	struct http_stream *first;
	unsigned int count, max;
	bool is_ending;
};

struct http_stream {
	struct http_streams *streams;
	struct http_stream *next, *previous; /* protected by the lock of streams */
	const struct http_stream_operations *operations;
	void *data;
	struct MHD_Connection *connection;

	pthread_mutex_t lock;
	bool is_suspended;
	bool is_woken; /* since the last read began */
	bool is_ending;
};

struct http_streams *http_streams__new(unsigned int max)
{
	struct http_streams *streams = calloc(1, sizeof(*streams));

	if (!streams)
		return NULL;
	streams->max = max;
	pthread_mutex_init(&streams->lock, NULL);
	return streams;
}

void http_streams__free(struct http_streams *streams)
{
	pthread_mutex_destroy(&streams->lock);
	free(streams);
}

/* Returns false if there are enough streams. */
static bool streams__link(struct http_streams *streams, struct http_stream *stream)
{
	bool has_room;

	pthread_mutex_lock(&streams->lock);
	has_room = !streams->is_ending && streams->count < streams->max;
	if (has_room) {
		stream->next = streams->first;
		if (stream->next)
			stream->next->previous = stream;
		streams->first = stream;
		streams->count++;
	}
	pthread_mutex_unlock(&streams->lock);
	return has_room;
}

static void streams__unlink(struct http_streams *streams, struct http_stream *stream)
{
	pthread_mutex_lock(&streams->lock);
	if (stream->next)
		stream->next->previous = stream->previous;
	if (stream->previous)
		stream->previous->next = stream->next;
	else
		streams->first = stream->next;
	streams->count--;
	pthread_mutex_unlock(&streams->lock);
}

/* Suspends the stream unless it was woken since its last read began. */
static bool stream__suspend(struct http_stream *stream)
{
	bool is_idle;

	pthread_mutex_lock(&stream->lock);
	is_idle = !stream->is_woken && !stream->is_ending;
	if (is_idle) {
		stream->is_suspended = true;
		MHD_suspend_connection(stream->connection);
	}
	pthread_mutex_unlock(&stream->lock);
	return is_idle;
}

static bool stream__begin_read(struct http_stream *stream)
{
	bool is_ending;

	pthread_mutex_lock(&stream->lock);
	stream->is_woken = false;
	is_ending = stream->is_ending;
	pthread_mutex_unlock(&stream->lock);
	return !is_ending;
}

/* Resets the connection, because peers of HTTP/1.0 would take its close for the end of the body. */
static void stream__reset(const struct http_stream *stream)
{
	static const struct sockaddr nothing = { .sa_family = AF_UNSPEC };
	const struct http_request request = { .connection = stream->connection };

	connect(http_request__fd(&request), &nothing, sizeof(nothing));
}

static ssize_t on_read(void *data, uint64_t position, char *buffer, size_t size)
{
	struct http_stream *stream = data;
	ssize_t got = -ECANCELED;

	while (stream__begin_read(stream)) {
		got = stream->operations->read(stream->data, buffer, size);
		if (got > 0)
			return got;
		if (got < 0)
			break;
		if (stream__suspend(stream))
			return 0;
	}
	if (got == -ENOENT)
		return MHD_CONTENT_READER_END_OF_STREAM;
	stream__reset(stream);
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

static void on_free(void *data)
{
	struct http_stream *stream = data;

	/* After free() nobody wakes the stream. */
	stream->operations->free(stream->data);
	streams__unlink(stream->streams, stream);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
}

struct MHD_Response *http_streams__add(struct http_streams *streams,
				       const struct http_answer *answer,
				       struct MHD_Connection *connection,
				       struct http_stream **streamp)
{
	struct http_stream *stream = calloc(1, sizeof(*stream));
	struct MHD_Response *response = NULL;

	if (!stream) {
		answer->stream->free(answer->stream_data);
		return NULL;
	}
	*stream = (struct http_stream){
		.streams = streams,
		.operations = answer->stream,
		.data = answer->stream_data,
		.connection = connection,
	};
	/* http_streams__end() may find the stream as soon as it is linked. */
	pthread_mutex_init(&stream->lock, NULL);
	if (!streams__link(streams, stream)) {
		answer->stream->free(answer->stream_data);
		pthread_mutex_destroy(&stream->lock);
		free(stream);
		return NULL;
	}
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read, stream,
						     on_free);
	if (!response) {
		on_free(stream);
		return NULL;
	}
	stream->operations->start(stream->data, stream);
	*streamp = stream;
	return response;
}

void http_stream__time_out(struct http_stream *stream)
{
	if (stream->operations->timed_out)
		stream->operations->timed_out(stream->data);
}

void http_stream__wake(struct http_stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	stream->is_woken = true;
	if (stream->is_suspended) {
		stream->is_suspended = false;
		MHD_resume_connection(stream->connection);
	}
	pthread_mutex_unlock(&stream->lock);
}

void http_streams__end(struct http_streams *streams)
{
	struct http_stream *stream;

	pthread_mutex_lock(&streams->lock);
	streams->is_ending = true;
	for (stream = streams->first; stream; stream = stream->next) {
		pthread_mutex_lock(&stream->lock);
		stream->is_ending = true;
		if (stream->is_suspended) {
			stream->is_suspended = false;
			MHD_resume_connection(stream->connection);
		}
		pthread_mutex_unlock(&stream->lock);
	}
	pthread_mutex_unlock(&streams->lock);
}

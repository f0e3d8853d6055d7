/* SPDX-License-Identifier: GPL-2.0-only */
/* An HTTP server with pages and streams of the test. */
#ifndef HTTP_SERVER_SCENE_H
#define HTTP_SERVER_SCENE_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/controller/base/gzip.h"
#include "tools/controller/base/http_address.h"
#include "tools/controller/http/http_access.h"
#include "tools/controller/http/http_connections.h"
#include "tools/controller/http/http_server.h"
#include "http_peer.h"
#include "selftests/unit/unit.h"

#define BODY_BYTES 20000

static inline void fill_words(void *data, const struct http_request *request, struct http_answer *answer)
{
	const char *word = http_request__argument(request, "word");
	const char *accept = http_request__header(request, "Accept");

	answer->type = "text/plain; version=7";
	if (asprintf(&answer->body, "%s %s %s\n", (const char *)data,
		     word ?: "-", accept ?: "-") > 0)
		answer->length = strlen(answer->body);
}

static inline void fill_long(void *data, const struct http_request *request, struct http_answer *answer)
{
	answer->body = malloc(BODY_BYTES);
	answer->length = answer->body ? BODY_BYTES : 0;
	if (answer->body)
		memset(answer->body, 'x', BODY_BYTES);
}

static inline void fill_nothing(void *data, const struct http_request *request, struct http_answer *answer)
{
}

static inline void refuse(void *data, const struct http_request *request, struct http_answer *answer)
{
	answer->status = 400;
	answer->body = strdup("this is why\n");
	answer->length = answer->body ? strlen(answer->body) : 0;
}

struct lines {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct http_stream *stream; /* of the last that began */
	int began, freed;
	int wanted, told;
	bool is_endless; /* there is always more */
	uint64_t bytes;
};

static struct lines lines;

static inline void lines_start(void *data, struct http_stream *stream)
{
	pthread_mutex_lock(&lines.lock);
	lines.stream = stream;
	lines.began++;
	pthread_cond_broadcast(&lines.changed);
	pthread_mutex_unlock(&lines.lock);
}

static inline ssize_t lines_read(void *data, char *buffer, size_t size)
{
	ssize_t length = 0;

	pthread_mutex_lock(&lines.lock);
	if (lines.is_endless) {
		memset(buffer, 'y', size);
		length = size;
	} else if (lines.wanted < 0) {
		length = -ENOENT;
	} else if (lines.told < lines.wanted) {
		length = snprintf(buffer, size, "line %d\n", lines.told++);
	}
	lines.bytes += length > 0 ? length : 0;
	pthread_cond_broadcast(&lines.changed);
	pthread_mutex_unlock(&lines.lock);
	return length;
}

static inline void lines_free(void *data)
{
	pthread_mutex_lock(&lines.lock);
	lines.freed++;
	lines.stream = NULL;
	pthread_cond_broadcast(&lines.changed);
	pthread_mutex_unlock(&lines.lock);
}

static inline void fill_lines(void *data, const struct http_request *request, struct http_answer *answer)
{
	static const struct http_stream_operations operations = {
		.start = lines_start,
		.read = lines_read,
		.free = lines_free,
	};
	static const struct http_header headers[] = { { "X-Lines", "some" } };

	answer->type = "text/event-stream";
	answer->stream = &operations;
	answer->headers = headers;
	answer->header_count = 1;
}

static const struct http_page pages[] = {
	{ .path = "/lines", .fill = fill_lines, .data = NULL },
	{ .path = "/words", .fill = fill_words, .data = "word:" },
	{ .path = "/long", .fill = fill_long, .data = NULL },
	{ .path = "/nothing", .fill = fill_nothing, .data = NULL },
	{ .path = "/refused", .fill = refuse, .data = NULL },
};

/* Before there are threads of a server. */
static inline void reset_lines(void)
{
	pthread_mutex_destroy(&lines.lock);
	pthread_cond_destroy(&lines.changed);
	memset(&lines, 0, sizeof(lines));
	pthread_mutex_init(&lines.lock, NULL);
	pthread_cond_init(&lines.changed, NULL);
}

static inline int serve_at(const char *address, struct http_server **server, struct dart_error *error)
{
	const struct http_server_options options = {
		.address = address,
		.pages = pages,
		.page_count = sizeof(pages) / sizeof(pages[0]),
	};

	return http_server__new(&options, server, error);
}

static inline struct http_server *serve(void)
{
	struct http_server *server = NULL;
	struct dart_error error;

	reset_lines();
	assert_int_equal(serve_at("127.0.0.1:0", &server, &error), 0);
	return server;
}

static inline int begin_lines(const struct http_server *server, int count)
{
	int fd = connect_to(server);
	const char request[] = "GET /lines HTTP/1.1\r\nHost: h\r\n\r\n";

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	pthread_mutex_lock(&lines.lock);
	while (lines.began < count)
		pthread_cond_wait(&lines.changed, &lines.lock);
	pthread_mutex_unlock(&lines.lock);
	return fd;
}

static inline void read_until(int fd, const char *end)
{
	static char text[1 << 16];
	size_t length = 0;
	ssize_t got;

	do {
		got = recv(fd, text + length, sizeof(text) - 1 - length, 0);
		assert_true(got > 0);
		length += got;
		text[length] = '\0';
	} while (!strstr(text, end));
}

#endif /* HTTP_SERVER_SCENE_H */

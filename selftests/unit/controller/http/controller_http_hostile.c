// SPDX-License-Identifier: GPL-2.0-only
/* Requests that are malformed, ambiguous or endless, and peers that hold connections. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "tools/controller/http/http_access.h"
#include "tools/controller/http/http_connections.h"

#include "http_peer.h"

/* The requests to the page: the name and the word. */
static void fill_words(void *data, const struct http_request *request, struct http_answer *answer)
{
	const char *word = http_request__argument(request, "word");

	if (asprintf(&answer->body, "%s %s\n", http_request__host(request) ?: "(none)",
		     word ?: "(none)") > 0)
		answer->length = strlen(answer->body);
}

/* A stream that is cut off after one block. */
static ssize_t cut_read(void *data, char *buffer, size_t size)
{
	bool *is_begun = data;

	if (*is_begun)
		return -ECONNABORTED;
	*is_begun = true;
	memset(buffer, 'x', 1000);
	return 1000;
}

static void free_nothing(void *data)
{
}

static void start_nothing(void *data, struct http_stream *stream)
{
}

static void fill_cut(void *data, const struct http_request *request, struct http_answer *answer)
{
	static const struct http_stream_operations operations = {
		.start = start_nothing,
		.read = cut_read,
		.free = free_nothing,
	};
	static bool is_begun;

	is_begun = false;
	answer->stream = &operations;
	answer->stream_data = &is_begun;
}

/* A stream with a first byte and then nothing. */
static ssize_t waiting_read(void *data, char *buffer, size_t size)
{
	bool *is_begun = data;

	if (*is_begun)
		return 0;
	*is_begun = true;
	*buffer = 'y';
	return 1;
}

static void fill_waiting(void *data, const struct http_request *request, struct http_answer *answer)
{
	static const struct http_stream_operations operations = {
		.start = start_nothing,
		.read = waiting_read,
		.free = free,
	};

	answer->stream_data = calloc(1, sizeof(bool));
	if (answer->stream_data)
		answer->stream = &operations;
}

static const struct http_page pages[] = {
	{ .path = "/words", .fill = fill_words },
	{ .path = "/cut", .fill = fill_cut },
	{ .path = "/waiting", .fill = fill_waiting },
	{ .path = "/act", .fill = fill_words, .is_action = true },
};

static struct http_access nothing_known;

static int open_server(void **state)
{
	const struct http_server_options options = {
		.address = "127.0.0.1:0",
		.pages = pages,
		.page_count = sizeof(pages) / sizeof(pages[0]),
		.access = &nothing_known,
		.threads = 2,
		.streams = HTTP_CONNECTIONS_MAX,
	};
	struct http_server *server;
	struct dart_error error;

	if (http_server__new(&options, &server, &error))
		fail_msg("%s", error.text);
	*state = server;
	return 0;
}

static int close_server(void **state)
{
	http_server__free(*state);
	return 0;
}

#define CLOSE "Connection: close\r\n"
#define LOCAL CLOSE "Host: localhost\r\n"
#define BAD "HTTP/1.1 400 ", "Bad Request\n"

/* A proxy may choose another Host header than this server. */
static void test_hosts(void **state)
{
	struct http_server *server = *state;

	expect(server, "GET /words HTTP/1.1\r\n" LOCAL "Host: evil.example\r\n\r\n", BAD);
	expect(server, "GET /words HTTP/1.1\r\n" LOCAL "host: localhost\r\n\r\n", BAD);
	expect(server, "GET /words HTTP/1.0\r\n" LOCAL "Host: evil.example\r\n\r\n", BAD);
	expect(server, "GET /words HTTP/1.1\r\n" CLOSE "\r\n", BAD);
	expect(server, "GET /words HTTP/1.0\r\n\r\n", " 200 ", "(none) (none)\n");
	expect(server, "GET /words HTTP/1.1\r\n" CLOSE "Host:\t localhost:1 \t\r\n\r\n", " 200 ",
	       "\r\nlocalhost:1 (none)\n");
	expect(server, "GET /words HTTP/1.1\r\n" CLOSE "Host: [::1]:4794\r\n\r\n", " 200 ",
	       "\r\n[::1]:4794 (none)\n");
}

/* RFC 9112, section 3.2.2: the name in the target counts, and not Host. */
static void test_absolute(void **state)
{
	struct http_server *server = *state;

	expect(server, "GET http://localhost:7/words?word=a HTTP/1.1\r\n" LOCAL "\r\n", " 200 ",
	       "\r\nlocalhost:7 a\n");
	expect(server, "GET HTTPS://[::1]:8/words HTTP/1.1\r\n" LOCAL "\r\n", " 200 ",
	       "\r\n[::1]:8 (none)\n");
	expect(server, "GET http://localhost/words HTTP/1.1\r\nHost: evil.example\r\n" CLOSE "\r\n",
	       " 200 ", "\r\nlocalhost (none)\n");
	expect(server, "GET http://evil.example/words HTTP/1.1\r\n" LOCAL "\r\n", " 403 ",
	       "controller.yaml)\n");
	expect(server, "GET http://localhost HTTP/1.1\r\n" LOCAL "\r\n", " 404 ", "Not Found\n");
	expect(server, "GET http:///words HTTP/1.1\r\n" LOCAL "\r\n", BAD);
	expect(server, "GET ftp://localhost/words HTTP/1.1\r\n" LOCAL "\r\n", " 404 ",
	       "Not Found\n");
	expect(server, "GET //localhost/words HTTP/1.1\r\n" LOCAL "\r\n", " 404 ", "Not Found\n");
}

static void test_arguments(void **state)
{
	struct http_server *server = *state;

	expect(server, "GET /words?word=a%20b+c%C3%A9%26 HTTP/1.1\r\n" LOCAL "\r\n", " 200 ",
	       "\r\nlocalhost a b c\xc3\xa9&\n");
	/* It would end the text for C, and so mean another name. */
	expect(server, "GET /words?word=a%00b HTTP/1.1\r\n" LOCAL "\r\n", " 200 ",
	       "\r\nlocalhost a%00b\n");
	expect(server, "GET /words%00.html HTTP/1.1\r\n" LOCAL "\r\n", " 404 ", "Not Found\n");
	expect(server, "GET /w%6Frds HTTP/1.1\r\n" LOCAL "\r\n", " 200 ", "\r\nlocalhost (none)\n");
	expect(server, "GET /words?word=%zz%4 HTTP/1.1\r\n" LOCAL "\r\n", " 200 ",
	       "\r\nlocalhost %zz%4\n");
	/* An argument without a value is there. */
	expect(server, "GET /words?word HTTP/1.1\r\n" LOCAL "\r\n", " 200 ", "\r\nlocalhost \n");
	expect(server, "GET /words?word= HTTP/1.1\r\n" LOCAL "\r\n", " 200 ", "\r\nlocalhost \n");
}

/* The end of the body must be clear; otherwise later bytes would pass for a request. */
static void test_bodies(void **state)
{
	struct http_server *server = *state;

	expect(server,
	       "GET /words HTTP/1.1\r\n" LOCAL
	       "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
	       " 200 ", "\r\nlocalhost (none)\n");
	expect(server,
	       "POST /act HTTP/1.1\r\nHost: localhost\r\n"
	       "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
	       BAD);
	expect(server,
	       "GET /words HTTP/1.1\r\nHost: localhost\r\n"
	       "Transfer-Encoding: xchunked\r\n\r\n",
	       BAD);
	expect(server,
	       "POST /act HTTP/1.1\r\nHost: localhost\r\n"
	       "Transfer-Encoding: gzip, chunked\r\n\r\n",
	       BAD);
	expect(server,
	       "GET /words HTTP/1.1\r\nHost: localhost\r\n"
	       "Content-Length: 3\r\nContent-Length: 5\r\n\r\n",
	       BAD);
}

static void test_half_closed(void **state)
{
	static const char request[] = "GET /words HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct http_server *server = *state;
	int fd = connect_to(server);
	char answer[1024];
	size_t length = 0;
	ssize_t got;

	say(fd, request, strlen(request));
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	while ((got = recv(fd, answer + length, sizeof(answer) - 1 - length, 0)) > 0)
		length += got;
	assert_int_equal(got, 0);
	answer[length] = '\0';
	assert_non_null(strstr(answer, "\r\n\r\nlocalhost (none)\n"));
	close(fd);
}

static void test_pipelined(void **state)
{
	struct http_server *server = *state;
	size_t length;
	char *answer = ask(server,
			   "GET /words?word=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
			   "HEAD /words?word=2 HTTP/1.1\r\nHost: localhost\r\n\r\n"
			   "GET /words?word=3 HTTP/1.1\r\n" LOCAL "\r\n",
			   &length);

	assert_non_null(strstr(answer, "\r\n\r\nlocalhost 1\nHTTP/1.1 200 "));
	assert_null(strstr(answer, "localhost 2"));
	assert_non_null(strstr(answer, "\r\n\r\nlocalhost 3\n"));
	free(answer);
}

/* HTTP/1.0 lacks chunks: a truncated stream must not look like a complete one. */
static void test_cut(void **state)
{
	static const char *const requests[] = {
		"GET /cut HTTP/1.0\r\n\r\n",
		"GET /cut HTTP/1.0\r\nConnection: keep-alive\r\nHost: localhost\r\n\r\n",
		"GET /cut HTTP/1.1\r\nHost: localhost\r\n\r\n",
	};
	struct http_server *server = *state;
	char answer[4096];
	ssize_t got;
	size_t i;
	int fd;

	for (i = 0; i < 3; i++) {
		fd = connect_to(server);
		say(fd, requests[i], strlen(requests[i]));
		while ((got = recv(fd, answer, sizeof(answer), 0)) > 0)
			;
		assert_int_equal(got, -1);
		assert_int_equal(errno, ECONNRESET);
		close(fd);
	}
}

/* Both ends of all connections are in this process. */
static void raise_limit(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 3 * HTTP_CONNECTIONS_MAX;
	if (limit.rlim_cur > limit.rlim_max)
		skip();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Fills all connections from as few addresses as can: the answer to @request begins. */
static void hold_all(struct http_server *server, const char *request,
		     int fds[static HTTP_CONNECTIONS_MAX])
{
	char source[32], head[512];
	int i;

	raise_limit();
	for (i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
		snprintf(source, sizeof(source), "127.0.0.%d", 2 + i / HTTP_PEER_CONNECTIONS_MAX);
		fds[i] = connect_from(source, server);
		say(fds[i], request, strlen(request));
		assert_true(recv(fds[i], head, sizeof(head), 0) > 0);
	}
}

static void release(int fds[static HTTP_CONNECTIONS_MAX])
{
	int i;

	for (i = 0; i < HTTP_CONNECTIONS_MAX; i++)
		close(fds[i]);
}

/* Four addresses take all connections, and never take their answers: other peers still come in. */
static void test_busy_everywhere(void **state)
{
	struct http_server *server = *state;
	int fds[HTTP_CONNECTIONS_MAX], i;

	hold_all(server, "GET /waiting HTTP/1.1\r\nHost: localhost\r\n\r\n", fds);
	for (i = 0; i < 3; i++)
		expect(server, "GET /words HTTP/1.1\r\n" LOCAL "\r\n", " 200 ",
		       "\r\nlocalhost (none)\n");
	release(fds);
}

/*
 * A request whose body never ends is idle: its connection makes room for other connections of its
 * address.
 */
static void test_endless_bodies(void **state)
{
	static const char request[] =
		"POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n"
		"Expect: 100-continue\r\n\r\n";
	struct http_server *server = *state;
	int fds[HTTP_PEER_CONNECTIONS_MAX], i;
	char answer[128];

	for (i = 0; i < HTTP_PEER_CONNECTIONS_MAX; i++) {
		fds[i] = connect_to(server);
		say(fds[i], request, strlen(request));
		/* The server read the head. */
		assert_true(recv(fds[i], answer, sizeof(answer), 0) > 12);
		assert_memory_equal(answer, "HTTP/1.1 100", 12);
		say(fds[i], "a", 1);
	}
	for (i = 0; i < 3; i++)
		expect(server, "GET /words HTTP/1.1\r\n" LOCAL "\r\n", " 200 ",
		       "\r\nlocalhost (none)\n");
	for (i = 0; i < HTTP_PEER_CONNECTIONS_MAX; i++)
		close(fds[i]);
}

#define SERVED(name, test)                              \
	{                                               \
		name, test, open_server, close_server, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVED("a request has one Host, without the blanks around it; only HTTP/1.0 may have none",
		       test_hosts),
		SERVED("an absolute target names the server in place of Host", test_absolute),
		SERVED("arguments and paths are unpacked, but for NUL", test_arguments),
		SERVED("a body without a clear end is refused, and the connection closed",
		       test_bodies),
		SERVED("a peer that has closed its half is answered", test_half_closed),
		SERVED("pipelined requests are answered in order", test_pipelined),
		SERVED("a stream that is cut off ends by a reset", test_cut),
		SERVED("a new address takes the place of one of the address with the most connections",
		       test_busy_everywhere),
		SERVED("requests with endless bodies make room for others", test_endless_bodies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Streams of an HTTP server: readers that are slow, many, or gone. */
#include "http_server_scene.h"

/* With its lock, as the owners of streams do. */
static void wake_lines(int wanted)
{
	pthread_mutex_lock(&lines.lock);
	lines.wanted = wanted;
	if (lines.stream)
		http_stream__wake(lines.stream);
	pthread_mutex_unlock(&lines.lock);
}

static void *ask_often(void *data)
{
	for (int i = 0; i < 50; i++)
		expect(data, GET("/words", ""), "HTTP/1.1 200 ", "word: - -\n");
	return NULL;
}

static void test_at_once(void **state)
{
	struct http_server *server = serve();
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, server), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	http_server__free(server);
}

static void test_stream(void **state)
{
	struct http_server *server = serve();
	char byte;
	int fd, i;

	fd = begin_lines(server, 1);
	read_until(fd, "X-Lines: some\r\n");
	for (i = 1; i <= 100; i++) {
		char line[16];

		wake_lines(i);
		snprintf(line, sizeof(line), "line %d\n", i - 1);
		read_until(fd, line);
	}
	/* The stream ends, and its last chunk comes. */
	wake_lines(-1);
	while (recv(fd, &byte, 1, 0) > 0 && byte != '0')
		;
	assert_int_equal(byte, '0');
	close(fd);
	http_server__free(server);
	assert_int_equal(lines.freed, 1);
}

/* The server stops while one stream waits and another is in the middle. */
static void test_stop(void **state)
{
	struct http_server *server = serve();
	int waiting, reading;

	waiting = begin_lines(server, 1);
	reading = begin_lines(server, 2);
	wake_lines(1);
	http_server__free(server);
	assert_int_equal(lines.freed, 2);
	close(waiting);
	close(reading);
}

/* Bytes that a reader does not take wait only in the socket, whose room is bounded. */
static void test_slow_reader(void **state)
{
	struct http_server *server = serve();
	uint64_t before = 1, now = 0;
	int fd;

	pthread_mutex_lock(&lines.lock);
	lines.is_endless = true;
	pthread_mutex_unlock(&lines.lock);
	fd = begin_lines(server, 1);
	while (before != now) {
		before = now;
		expect(server, GET("/words", ""), "HTTP/1.1 200 ", "word: - -\n");
		usleep(200000);
		pthread_mutex_lock(&lines.lock);
		now = lines.bytes;
		pthread_mutex_unlock(&lines.lock);
	}
	assert_in_range(now, 1, 32 << 20);
	close(fd);
	http_server__free(server);
	assert_int_equal(lines.freed, 1);
}

static void test_many_streams(void **state)
{
	struct http_server *server = serve();
	int fds[HTTP_STREAMS_MAX], i;

	for (i = 0; i < HTTP_STREAMS_MAX; i++)
		fds[i] = begin_lines(server, i + 1);
	expect(server, GET("/lines", ""), "HTTP/1.1 503 ", "Service Unavailable\n");
	expect(server, GET("/words", ""), "HTTP/1.1 200 ", "word: - -\n");
	pthread_mutex_lock(&lines.lock);
	assert_int_equal(lines.freed, 1);
	pthread_mutex_unlock(&lines.lock);
	for (i = 0; i < HTTP_STREAMS_MAX; i++)
		close(fds[i]);
	http_server__free(server);
	assert_int_equal(lines.freed, HTTP_STREAMS_MAX + 1);
}

static void *wake_often(void *data)
{
	for (int i = 1; i <= 20000; i++)
		wake_lines(i);
	return NULL;
}

static void test_wakes(void **state)
{
	struct http_server *server = serve();
	pthread_t thread;
	int fd;

	fd = begin_lines(server, 1);
	assert_int_equal(pthread_create(&thread, NULL, wake_often, NULL), 0);
	read_until(fd, "line 1000\n");
	close(fd); /* while the stream is woken */
	pthread_join(thread, NULL);
	http_server__free(server);
	assert_int_equal(lines.freed, 1);
}

static void test_local(void **state)
{
	struct http_server *server = serve(), *open;
	char url[HTTP_URL_MAX], expected[HTTP_URL_MAX], name[256] = "";
	struct dart_error error;

	assert_true(http_server__is_local(server));
	snprintf(expected, sizeof(expected), "http://localhost:%u/",
		 http_server__port(server));
	http_server__url(server, url);
	assert_string_equal(url, expected);
	http_server__free(server);
	assert_int_equal(serve_at("0.0.0.0:0", &open, &error), 0);
	assert_false(http_server__is_local(open));
	assert_int_equal(gethostname(name, sizeof(name)), 0);
	snprintf(expected, sizeof(expected), "http://%s:%u/", name,
		 http_server__port(open));
	http_server__url(open, url);
	assert_string_equal(url, expected);
	http_server__free(open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("four peers are served at once", test_at_once),
		TEST("a stream sends what there is as soon as it is woken, and ends", test_stream),
		TEST("a server stops while streams wait", test_stop),
		TEST("a reader that takes nothing is sent a bounded number of bytes, and delays no other",
		     test_slow_reader),
		TEST("more streams than allowed are refused, and pages still served",
		     test_many_streams),
		TEST("a stream is woken while it is read and while its peer leaves", test_wakes),
		TEST("a server that other hosts reach is not local", test_local),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

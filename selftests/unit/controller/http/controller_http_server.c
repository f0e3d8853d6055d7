// SPDX-License-Identifier: GPL-2.0-only
/* The HTTP server of a controller, over sockets. */
#include "http_server_scene.h"

/* Can a peer at ::1 connect? */
static bool is_at_v6(const struct http_server *server)
{
	const struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(http_server__port(server)),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool is_connected = !connect(fd, (const struct sockaddr *)&address, sizeof(address));

	close(fd);
	return is_connected;
}

static void test_pages(void **state)
{
	struct http_server *server = serve();

	expect(server, GET("/words", ""), "HTTP/1.1 200 ", "\r\nword: - -\n");
	expect(server, GET("/words?word=a%20b", "Accept: text/x\r\n"),
	       "Content-Type: text/plain; version=7\r\n", "\r\nword: a b text/x\n");
	expect(server, GET("/refused", ""), "HTTP/1.1 400 ", "\r\n\r\nthis is why\n");
	expect(server, GET("/nothing", ""), "HTTP/1.1 500 ", "Internal Server Error\n");
	http_server__free(server);
}

static void test_others(void **state)
{
	struct http_server *server = serve();

	expect(server, GET("/", ""), "HTTP/1.1 404 ", "Not Found\n");
	expect(server, GET("/words/", ""), "HTTP/1.1 404 ", "Not Found\n");
	expect(server, GET("/../words", ""), "HTTP/1.1 404 ", "Not Found\n");
	expect(server,
	       "POST /words HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 5\r\n\r\nabcde",
	       "Allow: GET, HEAD\r\n", "Method Not Allowed\n");
	expect(server, "HEAD /words HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
	       "Content-Length: 10\r\n", "\r\n\r\n");
	http_server__free(server);
}

static void check_packed(const char *answer, size_t length)
{
	const char *body = strstr(answer, "\r\n\r\n");
	static char text[BODY_BYTES + 1];
	z_stream stream = { };

	assert_non_null(body);
	body += 4;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = (Bytef *)body;
	stream.avail_in = answer + length - body;
	stream.next_out = (Bytef *)text;
	stream.avail_out = sizeof(text);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, BODY_BYTES);
	assert_int_equal(strspn(text, "x"), BODY_BYTES);
	inflateEnd(&stream);
}

static void test_gzip(void **state)
{
	struct http_server *server = serve();
	size_t length;
	char *answer;

	answer = ask(server, GET("/long", "Accept-Encoding: br, gzip;q=0.5\r\n"), &length);
	assert_non_null(strstr(answer, "Content-Encoding: gzip\r\n"));
	assert_true(length < BODY_BYTES / 10);
	check_packed(answer, length);
	free(answer);

	answer = ask(server, GET("/long", ""), &length);
	assert_null(strstr(answer, "Content-Encoding"));
	assert_true(length > BODY_BYTES);
	free(answer);
	http_server__free(server);
}

static void test_accepted(void **state)
{
	assert_true(gzip__is_accepted("gzip"));
	assert_true(gzip__is_accepted("deflate, GZIP;q=1.0, br"));
	assert_true(gzip__is_accepted("*"));
	assert_true(gzip__is_accepted("gzip;q=0.01"));
	assert_false(gzip__is_accepted("gzip;q=0"));
	assert_false(gzip__is_accepted("gzip; q=0.000, br"));
	assert_false(gzip__is_accepted("br, xgzip, gzipx"));
	assert_false(gzip__is_accepted(""));
	assert_false(gzip__is_accepted(",,,"));
	assert_false(gzip__is_accepted(NULL));
}

static void test_addresses(void **state)
{
	static const char *const valid[] = { "localhost", "h:1",      ":9090",
					     "[::1]",	  "[::1]:80", "10.0.0.1:65535" };
	static const char *const invalid[] = { "",     ":",  "h:",     "h:65536", "h:-1", "h:1x",
					       "[::1", "[]", "[::1]x", "::1",	  "h:1:2" };
	struct http_server *server, *second;
	struct dart_error error;
	char address[32];
	size_t i;

	for (i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
		assert_true(http_address__is_valid(valid[i]));
	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		assert_false(http_address__is_valid(invalid[i]));
		assert_int_equal(serve_at(invalid[i], &server, &error), -EINVAL);
		assert_non_null(strstr(error.text, "expected HOST:PORT"));
	}
	server = serve();
	snprintf(address, sizeof(address), "127.0.0.1:%u", http_server__port(server));
	assert_int_equal(serve_at(address, &second, &error), -EADDRINUSE);
	assert_non_null(strstr(error.text, address));
	http_server__free(server);
}

static bool has_v6(void)
{
	const struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool has = fd >= 0 && !bind(fd, (const struct sockaddr *)&address, sizeof(address));

	if (fd >= 0)
		close(fd);
	return has;
}

/* An empty name is all addresses, of both families. */
static void test_families(void **state)
{
	struct http_server *server;
	struct dart_error error;

	assert_int_equal(serve_at(":0", &server, &error), 0);
	expect(server, GET("/words", ""), "HTTP/1.1 200 ", "word: - -\n");
	assert_false(http_server__is_local(server));
	assert_int_equal(is_at_v6(server), has_v6());
	http_server__free(server);

	assert_int_equal(serve_at("0.0.0.0:0", &server, &error), 0);
	assert_false(is_at_v6(server));
	http_server__free(server);

	/* Both addresses of a name with two addresses, at one port. */
	assert_int_equal(serve_at("localhost:0", &server, &error), 0);
	assert_true(http_server__is_local(server));
	expect(server, GET("/words", ""), "HTTP/1.1 200 ", "word: - -\n");
	http_server__free(server);
}

/* Peers that asked, or never ask, up to the bound of one address: the oldest makes room. */
static void test_silent_peers(void **state)
{
	const char request[] = "GET /words HTTP/1.1\r\nHost: h\r\n\r\n";
	struct http_server *server = serve();
	int fds[HTTP_PEER_CONNECTIONS_MAX], i;
	char byte;

	for (i = 0; i < HTTP_PEER_CONNECTIONS_MAX; i++) {
		fds[i] = connect_to(server);
		if (i % 2) {
			assert_int_equal(send(fds[i], request, strlen(request), MSG_NOSIGNAL),
					 strlen(request));
			read_until(fds[i], "word: - -\n");
		}
	}
	for (i = 0; i < 3; i++) {
		expect(server, GET("/words", ""), "HTTP/1.1 200 ", "word: - -\n");
		/* Only the first peer had to go, because served peers left by themselves. */
		assert_int_equal(recv(fds[0], &byte, 1, 0), 0);
	}
	for (i = 0; i < HTTP_PEER_CONNECTIONS_MAX; i++)
		close(fds[i]);
	http_server__free(server);
}

/*
 * A request is in progress on each connection: none makes room, and the server closes a new
 * connection.
 */
static void test_busy_peers(void **state)
{
	struct http_server *server;
	const struct http_server_options options = {
		.address = "127.0.0.1:0",
		.pages = pages,
		.page_count = sizeof(pages) / sizeof(pages[0]),
		.threads = 2,
		.streams = HTTP_PEER_CONNECTIONS_MAX,
	};
	int fds[HTTP_PEER_CONNECTIONS_MAX], late, i;
	struct dart_error error;
	char byte;

	reset_lines();
	assert_int_equal(http_server__new(&options, &server, &error), 0);
	for (i = 0; i < HTTP_PEER_CONNECTIONS_MAX; i++)
		fds[i] = begin_lines(server, i + 1);
	late = connect_to(server);
	assert_true(recv(late, &byte, 1, 0) <= 0);
	close(late);
	pthread_mutex_lock(&lines.lock);
	assert_int_equal(lines.freed, 0);
	pthread_mutex_unlock(&lines.lock);
	for (i = 0; i < HTTP_PEER_CONNECTIONS_MAX; i++)
		close(fds[i]);
	http_server__free(server);
	assert_int_equal(lines.freed, HTTP_PEER_CONNECTIONS_MAX);
}

static void test_names(void **state)
{
	static char *names[] = { "metrics.example.org" };
	const struct http_access access = { .names = names, .name_count = 1 };
	static const char *const own[] = {
		"localhost", "LOCALHOST:80", "127.0.0.1:4794", "127.0.1.1",
		"[::1]", "[::1]:4794", "10.1.2.3:80", "[fd00::1]",
		"metrics.example.org:4794", "Metrics.Example.Org",
	};
	static const char *const foreign[] = {
		"evil.example", "evil.example:4794", "localhost.evil.example",
		"127.0.0.1.evil.example", "", ":4794", "localhost:x",
		"[::1].evil.example", "[::1]x", "evil.example:127.0.0.1",
		"metrics.example.org.evil.example",
		"localhost:4794.evil.example", "[evil.example]",
	};
	char name[256] = "";
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!http_access__names_server(&access, own[i], true))
			fail_msg("%s is refused", own[i]);
	for (i = 0; i < 2 * sizeof(foreign) / sizeof(foreign[0]); i++)
		if (http_access__names_server(&access, foreign[i / 2], i % 2))
			fail_msg("%s is taken", foreign[i / 2]);
	assert_int_equal(gethostname(name, sizeof(name) - 1), 0);
	assert_true(http_access__names_server(&access, name, true));
	/* One without a dot is of the local network, if that can connect at all. */
	assert_true(http_access__names_server(&access, "controller:4794", false));
	assert_false(http_access__names_server(&access, "controller:4794", true));
	/* HTTP/1.0. */
	assert_true(http_access__names_server(&access, NULL, true));
}

static void test_access(void **state)
{
	static const struct http_page some[] = {
		{ .path = "/words", .fill = fill_words, .data = "word:" },
		{ .path = "/open", .fill = fill_words, .data = "open:", .is_open = true },
		{ .path = "/act", .fill = fill_words, .data = "acted:", .is_action = true },
	};
	struct http_secrets secrets = { };
	struct http_access access = { };
	const struct http_server_options options = {
		.address = ":0",
		.pages = some,
		.page_count = 3,
		.access = &access,
	};
	struct http_server *server;
	struct dart_error error;

	assert_int_equal(http_server__new(&options, &server, &error), 0);
#define AS(host, headers) \
	"GET /words HTTP/1.1\r\nConnection: close\r\nHost: " host "\r\n" headers "\r\n"
	expect(server, AS("localhost", ""), "HTTP/1.1 200 ", "word: - -\n");
	expect(server, AS("evil.example", ""), "HTTP/1.1 403 ",
	       "names of this output in controller.yaml)\n");
	expect(server, AS("localhost", "Origin: http://evil.example\r\n"),
	       "HTTP/1.1 403 ", "controller.yaml)\n");
	expect(server, AS("localhost", "Origin: null\r\n"), "HTTP/1.1 403 ",
	       "controller.yaml)\n");
	expect(server, AS("localhost:1", "Origin: http://localhost:1\r\n"),
	       "HTTP/1.1 200 ", "word: - -\n");
	expect(server, "GET /words HTTP/1.0\r\n\r\n", " 200 ", "word: - -\n");
	expect(server, "GET /open HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
	       "HTTP/1.1 200 ", "open: - -\n");
	expect(server, "GET /act HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
	       "Allow: POST\r\n", "Method Not Allowed\n");
	expect(server, "POST /act HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab",
	       "HTTP/1.1 200 ", "acted: - -\n");
	expect(server, "POST /act HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
	       "HTTP/1.1 403 ", "controller.yaml)\n");
	http_server__free(server);

	strcpy(secrets.token, "0123456789abcdef");
	secrets.length = strlen(secrets.token);
	access.secrets = &secrets;
	assert_int_equal(http_server__new(&options, &server, &error), 0);
	expect(server, AS("localhost", ""), "WWW-Authenticate: Bearer ", "Unauthorized\n");
	expect(server, AS("any.example", "Authorization: Bearer 0123456789abcdef\r\n"),
	       "HTTP/1.1 200 ", "word: - -\n");
	expect(server, AS("localhost", "Authorization: Bearer 0123456789abcdeg\r\n"),
	       "HTTP/1.1 401 ", "Unauthorized\n");
	expect(server, AS("localhost", "Authorization: Basic Zm9yOmdldHRlbg==\r\n"),
	       "HTTP/1.1 401 ", "Unauthorized\n");
	http_server__free(server);

	secrets.basic = "Zm9yOmdldHRlbg==";
	assert_int_equal(http_server__new(&options, &server, &error), 0);
	expect(server, AS("localhost", ""), "WWW-Authenticate: Basic ", "Unauthorized\n");
	expect(server, AS("any.example", "Authorization: Basic Zm9yOmdldHRlbg==\r\n"),
	       "HTTP/1.1 200 ", "word: - -\n");
	http_server__free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a page gets arguments and headers, and its answer is sent with its type and status",
		     test_pages),
		TEST("other paths are not found, other methods are not allowed, and HEAD has no body",
		     test_others),
		TEST("a long body is packed for a peer that takes gzip, and for no other",
		     test_gzip),
		TEST("Accept-Encoding takes gzip by name or by *, unless its weight is 0",
		     test_accepted),
		TEST("an address that is malformed or in use is refused with one sentence",
		     test_addresses),
		TEST("an address without a name listens at both families, a name at each of its addresses",
		     test_families),
		TEST("peers without a request make room for others, the one idle longest first",
		     test_silent_peers),
		TEST("peers with a request in progress are bounded for each address, and stay",
		     test_busy_peers),
		TEST("a request may call the server by an address, localhost, the name of the host or a name of the settings",
		     test_names),
		TEST("pages need the name of the server, or its token or password; a change needs POST, and no foreign page",
		     test_access),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

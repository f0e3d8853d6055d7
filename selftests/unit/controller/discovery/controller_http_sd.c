// SPDX-License-Identifier: GPL-2.0-only
/* URLs that answer with targets, and servers that are broken or hostile. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/discovery/sd_json.h"
#include "tools/controller/discovery/source.h"

#define WAIT_US 60000000ULL
#define PIECE 65536
/* More than any buffer between both ends holds. */
#define ENDLESS (8UL * SD_JSON_BYTES_MAX)

struct server {
	int fd;
	uint16_t port;
	const char *head;
	const char *body; /* NULL: none, and the connection stays open */
	bool is_endless; /* the body again and again */
	char request[4096]; /* the last request; owned by the thread until the server is closed */
	atomic_int asked;
	atomic_size_t sent;
	pthread_t thread;
};

struct fixture {
	sd_event *event;
	struct source *source;
	unsigned int news;
	int result;
	size_t targets;
	char text[DART_ERROR_MAX];
};

#define OK \
	"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"

static bool server__send(struct server *server, int peer, const char *text)
{
	const size_t length = strlen(text);
	ssize_t sent = send(peer, text, length, MSG_NOSIGNAL);

	if (sent > 0)
		atomic_fetch_add(&server->sent, sent);
	return sent == (ssize_t)length;
}

static void server__send_again(struct server *server, int peer)
{
	const size_t length = strlen(server->body);
	static char piece[PIECE + 1];
	size_t at;

	for (at = 0; at + length <= PIECE; at += length)
		memcpy(piece + at, server->body, length);
	piece[at] = '\0';
	while (atomic_load(&server->sent) < ENDLESS && server__send(server, peer, piece))
		;
}

/*
 * Runs until the listener is shut down. accept(2) takes a descriptor before it waits, and
 * none may be free before a client connects.
 */
static void *serve(void *data)
{
	struct server *server = data;
	struct pollfd listener = { .fd = server->fd, .events = POLLIN };
	char *request = server->request;
	ssize_t got;
	int peer;

	while (poll(&listener, 1, -1) > 0 && (peer = accept(server->fd, NULL, NULL)) >= 0) {
		got = recv(peer, request, sizeof(server->request) - 1, 0);
		if (got > 0) {
			request[got] = '\0';
			atomic_fetch_add(&server->asked, 1);
			server__send(server, peer, server->head);
			if (server->is_endless)
				server__send_again(server, peer);
			else if (server->body)
				server__send(server, peer, server->body);
			else
				recv(peer, (char[1]){ 0 }, 1, 0);
		}
		close(peer);
	}
	return NULL;
}

/* Peers connect from now on, and are answered once the thread runs. */
static void server__listen(struct server *server)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);

	server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(server->fd >= 0);
	assert_int_equal(bind(server->fd, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(server->fd, (struct sockaddr *)&address, &length), 0);
	server->port = ntohs(address.sin_port);
	assert_int_equal(listen(server->fd, 8), 0);
}

static void server__run(struct server *server)
{
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void server__open(struct server *server)
{
	server__listen(server);
	server__run(server);
}

static void server__close(struct server *server)
{
	shutdown(server->fd, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->fd);
}

static void on_news(void *data, struct source *source, struct source_news *news)
{
	struct fixture *fixture = data;

	fixture->news++;
	fixture->result = news->result;
	strcpy(fixture->text, news->result ? news->error.text : "");
	if (news->has_list)
		fixture->targets = news->list.count;
}

/* Permits two more descriptors, and then none until raise_limit(). */
static void lower_limit(struct rlimit *before)
{
	struct rlimit limit;
	int one = dup(STDIN_FILENO), two = dup(STDIN_FILENO);

	assert_true(one >= 0 && two > one);
	close(one);
	close(two);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
	limit = *before;
	limit.rlim_cur = two + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void raise_limit(const struct rlimit *before)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, before), 0);
}

/* Settings of the next source besides its URL; all zeros: none. */
static struct url_settings asked_with;

/* @limit: the begun source lacks descriptors until the limit is raised; or NULL. */
static void begin(struct fixture *fixture, uint16_t port, struct rlimit *limit)
{
	struct settings settings = {};
	struct dart_error error;
	char url[100];

	*fixture = (struct fixture){};
	snprintf(url, sizeof(url), "http://%s127.0.0.1:%u/x",
		 asked_with.token_file ? "" : "user:secret@", port);
	assert_int_equal(settings__add_source(&settings, SOURCE_HTTP_SD, url), 0);
	assert_int_equal(url_settings__copy(&settings.sources[0].url, &asked_with), 0);
	assert_int_equal(sd_event_new(&fixture->event), 0);
	if (limit)
		lower_limit(limit);
	assert_int_equal(source__new(fixture->event, settings.sources, &settings, on_news, fixture,
				     &fixture->source, &error),
			 0);
	settings__clear(&settings);
}

static void hear(struct fixture *fixture)
{
	const unsigned int news = fixture->news;

	while (fixture->news == news)
		assert_int_not_equal(sd_event_run(fixture->event, WAIT_US), 0);
	assert_null(strstr(fixture->text, "secret"));
}

static void end(struct fixture *fixture)
{
	source__end(fixture->source);
	source__free(fixture->source, monotonic_ns() + 60000000000ULL);
	sd_event_unref(fixture->event);
}

/* No descriptor is left for a connection. */
static void test_opened_later(void **state)
{
	struct server server = {
		.head = OK,
		.body = "[{\"targets\": [\"a\"]}]",
	};
	struct fixture fixture;
	struct rlimit limit;

	server__listen(&server);
	begin(&fixture, server.port, &limit);
	hear(&fixture);
	assert_int_not_equal(fixture.result, 0);
	assert_non_null(strstr(fixture.text, "does not answer"));
	raise_limit(&limit);
	/* accept(2) needs a descriptor when it begins to wait. */
	server__run(&server);
	source__look(fixture.source);
	hear(&fixture);
	assert_int_equal(fixture.result, 0);
	assert_int_equal(fixture.targets, 1);
	end(&fixture);
	server__close(&server);
}

/* The message of a source about the first answer of a server. */
static void expect(struct server *server, int result, const char *text)
{
	struct fixture fixture;

	server__open(server);
	begin(&fixture, server->port, NULL);
	hear(&fixture);
	end(&fixture);
	server__close(server);
	assert_int_equal(!fixture.result, !result);
	if (strncmp(fixture.text, text, strlen(text)))
		fail_msg("'%s', not '%s'", fixture.text, text);
}

static void test_targets(void **state)
{
	struct server server = {
		.head = OK,
		.body = "[{\"targets\": [\"a\", \"b\"]}]",
	};
	struct fixture fixture;

	server__open(&server);
	begin(&fixture, server.port, NULL);
	assert_string_equal(source__kind(fixture.source), "http_sd");
	assert_null(strstr(source__name(fixture.source), "secret"));
	hear(&fixture);
	assert_int_equal(fixture.result, 0);
	assert_int_equal(fixture.targets, 2);
	end(&fixture);
	server__close(&server);
}

/* The sentence does not tell the duration, so it is the same after each look. */
static void test_nobody(void **state)
{
	struct server server = { .head = OK };
	struct fixture fixture;
	unsigned int i;

	server__open(&server);
	server__close(&server);
	begin(&fixture, server.port, NULL);
	for (i = 0; i < 3; i++) {
		hear(&fixture);
		assert_int_not_equal(fixture.result, 0);
		assert_int_equal(strncmp(fixture.text, "does not answer: ", 17), 0);
		assert_null(strpbrk(fixture.text, "0123456789"));
		source__look(fixture.source);
	}
	end(&fixture);
}

static void test_refused(void **state)
{
	struct server wrong = {
		.head = "HTTP/1.1 404 No\r\nConnection: close\r\n\r\n",
		.body = "[]",
	};
	struct server html = {
		.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n",
		.body = "[]",
	};
	struct server nonsense = { .head = "\033[2J\r\n\r\n", .body = "x" };
	struct server half = {
		.head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\nConnection: close\r\n\r\n",
		.body = "[{\"targets\": [\"a\"",
	};

	expect(&wrong, 1, "answers with status 404, not 200");
	expect(&html, 1, "answers with 'text/html', not with");
	expect(&nonsense, 1, "does not answer: ");
	expect(&half, 1, "does not answer: ");
}

/* Sends the present token of the file, and further headers, which no redirect carries on. */
static void test_asked_with(void **state)
{
	char path[] = "/tmp/dart-token.XXXXXX";
	struct server server = {
		.head = OK,
		.body = "[{\"targets\": [\"a\"]}]",
	};
	struct server elsewhere = {
		.head = "HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		.body = "",
	};
	struct dart_error error;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one.two\n", 8), 8);
	asked_with.token_file = path;
	expect(&server, 0, "");
	assert_non_null(strstr(server.request, "\r\nAuthorization: Bearer one.two\r\n"));

	assert_int_equal(url_headers__add(&asked_with.headers, "X-Scope", "a b", &error), 0);
	expect(&server, 0, "");
	assert_non_null(strstr(server.request, "\r\nX-Scope: a b\r\n"));
	expect(&elsewhere, 1, "answers with status 302, not 200");
	assert_int_equal(atomic_load(&elsewhere.asked), 1);

	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	server.asked = 0;
	expect(&server, 1, "'/tmp/dart-token.");
	assert_int_equal(atomic_load(&server.asked), 0);
	unlink(path);
	asked_with.token_file = NULL;
	url_settings__clear(&asked_with);
}

static void test_redirections(void **state)
{
	struct server server = {
		.head = "HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		.body = "",
	};
	struct server file = {
		.head = "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		.body = "",
	};

	expect(&server, 1, "does not answer: ");
	assert_int_equal(atomic_load(&server.asked), 6);
	expect(&file, 1, "does not answer: ");
}

static void test_endless(void **state)
{
	struct server blanks = { .head = OK, .body = " ", .is_endless = true };
	struct server groups = {
		.head = OK,
		.body = "{},",
		.is_endless = true,
	};

	expect(&blanks, 1, "answers with more than 16777216 bytes");
	assert_true(atomic_load(&blanks.sent) < ENDLESS);
	expect(&groups, 1, "answers with more than 16777216 bytes");
}

/* Below the limit in bytes, and a gigabyte as JSON. */
static void test_groups(void **state)
{
	const size_t length = 8 << 20;
	char *body = malloc(length + 3);
	struct server server = { .head = OK, .body = body };
	size_t at = 0;

	assert_non_null(body);
	body[at++] = '[';
	while (at < length) {
		memcpy(body + at, "{},", 3);
		at += 3;
	}
	strcpy(body + at - 1, "]");
	expect(&server, 1, "more than 40000 lists and objects");
	free(body);
}

static void test_silent(void **state)
{
	struct server server = { .head = "" };
	struct fixture fixture;
	uint64_t start_ns;

	server__open(&server);
	begin(&fixture, server.port, NULL);
	while (!atomic_load(&server.asked))
		sched_yield();
	start_ns = monotonic_ns();
	end(&fixture);
	/* It would answer for 30 s. */
	assert_true(monotonic_ns() - start_ns < 20000000000ULL);
	assert_int_equal(fixture.news, 0);
	server__close(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a source without descriptors gets its targets when it is asked to look again",
		     test_opened_later),
		TEST("a URL names targets, and its name has no password", test_targets),
		TEST("where nobody listens each look says the same", test_nobody),
		TEST("another status, another type, nonsense and half of an answer are refused",
		     test_refused),
		TEST("a token and headers of the settings are sent, and to no other host",
		     test_asked_with),
		TEST("redirections end, and lead to no file", test_redirections),
		TEST("an answer without end is cut off", test_endless),
		TEST("an answer of far too many objects is refused before they take memory",
		     test_groups),
		TEST("a server that says nothing does not delay the end", test_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

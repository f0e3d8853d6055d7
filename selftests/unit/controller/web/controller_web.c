// SPDX-License-Identifier: GPL-2.0-only
/* The page's server: its answers, and its permissions. */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "tools/controller/web/web.h"
#include "tools/controller/web/web_target.h"
#include "tools/controller/http/http_access.h"
#include "tools/controller/web/selection.h"

#include "selftests/unit/unit.h"
#include "selftests/unit/controller/decode/controller_plans.h"

#define SECOND_NS 1000000000LL

static const char *const devices[] = { "\"><script>alert(1)</script>", "\x01\x7f", "eth0", NULL };
static const char *const modes[] = { "idle", "user", NULL };
static const struct test_family families[] = {
	{ "node_cpu_seconds_total", METRIC_COUNTER, "mode", modes },
	{ "node_load1", METRIC_GAUGE, NULL, NULL },
	{ "node_network_receive_errs_total", METRIC_COUNTER, "device", devices },
};
#define SERIES 6

static struct metric_output *serve(const char *token_path, size_t bytes)
{
	const struct http_settings http = {
		.address = "127.0.0.1:0",
		.token_path = (char *)token_path,
	};
	const struct web_settings settings = {
		.http = &http,
		.history_bytes = bytes,
		.interval_ns = SECOND_NS / 10,
	};
	struct metric_output *output = NULL;
	struct dart_error error;

	if (web__new(&settings, NULL, &output, &error))
		fail_msg("%s", error.text);
	return output;
}

static struct target_settings target_of(size_t index, const char *name)
{
	return (struct target_settings){ .index = index, .name = (char *)name };
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void scrape(struct metric_output *output, const struct target_settings *target,
		   struct metric_plan *plan, int64_t time_ns, double value)
{
	struct metric_point points[SERIES];
	const struct metric_scrape told = {
		.plan = plan,
		.points = points,
		.time_ns = time_ns,
	};
	uint32_t i;

	for (i = 0; i < plan->series_count; i++)
		points[i] = (struct metric_point){ value * (i + 1), time_ns };
	output->operations->scrape(output, target, &told);
}

static int connect_to_port(unsigned int port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int connect_to(const struct metric_output *output)
{
	return connect_to_port(web__port(output));
}

static int begin(const struct metric_output *output, const char *path, const char *headers)
{
	int fd = connect_to(output);
	char request[2048];
	int length = snprintf(request, sizeof(request),
			      "GET %s HTTP/1.1\r\nConnection: close\r\n%s\r\n", path, headers);

	assert_int_equal(send(fd, request, length, MSG_NOSIGNAL), length);
	return fd;
}

#define LOCAL "Host: localhost\r\n"

/* The whole answer with a NUL. */
static char *ask(const struct metric_output *output, const char *path, const char *headers)
{
	const size_t room = 1 << 20;
	char *answer = malloc(room);
	int fd = begin(output, path, headers);
	size_t length = 0;
	ssize_t got;

	while ((got = recv(fd, answer + length, room - 1 - length, 0)) > 0)
		length += got;
	answer[length] = '\0';
	close(fd);
	return answer;
}

static json_t *ask_json(const struct metric_output *output, const char *path)
{
	char *answer = ask(output, path, LOCAL);
	json_error_t error;
	json_t *json;

	assert_non_null(strstr(answer, "HTTP/1.1 200 "));
	json = json_loads(strstr(answer, "\r\n\r\n") + 4, 0, &error);
	if (!json)
		fail_msg("%s: %s", path, error.text);
	free(answer);
	return json;
}

static void expect_status(const struct metric_output *output, const char *path,
			  const char *headers, const char *status)
{
	char *answer = ask(output, path, headers);

	if (strncmp(answer + 9, status, 3))
		fail_msg("%s: %.20s", path, answer);
	free(answer);
}

/* The text up to @end, without the rest. */
static char *read_until(int fd, const char *end)
{
	static char text[1 << 16];
	size_t length = 0;

	text[0] = '\0';
	while (!strstr(text, end)) {
		ssize_t got = recv(fd, text + length, sizeof(text) - 1 - length, 0);

		if (got <= 0)
			fail_msg("%s is not in %s", end, text);
		length += got;
		text[length] = '\0';
	}
	return text;
}

static void test_values(void **state)
{
	struct metric_output *output = serve(NULL, 0);
	const struct target_settings target = target_of(3, "h:1");
	struct metric_plan *plan = test_plan__new(families, 3);
	int64_t start_ns = now_ns();
	json_t *json, *family, *plot;
	char path[512];
	int i;

	output->operations->added(output, &target);
	for (i = 0; i <= 10; i++)
		scrape(output, &target, plan, start_ns + i * SECOND_NS, i);

	json = ask_json(output, "/api/series?target=h%3A1");
	assert_string_equal(json_string_value(json_object_get(json, "state")), "up");
	assert_int_equal(json_array_size(json_object_get(json, "families")), 3);
	family = json_array_get(json_object_get(json, "families"), 2);
	assert_string_equal(json_string_value(json_array_get(
				    json_array_get(json_object_get(family, "series"), 0), 1)),
			    "device=\"\"><script>alert(1)</script>\"");
	assert_true(json_number_value(json_array_get(
			    json_array_get(json_object_get(family, "series"), 2), 2)) == 60);
	json_decref(json);

	snprintf(path, sizeof(path),
		 "/api/history?target=h:1&from=%lld&to=%lld&points=100&q=[{%%22family%%22:%%22node_load1%%22},{%%22family%%22:%%22node_cpu_seconds_total%%22,%%22by%%22:%%22mode%%22}]",
		 (long long)(start_ns / 1000000 - 1),
		 (long long)(start_ns / 1000000 + 10001));
	json = ask_json(output, path);
	plot = json_array_get(json_object_get(json, "plots"), 0);
	assert_int_equal(json_array_size(json_object_get(plot, "t")), 11);
	plot = json_array_get(json_object_get(json, "plots"), 1);
	assert_int_equal(json_array_size(json_object_get(plot, "groups")), 2);
	json_decref(json);
	output->operations->free(output);
	metric_plan__put(plan);
}

static void test_states(void **state)
{
	struct metric_output *output = serve(NULL, 0);
	const struct target_settings target = target_of(0, "h:1");
	struct metric_plan *plan = test_plan__new(families, 3);
	int fd, all;

	output->operations->added(output, &target);
	all = begin(output, "/api/live", LOCAL);
	read_until(all, "event: list\n");
	fd = begin(output, "/api/live?target=h:1&q=[{%22family%22:%22node_load1%22}]", LOCAL);
	read_until(fd, "{\"state\":\"loading\",\"reason\":\"\"}");
	output->operations->failed(output, &target, "no route");
	read_until(fd, "{\"state\":\"lost\",\"reason\":\"no route\"}");
	scrape(output, &target, plan, now_ns(), 2);
	read_until(fd, "\"v\":[[6]]");
	/* No scrape follows: stale within two intervals and the quarter second of the checks. */
	read_until(fd, "{\"state\":\"stale\",\"reason\":\"\"}");
	read_until(all, "[0,\"stale\",");
	output->operations->lost(output, &target, plan, now_ns(), "it <is> gone");
	read_until(fd, "{\"state\":\"lost\",\"reason\":\"it \\u003cis\\u003e gone\"}");
	read_until(all, "[0,\"lost\",");
	scrape(output, &target, plan, now_ns(), 3);
	read_until(fd, "\"v\":[[9]]");
	output->operations->removed(output, &target);
	read_until(fd, "event: gone\n");
	read_until(all, "event: list\n");
	close(fd);
	close(all);
	expect_status(output, "/api/series?target=h:1", LOCAL, "404");
	output->operations->free(output);
	metric_plan__put(plan);
}

/* For a recording, the time since its scrapes does not count. */
static void test_replay(void **state)
{
	const int64_t later_ns = dart_clock__ns(CLOCK_MONOTONIC) + 2 * 3600 * SECOND_NS;
	const struct target_settings settings = target_of(0, "h:1");
	struct metric_plan *plan = test_plan__new(families, 3);
	struct web_target *target = web_target__new(&settings, SECOND_NS);
	struct metric_point points[SERIES] = { };
	struct metric_scrape scrape = { .plan = plan, .points = points };
	int64_t i;

	/* One scrape more than a chunk holds, which is dropped as a whole. */
	for (i = 1; i <= HISTORY_CHUNK_SCRAPES + 1; i++) {
		scrape.time_ns = i * SECOND_NS;
		web_target__take(target, &scrape, 1 << 20);
	}
	web_target__check(target, later_ns, 1 << 20, true);
	assert_int_equal(target->state, WEB_UP);
	web_target__lose(target, "no answer");
	web_target__check(target, later_ns, 1 << 20, true);
	assert_int_equal(history__points(target->history), (HISTORY_CHUNK_SCRAPES + 1) * SERIES);
	/* Otherwise it does. */
	web_target__check(target, later_ns, 1 << 20, false);
	assert_int_equal(history__points(target->history), SERIES);
	web_target__take(target, &scrape, 1 << 20);
	web_target__check(target, later_ns, 1 << 20, false);
	assert_int_equal(target->state, WEB_STALE);
	web_target__put(target);
	metric_plan__put(plan);
}

static void test_refused(void **state)
{
	struct metric_output *output = serve(NULL, 0);

	expect_status(output, "/api/hosts", LOCAL, "200");
	expect_status(output, "/api/hosts", "Host: 127.0.0.1:80\r\n", "200");
	expect_status(output, "/api/hosts", "Host: evil.example\r\n", "403");
	expect_status(output, "/api/live", "Host: localhost.evil.example\r\n", "403");
	expect_status(output, "/", "Host: evil.example\r\n", "200");
	expect_status(output, "/api/series", LOCAL, "400");
	expect_status(output, "/api/series?target=none", LOCAL, "404");
	expect_status(output, "/api/history?target=none&q=[]", LOCAL, "404");
	expect_status(output, "/api/history?target=none&q=[", LOCAL, "400");
	expect_status(output, "/api/history?target=none&q=[]&points=0", LOCAL, "400");
	expect_status(output, "/api/history?target=none&q=[]&points=1e9", LOCAL, "400");
	expect_status(output, "/api/history?target=none&q=[]&from=nan", LOCAL, "400");
	expect_status(output, "/api/history?target=none&q=[]&from=5&to=5", LOCAL, "400");
	expect_status(output, "/api/live?target=none", LOCAL, "400");
	expect_status(output, "/api/movers?target=none&seconds=-1", LOCAL, "400");
	expect_status(output, "/api/schemas", LOCAL, "200");
	expect_status(output, "/api/schemas", "Host: evil.example\r\n", "403");
	expect_status(output, "/api/lookup?target=none&store=s&key=[]", LOCAL, "400");
	expect_status(output, "/api/lookup?target=none&store=s&schema=../x&key=[]", LOCAL, "400");
	expect_status(output, "/api/lookup?target=none", "Host: evil.example\r\n", "403");
	output->operations->free(output);
}

static void write_token(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int load_access(struct http_access *access, const char *path, struct dart_error *error)
{
	const struct http_settings settings = { .token_path = (char *)path };
	int ret = http_access__load(access, &settings, error);

	if (ret)
		http_access__clear(access);
	return ret;
}

static void test_token(void **state)
{
	char path[] = "/tmp/dart-token.XXXXXX", bad[] = "/tmp/dart-token.XXXXXX";
	char marked[] = "/tmp/dart-token.XXXXXX";
	struct http_settings http = { .address = "0.0.0.0:0" };
	struct web_settings settings = { .http = &http };
	struct metric_output *output;
	struct http_access access;
	struct dart_error error;

	write_token(path, "0123456789abcdef\n");
	output = serve(path, 0);
	expect_status(output, "/", "Host: any\r\n", "200");
	expect_status(output, "/api/hosts", LOCAL, "401");
	expect_status(output, "/api/hosts",
		      "Host: any\r\nAuthorization: Bearer 0123456789abcdef\r\n", "200");
	expect_status(output, "/api/hosts",
		      "Host: any\r\nAuthorization: Bearer 0123456789abcdeg\r\n",
		      "401");
	expect_status(output, "/api/hosts",
		      "Host: any\r\nCookie: a=b; dart_token=0123456789abcdef\r\n",
		      "200");
	expect_status(output, "/api/hosts",
		      "Host: any\r\nCookie: dart_token=0123456789abcde\r\n",
		      "401");
	expect_status(output, "/api/hosts",
		      "Host: any\r\nCookie: dart_token=0123456789abcdef0\r\n",
		      "401");
	expect_status(output, "/api/hosts",
		      "Host: any\r\nCookie: dart_token=\r\n", "401");
	output->operations->free(output);

	/* Other hosts only see it with a token. */
	assert_int_equal(web__new(&settings, NULL, &output, &error), -EACCES);
	assert_non_null(strstr(error.text, "--web-token-file"));
	write_token(marked, "\xef\xbb\xbf" "0123456789abcdef\r\n");
	assert_int_equal(load_access(&access, marked, &error), 0);
	unlink(marked);
	assert_string_equal(access.secrets->token, "0123456789abcdef");
	http_access__clear(&access);
	write_token(bad, "short\n");
	assert_int_equal(load_access(&access, bad, &error), -EINVAL);
	assert_non_null(strstr(error.text, bad));
	assert_int_equal(load_access(&access, "/nonexistent", &error), -ENOENT);
	unlink(path);
	unlink(bad);
}

static void test_headers(void **state)
{
	static const char *const paths[] = { "/", "/main.js", "/api/hosts", "/api/series" };
	struct metric_output *output = serve(NULL, 0);
	char *answer;
	size_t i;

	for (i = 0; i < 4; i++) {
		answer = ask(output, paths[i], LOCAL);
		assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none';"));
		assert_non_null(strstr(answer, "X-Frame-Options: DENY"));
		assert_non_null(strstr(answer, "X-Content-Type-Options: nosniff"));
		assert_null(strstr(answer, "unsafe-"));
		free(answer);
	}
	output->operations->free(output);
}

/*
 * The memory of 40 targets stays within their shared bound; the last target keeps as many scrapes
 * as the first.
 */
static void test_memory(void **state)
{
	struct metric_output *output = serve(NULL, 1 << 20);
	struct metric_plan *plan = test_plan__new(families, 3);
	struct target_settings targets[40];
	int64_t start_ns = now_ns();
	char names[40][16];
	json_t *json;
	int i, k;

	for (k = 0; k < 40; k++) {
		snprintf(names[k], sizeof(names[k]), "h:%d", k);
		targets[k] = target_of(k, names[k]);
		output->operations->added(output, &targets[k]);
	}
	for (i = 0; i < 3000; i++)
		for (k = 0; k < 40; k++)
			scrape(output, &targets[k], plan,
			       start_ns + i * SECOND_NS + k, i * 1.1 + k);
	json = ask_json(output, "/api/hosts");
	assert_in_range(json_integer_value(json_object_get(
				json_object_get(json, "history"), "bytes")),
			500000, 1 << 20);
	json_decref(json);
	output->operations->free(output);
	metric_plan__put(plan);
}

static void test_queries(void **state)
{
	static const char *const bad[] = {
		"", "{}", "[1]", "[{}]", "[{\"family\": 1}]",
		"[{\"family\": \"a\", \"label\": \"b\"}]",
		"[{\"family\": \"a\", \"rate\": 2}]", "[{\"family\": \"a\"}",
	};
	struct web_queries queries;
	char text[4096] = "[";
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(web_queries__parse(bad[i], &queries), -EINVAL);
	assert_int_equal(web_queries__parse(NULL, &queries), -EINVAL);
	for (i = 0; i <= WEB_QUERIES_MAX; i++)
		strcat(text, i ? ",{\"family\":\"a\"}" : "{\"family\":\"a\"}");
	strcat(text, "]");
	assert_int_equal(web_queries__parse(text, &queries), -EINVAL);
	assert_int_equal(
		web_queries__parse(
			"[{\"family\":\"a\",\"by\":\"\",\"label\":\"l\",\"value\":\"v\",\"rate\":false}]",
			&queries),
		0);
	assert_int_equal(queries.count, 1);
	assert_string_equal(queries.queries[0].by, "");
	assert_int_equal(queries.queries[0].rate, SELECTION_RATE_NEVER);
	web_queries__clear(&queries);
}

/* ---- workers, streams, and targets that come and go, at once */

struct worker {
	struct metric_output *output;
	struct metric_plan *plans[2];
	int index;
};

static void *work(void *data)
{
	struct worker *worker = data;
	char name[16];
	struct target_settings target;
	int round, i;

	snprintf(name, sizeof(name), "w:%d", worker->index);
	for (round = 0; round < 5; round++) {
		target = target_of(worker->index, name);
		worker->output->operations->added(worker->output, &target);
		for (i = 0; i < 100; i++)
			scrape(worker->output, &target, worker->plans[i / 40 % 2], now_ns(), i);
		worker->output->operations->lost(worker->output, &target, worker->plans[0],
						 now_ns(), "for a while");
		worker->output->operations->removed(worker->output, &target);
	}
	return NULL;
}

static void test_at_once(void **state)
{
	static const char *const paths[] = {
		"/api/hosts", "/api/series?target=w:0",
		"/api/movers?target=w:1",
		"/api/history?target=w:0&q=[{%22family%22:%22node_load1%22}]",
	};
	struct metric_output *output = serve(NULL, 0);
	struct metric_plan *plans[] = { test_plan__new(families, 3), test_plan__new(families, 2) };
	struct worker workers[2];
	pthread_t threads[2];
	int fds[2], i;

	for (i = 0; i < 2; i++) {
		workers[i] = (struct worker){ output, { plans[0], plans[1] }, i };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	fds[0] = begin(output, "/api/live", LOCAL);
	fds[1] = begin(output, "/api/live?target=w:0&q=[{%22family%22:%22node_load1%22}]", LOCAL);
	for (i = 0; i < 40; i++)
		free(ask(output, paths[i % 4], LOCAL));
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	close(fds[0]);
	close(fds[1]);
	output->operations->free(output);
	metric_plan__put(plans[0]);
	metric_plan__put(plans[1]);
}

/* Somebody always listens, while one server ends amid requests, which get an answer or none. */
static void *ask_on(void *port)
{
	static const char request[] = "GET /api/hosts HTTP/1.1\r\nConnection: close\r\n" LOCAL "\r\n";
	char answer[4096];
	int fd, i;

	for (i = 0; i < 50; i++) {
		fd = connect_to_port(*(const unsigned int *)port);
		if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0)
			while (recv(fd, answer, sizeof(answer), 0) > 0)
				;
		close(fd);
	}
	return NULL;
}

/* At another address, with other names: the history stays, and mistakes change nothing. */
static void test_moves(void **state)
{
	struct http_settings http = { .address = "127.0.0.1:0" };
	struct target_settings target = target_of(0, "h:1");
	struct metric_output *output = serve(NULL, 0);
	unsigned int port = web__port(output);
	char address[32], name[] = "page.example", url[HTTP_URL_MAX];
	struct dart_error error;
	pthread_t thread;
	char *answer;

	output->operations->added(output, &target);
	snprintf(address, sizeof(address), ":%u", port);
	assert_int_equal(web__serve(output, &(struct http_settings){ .address = address }, &error),
			 -EACCES);
	expect_status(output, "/api/hosts", LOCAL, "200");
	expect_status(output, "/api/hosts", "Host: page.example\r\n", "403");
	/* The same port, and a name more. */
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	http.address = address;
	http.names[http.name_count++] = name;
	assert_int_equal(pthread_create(&thread, NULL, ask_on, &port), 0);
	assert_int_equal(web__serve(output, &http, &error), 0);
	pthread_join(thread, NULL);
	assert_int_equal(web__port(output), port);
	answer = ask(output, "/api/hosts", "Host: page.example\r\n");
	assert_non_null(strstr(answer, "h:1"));
	free(answer);
	web__end_serving(output);
	web__url(output, url);
	assert_string_equal(url, "");
	assert_int_equal(web__serve(output, &http, &error), 0);
	expect_status(output, "/api/hosts", "Host: page.example\r\n", "200");
	output->operations->free(output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("values of a scrape are told as they are, and the past in plots", test_values),
		TEST("streams tell points and states: loading, stale, lost, gone", test_states),
		TEST("the past of a recording is neither late nor too old", test_replay),
		TEST("other hosts' names, missing targets and malformed questions are refused",
		     test_refused),
		TEST("values need the token, if there is one; without one other hosts are not served",
		     test_token),
		TEST("each answer has the policies that browsers enforce", test_headers),
		TEST("the past of all targets stays within its bytes", test_memory),
		TEST("queries are JSON of the documented form, and bounded", test_queries),
		TEST("it moves to other settings with its past, and mistakes change nothing", test_moves),
		TEST("workers, streams and questions go on while targets come and go",
		     test_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

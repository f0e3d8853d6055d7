// SPDX-License-Identifier: GPL-2.0-only
/* The page of a target that is lost, silent for too long, or was never read. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "selftests/unit/controller/metrics/metric_samples.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/exposition/exposition.h"
#include "tools/controller/metrics/sink_metrics.h"

static const struct wanted_field fields[] = { { "v", "", DART_CONTROL_FIELD_COUNTER }, {} };

static struct target_settings targets[] = {
	{ .index = 0, .name = "a:4792", .host = "a" },
	{ .index = 1, .name = "b:4792", .host = "b" },
};

struct fixture {
	struct sink *sink;
	struct http_server *server;
	struct http_page pages[EXPOSITION_PAGES];
	struct output *log;
	int log_fds[2]; /* of a pipe */
	char address[32];
	in_port_t port;
	struct host host;
	uint32_t entry_count; /* of the host, including ended entries */
	char answer[65536];
};

/* A port of the loopback interface that was free a moment ago. */
static void choose_port(struct fixture *fixture)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (void *)&address, length), 0);
	assert_int_equal(getsockname(fd, (void *)&address, &length), 0);
	close(fd);
	fixture->port = address.sin_port;
	snprintf(fixture->address, sizeof(fixture->address), "127.0.0.1:%u",
		 ntohs(address.sin_port));
}

static int open_fixture(void **state, bool is_replay)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct http_server_options options = { .page_count = EXPOSITION_PAGES };
	struct metric_output *output;
	struct dart_error error;
	uint32_t entry;

	assert_non_null(fixture);
	assert_int_equal(pipe(fixture->log_fds), 0);
	assert_int_equal(output__open(fixture->log_fds[1], "the log", 65536, NULL, &fixture->log),
			 0);
	output = exposition__new(is_replay, fixture->log);
	assert_non_null(output);
	exposition__pages(output, fixture->pages);
	fixture->sink = sink_metrics__new(NULL, &output, 1);
	assert_non_null(fixture->sink);
	options.address = fixture->address;
	options.pages = fixture->pages;
	do {
		choose_port(fixture);
	} while (http_server__new(&options, &fixture->server, &error));
	fixture->sink->operations->added(fixture->sink, &targets[0]);
	fixture->sink->operations->added(fixture->sink, &targets[1]);
	host__init(&fixture->host);
	entry = host__add(&fixture->host, "e+1s", host__record(&fixture->host, fields),
			  DART_CONTROL_COPIES_SUM, 1);
	host__mark(&fixture->host, entry, 0, 2);
	fixture->entry_count = 1;
	*state = fixture;
	return 0;
}

static int open_live(void **state)
{
	return open_fixture(state, false);
}

static int open_replay(void **state)
{
	return open_fixture(state, true);
}

static int close_fixture(void **state)
{
	struct fixture *fixture = *state;

	http_server__free(fixture->server);
	fixture->sink->operations->free(fixture->sink);
	output__close(fixture->log);
	close(fixture->log_fds[0]);
	close(fixture->log_fds[1]);
	fixture->host.sample.entry_count = fixture->entry_count;
	host__free(&fixture->host);
	free(fixture);
	return 0;
}

/* A scrape of the first target; without another it is lost at @fresh_until_ns. */
static void scrape(struct fixture *fixture, uint64_t fresh_until_ns)
{
	static const struct latency decoded;

	fixture->host.sample.head.fresh_until_ns = fresh_until_ns;
	assert_int_equal(fixture->sink->operations->sample(fixture->sink, &targets[0],
							   &fixture->host.sample, &decoded),
			 0);
}

/* The answer to @request, with its head; returns the status. */
static int send_request(struct fixture *fixture, const char *request)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = fixture->port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t length = 0;
	ssize_t got;
	int status;

	assert_int_equal(connect(fd, (const void *)&address, sizeof(address)), 0);
	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
	while ((got = read(fd, fixture->answer + length, sizeof(fixture->answer) - 1 - length)) > 0)
		length += got;
	close(fd);
	fixture->answer[length] = '\0';
	assert_int_equal(sscanf(fixture->answer, "HTTP/1.1 %d", &status), 1);
	return status;
}

static int ask_with(struct fixture *fixture, const char *path, const char *headers)
{
	char request[512];

	snprintf(request, sizeof(request),
		 "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n", path,
		 fixture->address, headers);
	return send_request(fixture, request);
}

static int ask(struct fixture *fixture, const char *path)
{
	return ask_with(fixture, path, "");
}

static bool answer_has(const struct fixture *fixture, const char *text)
{
	return strstr(fixture->answer, text);
}

static unsigned int lines_of(const struct fixture *fixture, const char *text)
{
	const char *at = fixture->answer;
	unsigned int lines = 0;

	while ((at = strstr(at, text))) {
		lines++;
		at++;
	}
	return lines;
}

static void test_never_read(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(ask(fixture, "/metrics?target=a"), 503);
	assert_true(answer_has(fixture, "it has not been read so far"));
	fixture->sink->operations->lost(fixture->sink, &targets[0], "no route to it");
	assert_int_equal(ask(fixture, "/metrics?target=a:4792"), 503);
	assert_true(answer_has(fixture, "a:4792 is lost: no route to it"));
	assert_int_equal(ask(fixture, "/metrics?target=c"), 404);
	/* Not all targets: the name is missing. */
	assert_int_equal(ask(fixture, "/metrics?target="), 404);
	assert_int_equal(ask(fixture, "/metrics?target"), 404);
	assert_int_equal(ask(fixture, "/metrics?target=a%00b"), 404);
	assert_int_equal(ask(fixture, "/metrics"), 200);
	assert_true(answer_has(fixture, "dart_up{instance=\"a:4792\"} 0"));
	assert_true(answer_has(fixture, "dart_up{instance=\"b:4792\"} 0"));
}

/* Peers should scrape targets at the address that they called. */
static void test_discovery(void **state)
{
	struct fixture *fixture = *state;
	char expected[64];

	snprintf(expected, sizeof(expected), "\"targets\": [\n   \"%s\"", fixture->address);
	assert_int_equal(ask(fixture, "/sd"), 200);
	assert_int_equal(lines_of(fixture, expected), 2);
	/* Without a name, the address of the connection counts. */
	assert_int_equal(send_request(fixture, "GET /sd HTTP/1.0\r\n\r\n"), 200);
	assert_int_equal(lines_of(fixture, expected), 2);
	assert_int_equal(send_request(fixture,
				      "GET http://proxied.example:80/sd HTTP/1.1\r\nHost: h\r\n"
				      "Connection: close\r\n\r\n"),
			 200);
	assert_int_equal(lines_of(fixture, "\"proxied.example:80\""), 2);
}

/* Each of three programs gets its part, and all get each target once. */
static void test_discovery_of_members(void **state)
{
	struct fixture *fixture = *state;
	unsigned int member, targets_of_all = 0;
	char path[64];

	for (member = 1; member <= 3; member++) {
		snprintf(path, sizeof(path), "/sd?member=%u&members=3", member);
		assert_int_equal(ask(fixture, path), 200);
		targets_of_all += lines_of(fixture, "\"__param_target\"");
	}
	assert_int_equal(targets_of_all, 2);
	assert_int_equal(ask(fixture, "/sd?member=3&members=3&replication=3"), 200);
	assert_int_equal(lines_of(fixture, "\"__param_target\""), 2);
	assert_int_equal(ask(fixture, "/sd?member=4&members=3"), 400);
	assert_true(answer_has(fixture, "there is no member 4 of 3"));
	assert_int_equal(ask(fixture, "/sd?member=1"), 400);
	assert_true(answer_has(fixture, "needs 'members'"));
	assert_int_equal(ask(fixture, "/sd?member=1x&members=3"), 400);
	assert_int_equal(ask(fixture, "/sd?member=&members=3"), 400);
	assert_int_equal(ask(fixture, "/sd?member=1&members=4294967297"), 400);
	assert_true(answer_has(fixture, "numbers from 1 to 1024"));
}

static void test_lost(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t later_ns = monotonic_ns() + 3600 * SECOND;

	scrape(fixture, later_ns);
	assert_int_equal(ask(fixture, "/metrics?target=a"), 200);
	assert_true(answer_has(fixture, "\ndart_up 1"));
	assert_true(answer_has(fixture, "\ndart_e_v_total"));

	/* A connection that fails is not a host that is lost. */
	fixture->sink->operations->lost(fixture->sink, &targets[0], "reset");
	assert_int_equal(ask(fixture, "/metrics?target=a"), 200);
	assert_true(answer_has(fixture, "\ndart_e_v_total"));

	fixture->sink->operations->down(fixture->sink, &targets[0], 7000 * SECOND, "no answer");
	assert_int_equal(ask(fixture, "/metrics?target=a"), 503);
	assert_true(answer_has(fixture, "a:4792 is lost: no answer"));
	assert_int_equal(ask(fixture, "/metrics"), 200);
	assert_true(answer_has(fixture, "dart_up{instance=\"a:4792\"} 0"));
	assert_false(answer_has(fixture, "dart_e_v_total"));

	scrape(fixture, later_ns);
	assert_int_equal(ask(fixture, "/metrics?target=a"), 200);
	assert_true(answer_has(fixture, "\ndart_up 1"));
}

/* The news of the loss is still in the queue of a worker. */
static void test_old(void **state)
{
	struct fixture *fixture = *state;

	scrape(fixture, monotonic_ns() - 1);
	assert_int_equal(ask(fixture, "/metrics?target=a"), 503);
	assert_true(answer_has(fixture, "its values are too old"));
	assert_int_equal(ask(fixture, "/metrics"), 200);
	assert_true(answer_has(fixture, "dart_up{instance=\"a:4792\"} 0"));
	assert_false(answer_has(fixture, "dart_e_v_total"));
}

/* Adds or ends a service of the host, which had @events. */
static void set_service(struct fixture *fixture, bool is_there, uint64_t events)
{
	fixture->host.table.generation++;
	fixture->host.sample.entry_count = is_there ? 2 : 1;
	if (is_there)
		host__set(&fixture->host, 1, 0, "v", 0, events);
}

static void add_service(struct fixture *fixture, uint64_t events)
{
	const uint32_t entry = host__add(&fixture->host, "cgroup@/shop+1s",
					 host__record(&fixture->host, fields),
					 DART_CONTROL_COPIES_SUM, 1);

	host__mark(&fixture->host, entry, 0, 2);
	fixture->entry_count++;
	set_service(fixture, true, events);
}

static void test_ended(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t later_ns = monotonic_ns() + 3600 * SECOND;

	add_service(fixture, 7);
	scrape(fixture, later_ns);
	/*
	 * The series ends before any reader asks: the page shows its last value and the live
	 * series.
	 */
	set_service(fixture, false, 0);
	scrape(fixture, later_ns);
	scrape(fixture, later_ns);
	assert_int_equal(ask(fixture, "/metrics?target=a"), 200);
	assert_int_equal(lines_of(fixture, "\ndart_cgroup_v_total{"), 1);
	assert_true(answer_has(fixture, "\"/shop\"} 7 "));
	assert_int_equal(lines_of(fixture, "\ndart_e_v_total"), 1);
	/* A second reader gets it, too, with the labels of the host where it asks for all. */
	scrape(fixture, later_ns);
	assert_int_equal(ask(fixture, "/metrics"), 200);
	assert_int_equal(lines_of(fixture, "\ndart_cgroup_v_total{"), 1);
	assert_true(answer_has(fixture, "instance=\"a:4792\""));
	/* The series is back, and its last value was served: the new value follows. */
	set_service(fixture, true, 2);
	scrape(fixture, later_ns);
	assert_int_equal(ask(fixture, "/metrics?target=a"), 200);
	assert_int_equal(lines_of(fixture, "\ndart_cgroup_v_total{"), 1);
	assert_true(answer_has(fixture, "\"/shop\"} 2 "));
}

/*
 * The series ends and is back before a reader asks: one page shows its last value, the next page
 * the new value.
 */
static void test_ended_and_back(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t later_ns = monotonic_ns() + 3600 * SECOND;
	int i;

	add_service(fixture, 7);
	scrape(fixture, later_ns);
	set_service(fixture, false, 0);
	scrape(fixture, later_ns);
	set_service(fixture, true, 1);
	scrape(fixture, later_ns);
	scrape(fixture, later_ns);
	for (i = 0; i < 2; i++) {
		assert_int_equal(ask(fixture, "/metrics?target=a"), 200);
		assert_int_equal(lines_of(fixture, "\ndart_cgroup_v_total{"), 1);
		assert_true(answer_has(fixture, "\"/shop\"} 7 "));
	}
	scrape(fixture, later_ns);
	assert_int_equal(ask(fixture, "/metrics?target=a"), 200);
	assert_int_equal(lines_of(fixture, "\ndart_cgroup_v_total{"), 1);
	assert_true(answer_has(fixture, "\"/shop\"} 1 "));
	/* A host that is lost serves nothing more. */
	set_service(fixture, false, 0);
	scrape(fixture, later_ns);
	fixture->sink->operations->down(fixture->sink, &targets[0], 7000 * SECOND, "no answer");
	assert_int_equal(ask(fixture, "/metrics"), 200);
	assert_false(answer_has(fixture, "dart_cgroup_v_total"));
}

/* Ended series use the names that the peer takes, like the other series of their host. */
static void test_ended_names(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t later_ns = monotonic_ns() + 3600 * SECOND;
	struct shared_text *labels = shared_text__new("{\"host.name\":\"x\"}");

	targets[0].labels = labels;
	add_service(fixture, 7);
	scrape(fixture, later_ns);
	set_service(fixture, false, 0);
	scrape(fixture, later_ns);
	assert_int_equal(ask(fixture, "/metrics"), 200);
	assert_int_equal(lines_of(fixture, "\ndart_cgroup_v_total{"), 1);
	assert_true(answer_has(fixture, "host_name=\"x\""));
	assert_false(answer_has(fixture, "host.name"));
	assert_int_equal(ask_with(fixture, "/metrics",
				  "Accept: text/plain;version=1.0.0;escaping=allow-utf-8\r\n"),
			 200);
	assert_int_equal(lines_of(fixture, "\ndart_cgroup_v_total{"), 1);
	assert_true(answer_has(fixture, "\"host.name\"=\"x\""));
	assert_false(answer_has(fixture, "host_name"));
	targets[0].labels = NULL;
	shared_text__release(labels);
}

/* By the weights of the header Accept, and the parameters of the range that was taken. */
static void test_formats(void **state)
{
	static const struct {
		const char *accept;
		bool is_openmetrics, is_utf8;
	} cases[] = {
		{ "Accept: application/openmetrics-text\r\n", true, false },
		{ "Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4,*/*;q=0.1\r\n",
		  true, false },
		{ "Accept: application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		  "application/openmetrics-text;version=0.0.1;q=0.5,"
		  "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,"
		  "*/*;q=0.2\r\n",
		  true, true },
		/* scrape_protocols with the old text first. */
		{ "Accept: text/plain;version=0.0.4;q=0.6 , "
		  "Application/OpenMetrics-Text; version=1.0.0; q=0.5\r\n",
		  false, false },
		{ "Accept: text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		  "application/openmetrics-text;q=0.5\r\n",
		  false, true },
		{ "Accept: text/plain;q=0.6,application/openmetrics-text;escaping=allow-utf-8;q=0.5\r\n",
		  false, false },
		{ "Accept: application/openmetrics-text;q=0,text/plain\r\n", false, false },
		{ "Accept: application/openmetrics-text;q=0\r\n", false, false },
		{ "Accept: application/openmetrics-text;q=x,text/*\r\n", false, false },
		{ "Accept: */*\r\n", false, false },
		{ "Accept: application/*\r\n", false, false },
		{ "Accept: ,;,=;q,\r\n", false, false },
		{ "", false, false },
	};
	struct fixture *fixture = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ask_with(fixture, "/metrics", cases[i].accept), 200);
		if (answer_has(fixture, "Content-Type: application/openmetrics-text") !=
			    cases[i].is_openmetrics ||
		    answer_has(fixture, "escaping=allow-utf-8") != cases[i].is_utf8)
			fail_msg("for %s%s", cases[i].accept, fixture->answer);
	}
}

/* Number of ended series that no page showed, for @reason. */
static unsigned int lost(struct fixture *fixture, const char *reason)
{
	char wanted[100];
	const char *at;

	assert_int_equal(ask(fixture, "/-/metrics"), 200);
	snprintf(wanted, sizeof(wanted),
		 "\ndart_controller_page_ended_series_lost_total{reason=\"%s\"} ", reason);
	at = strstr(fixture->answer, wanted);
	assert_non_null(at);
	return strtoul(at + strlen(wanted), NULL, 10);
}

static void test_lost_ends(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t later_ns = monotonic_ns() + 3600 * SECOND;

	add_service(fixture, 7);
	scrape(fixture, later_ns);
	set_service(fixture, false, 0);
	scrape(fixture, later_ns);
	/* It is back and ends again before anybody asks. */
	set_service(fixture, true, 1);
	scrape(fixture, later_ns);
	assert_int_equal(lost(fixture, "ended_again"), 0);
	set_service(fixture, false, 0);
	scrape(fixture, later_ns);
	assert_int_equal(lost(fixture, "ended_again"), 1);
	/* The host is lost with the last value of the service. */
	assert_int_equal(lost(fixture, "agent_lost"), 0);
	fixture->sink->operations->down(fixture->sink, &targets[0], 7000 * SECOND, "no answer");
	assert_int_equal(lost(fixture, "agent_lost"), 1);

	/* Series that a page showed are not lost. */
	set_service(fixture, true, 3);
	scrape(fixture, later_ns);
	set_service(fixture, false, 0);
	scrape(fixture, later_ns);
	assert_int_equal(ask(fixture, "/metrics"), 200);
	assert_true(answer_has(fixture, "\"/shop\"} 3 "));
	set_service(fixture, true, 4);
	scrape(fixture, later_ns);
	fixture->sink->operations->removed(fixture->sink, &targets[0]);
	assert_int_equal(lost(fixture, "ended_again"), 1);
	assert_int_equal(lost(fixture, "agent_lost"), 1);
	assert_int_equal(lost(fixture, "too_many"), 0);
	assert_int_equal(lost(fixture, "not_asked"), 0);
}

static void test_too_many_ends(void **state)
{
	enum { TOO_MANY = 500 };
	struct fixture *fixture = *state;
	const uint64_t later_ns = monotonic_ns() + 3600 * SECOND;
	char said[1024];
	uint32_t entry, i;
	ssize_t length;

	entry = host__add(&fixture->host, "many+1s", host__record(&fixture->host, fields),
			  DART_CONTROL_COPIES_ROW, ENDED_SERIES_MAX + TOO_MANY);
	for (i = 0; i < ENDED_SERIES_MAX + TOO_MANY; i++)
		host__mark(&fixture->host, entry, i, 2);
	fixture->entry_count++;
	fixture->host.table.generation++;
	scrape(fixture, later_ns);
	set_service(fixture, false, 0);
	scrape(fixture, later_ns);
	assert_int_equal(lost(fixture, "too_many"), TOO_MANY);
	length = read(fixture->log_fds[0], said, sizeof(said) - 1);
	assert_true(length > 0);
	said[length] = '\0';
	assert_non_null(strstr(said, "does not have the last values of 500 series"));
	/* They still wait: nothing more is lost. */
	scrape(fixture, later_ns);
	assert_int_equal(lost(fixture, "too_many"), TOO_MANY);
}

/* A page exists, and no reader asks for it. */
static void test_not_asked(void **state)
{
	struct fixture *fixture = *state;
	struct metric_point points[32] = {};
	struct metric_scrape scraped = { .points = points };
	struct ended_losses losses = {};
	struct metric_plan *before;
	struct ended *ended, *none;
	uint32_t i;

	add_service(fixture, 7);
	before = plan_of(&fixture->host, NULL);
	assert_true(before->series_count <= 32);
	for (i = 0; i < before->series_count; i++)
		points[i].time_ns = SECOND;
	set_service(fixture, false, 0);
	scraped.plan = plan_of(&fixture->host, NULL);
	ended = ended__next(NULL, before, points, &scraped, &targets[0], 1, &losses);
	assert_non_null(ended);
	none = ended__next(ended, scraped.plan, points, &scraped, &targets[0],
			   ENDED_WAITS_NS, &losses);
	assert_ptr_equal(none, ended);
	ended__put(none);
	assert_int_equal(losses.series[ENDED_NOT_ASKED], 0);
	none = ended__next(ended, scraped.plan, points, &scraped, &targets[0],
			   1 + ENDED_WAITS_NS, &losses);
	assert_null(none);
	assert_int_equal(losses.series[ENDED_NOT_ASKED], 1);
	ended__put(ended);
	metric_plan__put(before);
	metric_plan__put(scraped.plan);
}

static void test_replay(void **state)
{
	struct fixture *fixture = *state;

	scrape(fixture, 0);
	assert_int_equal(ask(fixture, "/metrics?target=a"), 200);
	assert_true(answer_has(fixture, "\ndart_e_v_total"));
	fixture->sink->operations->down(fixture->sink, &targets[0], 7000 * SECOND, "no answer");
	assert_int_equal(ask(fixture, "/metrics?target=a"), 503);
}

#define LIVE(name, test)                                   \
	{                                                  \
		name, test, open_live, close_fixture, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIVE("of a target that was never read answers 503 and why", test_never_read),
		LIVE("for discovery has the address that the peer has called", test_discovery),
		LIVE("has the targets that fall to a member, which the request names",
		     test_discovery_of_members),
		LIVE("of a lost target answers 503, and has values again when the target is back",
		     test_lost),
		LIVE("of a target with too old values answers 503 before the loss is known",
		     test_old),
		LIVE("has the last values of series that have ended once more", test_ended),
		LIVE("has the old values of a series that is back before its new values",
		     test_ended_and_back),
		LIVE("has the last values with the names of labels that the peer takes",
		     test_ended_names),
		LIVE("has the format that the peer likes most", test_formats),
		LIVE("of the controller counts last values that were lost with their host or replaced",
		     test_lost_ends),
		LIVE("of the controller counts ended series beyond the limit, which is said",
		     test_too_many_ends),
		LIVE("of the controller counts ended series for which nobody asked in time",
		     test_not_asked),
		{ "of a replay has values of any age until the host was lost",
		  test_replay, open_replay, close_fixture, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

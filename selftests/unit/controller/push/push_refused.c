// SPDX-License-Identifier: GPL-2.0-only
/* Outputs that push to receivers that refuse, are older, or redirect requests. */
#include "push_sending_scene.h"

static void test_refused(void **state)
{
	struct fixture fixture = {
		.receiver.answers = {
			ACCEPTED_2,
			"HTTP/1.1 404 No\r\nContent-Length: 16\r\n\r\nout of\033order\nx\n",
			"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
			ACCEPTED_2,
		},
	};
	uint32_t i;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 1; i <= 4; i++) {
		scrape(&fixture);
		wait_for(&fixture, i * SERIES);
	}
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.sent, 2 * SERIES);
	assert_int_equal(fixture.counts.refused, 2 * SERIES);
	assert_int_equal(fixture.counts.retries, 0);
	assert_int_equal(atomic_load(&fixture.receiver.requests), 4);
	assert_int_equal(times_said(&fixture, "refuses samples"), 1);
	assert_int_equal(times_said(&fixture, "status 404: out of order\n"), 1);
	free(fixture.receiver.accepted);
}

/* @first: to 2.0.  @samples: that are accepted then. */
static void expect_older(const char *first)
{
	struct fixture fixture = { .receiver.answers = { first, ACCEPTED } };
	char *accepted;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	scrape(&fixture);
	wait_for(&fixture, SERIES);
	scrape(&fixture);
	wait_for(&fixture, 2 * SERIES);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.sent, 2 * SERIES);
	assert_int_equal(fixture.counts.refused, 0);
	assert_int_equal(atomic_load(&fixture.receiver.requests), 3);
	assert_non_null(strstr(fixture.receiver.head, "Content-Type: application/x-protobuf\r\n"));
	assert_non_null(
		strstr(fixture.receiver.head, "X-Prometheus-Remote-Write-Version: 0.1.0\r\n"));
	assert_int_equal(times_said(&fixture, "it gets 1.0"), 1);
	accepted = fixture.receiver.accepted;
	/* An old receiver accepts 2.0 without reading it; this receiver understood it. */
	if (!strncmp(first, "HTTP/1.1 2", 10)) {
		for (size_t i = 0; i < SERIES; i++)
			accepted = strchr(accepted, '\n') + 1;
	}
	expect_samples(accepted, 0, 2);
	free(fixture.receiver.accepted);
}

static void test_older(void **state)
{
	expect_older("HTTP/1.1 415 No\r\nContent-Length: 0\r\n\r\n");
	expect_older("HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n");
	expect_older(ACCEPTED);
}

/* While messages are made of much that waits. */
static void test_older_meanwhile(void **state)
{
	const uint32_t scrapes = 1000;
	struct fixture fixture = { .receiver.answers = {
		"HTTP/1.1 415 No\r\nContent-Length: 0\r\n\r\n",
		ACCEPTED,
	} };
	uint32_t i;

	receiver__open(&fixture.receiver);
	fixture.settings.batch = 40 * SERIES;
	prepare(&fixture);
	start(&fixture);
	push__set_waits(fixture.output, true);
	for (i = 0; i < scrapes; i++)
		scrape(&fixture);
	wait_for(&fixture, scrapes * SERIES);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.sent, scrapes * SERIES);
	assert_int_equal(fixture.counts.refused, 0);
	assert_int_equal(fixture.counts.dropped, 0);
	assert_int_equal(times_said(&fixture, "it gets 1.0"), 1);
	expect_samples(fixture.receiver.accepted, 0, scrapes);
	free(fixture.receiver.accepted);
}

static void test_only_newer(void **state)
{
	struct fixture fixture = {
		.receiver.answers = {
			"HTTP/1.1 415 No\r\nContent-Length: 0\r\n\r\n",
			ACCEPTED,
			ACCEPTED_2,
		},
		.settings.version = 2,
	};
	uint32_t i;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 1; i <= 3; i++) {
		scrape(&fixture);
		wait_for(&fixture, i * SERIES);
	}
	stop(&fixture);
	receiver__close(&fixture.receiver);
	/* A receiver of 2.0 says so. */
	assert_int_equal(fixture.counts.refused, 2 * SERIES);
	assert_int_equal(fixture.counts.sent, SERIES);
	assert_non_null(strstr(fixture.receiver.head, "write.v2.Request"));
	free(fixture.receiver.accepted);
}

/* Another receiver answers, as after an undone upgrade, or with a load balancer. */
static void test_turns_older(void **state)
{
	struct fixture fixture = { .receiver.answers = { ACCEPTED_2, ACCEPTED_2, ACCEPTED } };
	uint32_t i;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 1; i <= 5; i++) {
		scrape(&fixture);
		wait_for(&fixture, i * SERIES);
	}
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.sent, 5 * SERIES);
	assert_int_equal(fixture.counts.refused, 0);
	/* The third message came twice: as 2.0, which it did not understand, and as 1.0. */
	assert_int_equal(atomic_load(&fixture.receiver.requests), 6);
	assert_non_null(strstr(fixture.receiver.head,
			       "X-Prometheus-Remote-Write-Version: 0.1.0\r\n"));
	assert_int_equal(times_said(&fixture, "it gets 1.0"), 1);
	free(fixture.receiver.accepted);
}

/* A redirect to the same place: the request carries the token. */
static void test_redirected(void **state)
{
	struct fixture fixture = { .receiver.answers = {
		"HTTP/1.1 308 No\r\nLocation: /new?a=1\r\nContent-Length: 0\r\n\r\n",
		ACCEPTED_2,
	} };
	char token[] = "/tmp/push-token-XXXXXX";

	make_file(token, "one");
	receiver__open(&fixture.receiver);
	prepare(&fixture);
	fixture.settings.token_file = token;
	start(&fixture);
	scrape(&fixture);
	wait_for(&fixture, SERIES);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.sent, SERIES);
	assert_int_equal(fixture.counts.retries, 0);
	assert_non_null(strstr(fixture.receiver.head, "POST /new?a=1 HTTP/1.1\r\n"));
	assert_non_null(strstr(fixture.receiver.head, "Authorization: Bearer one\r\n"));
	expect_samples(fixture.receiver.accepted, 0, 1);
	free(fixture.receiver.accepted);
	unlink(token);
}

/* To another port, with @set: token, or user and password, which stay where they belong. */
static void expect_redirected_away(const char *status,
				   void (*set)(struct fixture *fixture, char *path))
{
	struct fixture fixture = {};
	struct receiver other = { .answers = { ACCEPTED_2 } };
	char token[] = "/tmp/push-token-XXXXXX", answer[200];

	make_file(token, "one");
	receiver__open(&other);
	snprintf(answer, sizeof(answer),
		 "HTTP/1.1 %s No\r\nLocation: http://127.0.0.1:%u/away\r\nContent-Length: 0\r\n\r\n",
		 status, other.port);
	fixture.receiver.answers[0] = answer;
	receiver__open(&fixture.receiver);
	prepare(&fixture);
	set(&fixture, token);
	start(&fixture);
	scrape(&fixture);
	wait_for(&fixture, SERIES);
	scrape(&fixture);
	wait_for(&fixture, 2 * SERIES);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	receiver__close(&other);
	assert_int_equal(fixture.counts.sent, 2 * SERIES);
	assert_non_null(strstr(fixture.receiver.head, "Authorization: "));
	assert_non_null(strstr(other.head, "POST /away HTTP/1.1\r\n"));
	assert_null(strstr(other.head, "Authorization"));
	expect_samples(other.accepted, 0, 2);
	free(fixture.receiver.accepted);
	free(other.accepted);
	unlink(token);
}

static void set_token(struct fixture *fixture, char *path)
{
	fixture->settings.token_file = path;
}

static void set_user(struct fixture *fixture, char *path)
{
	fixture->settings.user = (char *)"u";
	fixture->settings.password_file = path;
}

static void set_url(struct fixture *fixture, char *path)
{
	snprintf(fixture->url, sizeof(fixture->url), "http://u:p@127.0.0.1:%u/w",
		 fixture->receiver.port);
}

static void test_redirected_away(void **state)
{
	expect_redirected_away("307", set_token);
	expect_redirected_away("308", set_user);
	expect_redirected_away("307", set_url);
}

/* Waits until an attempt fails. */
static void wait_for_failure(struct fixture *fixture)
{
	const uint64_t until_ns = monotonic_ns() + WAIT_NS;

	do {
		assert_true(monotonic_ns() < until_ns);
		poll(NULL, 0, 1);
		push__counts(fixture->output, &fixture->counts);
	} while (!fixture->counts.is_failing);
}

/* Samples wait if a redirect leads nowhere, or would make a GET of the POST. */
static void test_redirected_nowhere(void **state)
{
	static const char *const answers[] = {
		"HTTP/1.1 307 No\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 308 No\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 308 No\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 302 No\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
	};
	struct fixture fixture;
	size_t i;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		fixture = (struct fixture){ .receiver.answers = { answers[i] } };
		receiver__open(&fixture.receiver);
		prepare(&fixture);
		start(&fixture);
		scrape(&fixture);
		wait_for_failure(&fixture);
		assert_int_equal(fixture.counts.waiting, SERIES);
		assert_int_equal(fixture.counts.refused, 0);
		stop(&fixture);
		receiver__close(&fixture.receiver);
		assert_non_null(strstr(fixture.receiver.head, "POST /"));
		free(fixture.receiver.accepted);
	}
}

static void test_split(void **state)
{
	struct metric_plan *plan = invented_plan__new(SERIES, 0);
	const struct metric_series *series = plan->series + SERIES / 3;
	char text[300];

	expect_split("instance=bad:1", 1, SERIES);
	expect_split("instance=bad:1", 2, SERIES);
	snprintf(text, sizeof(text), " __name__=%s %s=%s instance=bad:1 job=dart mode=%s\n",
		 series->name, series->labels[0].name, series->labels[0].value,
		 series->labels[1].value);
	metric_plan__put(plan);
	expect_split(text, 1, 1);
	expect_split(text, 2, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a message that is refused is counted, said once, and not sent again",
		     test_refused),
		TEST("a receiver that does not take 2.0 gets all as 1.0", test_older),
		TEST("one that says so while messages are made gets all as 1.0, too",
		     test_older_meanwhile),
		TEST("a version that is set is the only one, and 2.0 has to be confirmed",
		     test_only_newer),
		TEST("a receiver that turns 1.0 costs nothing", test_turns_older),
		TEST("307 and 308 are followed with the message and the token", test_redirected),
		TEST("to another place without token, user and password", test_redirected_away),
		TEST("a redirection that cannot be followed makes messages wait",
		     test_redirected_nowhere),
		TEST("what is refused is searched for, counted, and sent apart", test_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

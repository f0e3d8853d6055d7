// SPDX-License-Identifier: GPL-2.0-only
/* Outputs that push, and receivers that accept, refuse, are old, or are not there. */
#include <libdart/random.h>

#include "push_sending_scene.h"
#include "tools/controller/push/queue/block.h"
#include "tools/controller/push/notices.h"

static void test_accepted(void **state)
{
	struct fixture fixture = { .receiver.answers = { ACCEPTED_2 } };
	uint32_t i;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 0; i < 20; i++)
		scrape(&fixture);
	wait_for(&fixture, 20 * SERIES);
	wait_until_empty(&fixture);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	/* Only the summary at the end. */
	assert_int_equal(times_said(&fixture, "\n"), 1);
	assert_int_equal(times_said(&fixture, " samples sent, 0 refused, 0 dropped, "), 1);
	assert_int_equal(fixture.counts.sent, 20 * SERIES);
	assert_int_equal(fixture.counts.refused, 0);
	assert_int_equal(fixture.counts.dropped, 0);
	assert_int_equal(fixture.counts.queue_bytes, 0);
	assert_int_equal(fixture.counts.requests, atomic_load(&fixture.receiver.requests));
	assert_int_equal(fixture.counts.bytes, atomic_load(&fixture.receiver.bytes));
	assert_non_null(
		strstr(fixture.receiver.head, "X-Prometheus-Remote-Write-Version: 2.0.0\r\n"));
	assert_non_null(strstr(fixture.receiver.head, "User-Agent: dart-controller/"));
	assert_null(strstr(fixture.receiver.head, "Expect"));
	expect_samples(fixture.receiver.accepted, 0, 20);
	free(fixture.receiver.accepted);
}

/* A host with a few samples more than a request takes. */
static void test_idle(void **state)
{
	struct fixture fixture = {
		.receiver.answers = { ACCEPTED_2 },
		.settings.batch = SERIES - 10,
		.settings.senders = 8,
	};

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	scrape(&fixture);
	wait_for(&fixture, SERIES);
	wait_until_empty(&fixture);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.requests, 2);
	expect_samples(fixture.receiver.accepted, 0, 1);
	free(fixture.receiver.accepted);
}

/* After a freeze the list of members is not valid any more; later there is another one. */
static void test_validity(void **state)
{
	struct fixture fixture = { .receiver.answers = { ACCEPTED_2 } };
	struct validity validity = {};

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	push__set_validity(fixture.output, &validity);
	scrape(&fixture);
	wait_for(&fixture, SERIES);
	validity__set(&validity, boottime_ns());
	scrape(&fixture);
	do {
		poll(NULL, 0, 1);
		push__counts(fixture.output, &fixture.counts);
	} while (fixture.counts.waiting < SERIES);
	/* Several rounds of the thread, at each of which it could send. */
	poll(NULL, 0, 350);
	assert_int_equal(atomic_load(&fixture.receiver.requests), 1);
	validity__set(&validity, boottime_ns() + 3600 * SECOND_NS);
	wait_for(&fixture, 2 * SERIES);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	expect_samples(fixture.receiver.accepted, 0, 2);
	free(fixture.receiver.accepted);
}

static void test_again(void **state)
{
	struct fixture fixture = {
		.receiver.answers = {
			/* Over a connection that was used before, libcurl itself tries again. */
			"",
			"HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\nbusy\n",
			"HTTP/1.1 429 No\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
			ACCEPTED_2,
		},
	};
	uint64_t start_ns;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	start_ns = monotonic_ns();
	scrape(&fixture);
	wait_for(&fixture, SERIES);
	assert_true(monotonic_ns() - start_ns >= SECOND_NS);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.retries, 3);
	assert_int_equal(fixture.counts.requests, 3);
	assert_int_equal(fixture.counts.refused, 0);
	assert_false(fixture.counts.is_failing);
	assert_int_equal(times_said(&fixture, "does not answer"), 1);
	assert_int_equal(times_said(&fixture, "are sent again"), 1);
	assert_int_equal(times_said(&fixture, "answers again"), 1);
	expect_samples(fixture.receiver.accepted, 0, 1);
	free(fixture.receiver.accepted);
}

/* Too busy for each message at first; @data is whether the last one was refused. */
static const char *refuse_first(struct receiver *receiver, const char *text)
{
	bool *was_refused = receiver->data;

	if (!text)
		return ACCEPTED_2;
	*was_refused = !*was_refused;
	return *was_refused ? "HTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n" : ACCEPTED_2;
}

static void test_flapping(void **state)
{
	bool was_refused = false;
	struct fixture fixture = {
		.receiver.choose = refuse_first,
		.receiver.data = &was_refused,
	};
	enum { OUTAGES = NOTICES_OF_FAULT + 5 };
	uint32_t i;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 0; i < OUTAGES; i++) {
		scrape(&fixture);
		wait_for(&fixture, (i + 1) * SERIES);
	}
	wait_until_empty(&fixture);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.retries, OUTAGES);
	assert_int_equal(times_said(&fixture, "are sent again"), NOTICES_OF_FAULT);
	assert_int_equal(times_said(&fixture, "answers again"), NOTICES_OF_FAULT);
	expect_samples(fixture.receiver.accepted, 0, OUTAGES);
	free(fixture.receiver.accepted);
}

static void test_bounded(void **state)
{
	struct fixture fixture = {
		.receiver.answers = { ACCEPTED_2 },
		.settings.queue_bytes = RECEIVER_QUEUE_MIN,
		.settings.batch = SERIES,
		.settings.version = 2,
	};
	const uint64_t until_ns = monotonic_ns() + WAIT_NS;
	uint64_t given, samples;

	receiver__bind(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	do {
		scrape(&fixture);
		push__counts(fixture.output, &fixture.counts);
		/* Points and messages that wait. */
		assert_true(fixture.counts.queue_bytes <= 2 * RECEIVER_QUEUE_MIN);
		assert_true(monotonic_ns() < until_ns);
	} while (fixture.counts.dropped < 20 * SERIES || !fixture.counts.is_failing);
	assert_int_equal(fixture.counts.sent, 0);
	receiver__run(&fixture.receiver);
	given = (uint64_t)fixture.scrapes * SERIES;
	do {
		assert_true(monotonic_ns() < until_ns);
		poll(NULL, 0, 1);
		push__counts(fixture.output, &fixture.counts);
		samples = fixture.counts.sent + fixture.counts.dropped;
	} while (samples < given);
	assert_int_equal(samples, given);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(times_said(&fixture, "do not fit into the queue"), 1);
	assert_int_equal(times_said(&fixture, "does not answer"), 1);
	free(fixture.receiver.accepted);
}

/* A receiver that fails at first, and far more than fits into the queue. */
static void test_waits(void **state)
{
	struct fixture fixture = { .receiver.answers = {
		"HTTP/1.1 503 No\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
		ACCEPTED_2,
	} };
	struct pollfd ended = { .events = POLLIN };
	uint32_t i;

	receiver__open(&fixture.receiver);
	fixture.settings.queue_bytes = 16 << 10;
	fixture.settings.batch = SERIES;
	prepare(&fixture);
	start(&fixture);
	push__set_waits(fixture.output, true);
	for (i = 0; i < 400; i++)
		scrape(&fixture);
	/* It takes as long as it takes, also at the end. */
	push__end(fixture.output);
	ended.fd = push__event_fd(fixture.output);
	assert_int_equal(poll(&ended, 1, 60000), 1);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.dropped, 0);
	assert_int_equal(fixture.counts.sent, 400 * SERIES);
	expect_samples(fixture.receiver.accepted, 0, 400);
	free(fixture.receiver.accepted);
}

static void *scrape_400(void *data)
{
	uint32_t i;

	for (i = 0; i < 400; i++)
		scrape(data);
	return NULL;
}

/* Without a receiver, a worker that waits goes on once the output does not wait any more. */
static void test_waits_no_more(void **state)
{
	struct fixture fixture = { };
	const uint64_t began_ns = monotonic_ns();
	pthread_t worker;

	receiver__bind(&fixture.receiver);
	fixture.settings.queue_bytes = 16 << 10;
	fixture.settings.batch = SERIES;
	prepare(&fixture);
	start(&fixture);
	push__set_waits(fixture.output, true);
	assert_int_equal(pthread_create(&worker, NULL, scrape_400, &fixture), 0);
	do {
		sched_yield();
		push__counts(fixture.output, &fixture.counts);
		assert_int_equal(fixture.counts.dropped, 0);
	} while (fixture.counts.queue_bytes < (16 << 10) * 3 / 4);
	push__set_waits(fixture.output, false);
	pthread_join(worker, NULL);
	stop(&fixture);
	assert_true(fixture.counts.dropped > 0);
	assert_int_equal(fixture.counts.sent, 0);
	/* The end tries for three seconds. */
	assert_true(monotonic_ns() - began_ns < 30 * (uint64_t)SECOND_NS);
	close(fixture.receiver.fd);
}

static void test_spool(void **state)
{
	char directory[] = "/tmp/push-sending-XXXXXX", command[100];
	struct fixture fixture = { .receiver.answers = {
		"HTTP/1.1 415 No\r\nContent-Length: 0\r\n\r\n",
		ACCEPTED,
	} };
	uint32_t i;

	assert_non_null(mkdtemp(directory));
	fixture.settings.spool = directory;
	fixture.settings.batch = SERIES;
	receiver__bind(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 0; i < 30; i++)
		scrape(&fixture);
	stop(&fixture);
	assert_int_equal(fixture.counts.sent, 0);
	assert_int_equal(times_said(&fixture, "stay in the spool"), 1);

	/* They were written as 2.0, and the receiver takes 1.0. */
	receiver__run(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 0; i < 10; i++)
		scrape(&fixture);
	wait_for(&fixture, 40 * SERIES);
	wait_until_empty(&fixture);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.sent, 40 * SERIES);
	assert_int_equal(fixture.counts.dropped, 0);
	assert_int_equal(fixture.counts.waiting, 0);
	expect_samples(fixture.receiver.accepted, 0, 40);
	free(fixture.receiver.accepted);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	assert_int_equal(system(command), 0);
}

#define LARGE 8000

/* Of a host with LARGE series, whose values compress little. */
static void scrape_large(struct fixture *fixture, struct dart_random *random)
{
	static struct metric_point points[LARGE];
	const struct metric_scrape made = {
		.plan = fixture->plan,
		.points = points,
		.time_ns = START_NS + fixture->scrapes++ * SECOND_NS,
	};
	uint32_t i;

	for (i = 0; i < LARGE; i++)
		points[i] = (struct metric_point){ dart_random__next(random) / 3.0, made.time_ns };
	fixture->output->operations->scrape(fixture->output, &target, &made);
}

/* Scrapes of a large host wait for others, but not for more than a small spool takes. */
static void test_large(void **state)
{
	char directory[] = "/tmp/push-sending-XXXXXX", command[100];
	struct fixture fixture = { .receiver.answers = { ACCEPTED_2 } };
	struct dart_random random = dart_random__of(1);
	uint32_t i;

	assert_non_null(mkdtemp(directory));
	receiver__open(&fixture.receiver);
	prepare(&fixture);
	metric_plan__put(fixture.plan);
	fixture.plan = invented_plan__new(LARGE, 0);
	fixture.settings.delay_ns = RECEIVER_DELAY_MAX_NS;
	fixture.settings.spool = directory;
	fixture.settings.spool_bytes = RECEIVER_SPOOL_MIN;
	start(&fixture);
	push__set_waits(fixture.output, true);
	for (i = 0; i < BLOCK_SCRAPES_MAX; i++)
		scrape_large(&fixture, &random);
	push__end(fixture.output);
	do {
		poll(NULL, 0, 1);
		push__counts(fixture.output, &fixture.counts);
	} while (fixture.counts.sent + fixture.counts.dropped + fixture.counts.refused <
		 BLOCK_SCRAPES_MAX * LARGE);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(fixture.counts.dropped, 0);
	assert_int_equal(fixture.counts.sent, BLOCK_SCRAPES_MAX * LARGE);
	free(fixture.receiver.accepted);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	assert_int_equal(system(command), 0);
}

static void test_influx(void **state)
{
	char token[] = "/tmp/push-token-XXXXXX";
	struct fixture fixture = {
		.receiver.answers = { ACCEPTED },
		.settings.format = "influx",
	};

	make_file(token, "one\n");
	receiver__open(&fixture.receiver);
	prepare(&fixture);
	snprintf(fixture.url, sizeof(fixture.url), "http://127.0.0.1:%u/",
		 fixture.receiver.port);
	fixture.settings.token_file = token;
	start(&fixture);
	/* Read again before each request. */
	write_file(token, "two\nthree");
	scrape(&fixture);
	wait_for(&fixture, SERIES);
	fixture.output->operations->lost(fixture.output, &target, fixture.plan,
					 START_NS + SECOND_NS, "test");
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(atomic_load(&fixture.receiver.requests), 1);
	assert_non_null(
		strstr(fixture.receiver.head, "POST /write?db=dart&precision=ns HTTP/1.1\r\n"));
	assert_non_null(strstr(fixture.receiver.head, "Content-Encoding: gzip\r\n"));
	assert_non_null(strstr(fixture.receiver.head, "Authorization: Bearer two\r\n"));
	free(fixture.receiver.accepted);
	unlink(token);
}

/* A part is refused, then all, which comes only once, then what comes again is taken. */
static void test_otlp(void **state)
{
	struct fixture fixture = {
		.receiver.answers = {
			"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\x0a\x07\x08\x03\x12\x03old",
			"HTTP/1.1 400 No\r\nContent-Length: 5\r\n\r\n\x12\x03""bad",
			"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
			ACCEPTED,
		},
		.settings.format = "otlp",
	};
	uint32_t i;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	snprintf(fixture.url, sizeof(fixture.url), "http://127.0.0.1:%u", fixture.receiver.port);
	start(&fixture);
	for (i = 1; i <= 3; i++) {
		scrape(&fixture);
		wait_for(&fixture, i * SERIES);
	}
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(atomic_load(&fixture.receiver.requests), 4);
	assert_int_equal(fixture.counts.sent, 2 * SERIES - 3);
	assert_int_equal(fixture.counts.refused, SERIES + 3);
	assert_int_equal(fixture.counts.retries, 1);
	assert_int_equal(times_said(&fixture, "status 200: old\n"), 1);
	assert_int_equal(times_said(&fixture, "3 so far for partial_success"), 1);
	assert_int_equal(times_said(&fixture, "status 400: bad\n"), 1);
	assert_non_null(strstr(fixture.receiver.head, "POST /v1/metrics HTTP/1.1\r\n"));
	assert_non_null(strstr(fixture.receiver.head, "Content-Type: application/x-protobuf\r\n"));
	assert_non_null(strstr(fixture.receiver.head, "Content-Encoding: gzip\r\n"));
	free(fixture.receiver.accepted);
}

static void test_settings(void **state)
{
	struct fixture fixture = {};
	struct dart_error error;

	fixture.settings.format = "remote_write";
	fixture.settings.url = fixture.url;
	strcpy(fixture.url, "ftp://x");
	assert_int_equal(push__new(&fixture.settings, NULL, &fixture.output, &error), -EINVAL);
	assert_non_null(strstr(error.text, "is not a URL"));
	strcpy(fixture.url, "http://127.0.0.1:1/");
	fixture.settings.token_file = "/nowhere";
	assert_int_equal(push__new(&fixture.settings, NULL, &fixture.output, &error), -ENOENT);
	assert_non_null(strstr(error.text, "cannot open '/nowhere'"));
}

/* The settings of an output reach its series: a sample for 10 s, and the last one at the end. */
static void test_thinned(void **state)
{
	struct fixture fixture = {
		.receiver.answers = { ACCEPTED_2 },
		.settings.every_ns = 10 * SECOND_NS,
	};
	int i;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 0; i < 25; i++)
		scrape(&fixture);
	wait_for(&fixture, 3 * SERIES);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	assert_int_equal(times_said(&fixture, ": 200 samples sent, 0 refused, 0 dropped, "), 1);
	free(fixture.receiver.accepted);
}

/* More scrapes than a second may have: the first are sent, and the rest is said and counted. */
static void test_limited(void **state)
{
	struct fixture fixture = {
		.receiver.answers = { ACCEPTED_2 },
		.settings.samples_per_second = 1,
	};
	int i;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 0; i < 10; i++)
		scrape(&fixture);
	wait_for(&fixture, 2 * SERIES);
	wait_until_empty(&fixture);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	/* One by the bound of all agents, and one as the share of the agent. */
	assert_int_equal(fixture.counts.sent, 2 * SERIES);
	assert_int_equal(fixture.counts.dropped, 8 * SERIES);
	assert_int_equal(times_said(&fixture, "exceed its limit of samples for each second"), 1);
	assert_int_equal(times_said(&fixture, "'h:1' among the last"), 1);
	assert_int_equal(times_said(&fixture, ": 100 samples sent, 0 refused, 400 dropped, "), 1);
	expect_samples(fixture.receiver.accepted, 0, 2);
	free(fixture.receiver.accepted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("samples arrive in order, each once", test_accepted),
		TEST("an idle output fills its requests", test_idle),
		TEST("an output with a time for each sample sends fewer", test_thinned),
		TEST("an output with a limit drops scrapes, says so and counts them", test_limited),
		TEST("nothing is sent while the list of members is not valid, and all of it afterwards",
		     test_validity),
		TEST("a message is sent again after no answer, 503 and 429, as late as asked",
		     test_again),
		TEST("a receiver that is too busy for each second request does not fill the log",
		     test_flapping),
		TEST("without a receiver memory is bounded, and each sample is sent or counted",
		     test_bounded),
		TEST("an output that waits drops nothing, however long its receiver takes",
		     test_waits),
		TEST("one that waits no more lets workers go on, and ends in time",
		     test_waits_no_more),
		TEST("a spool keeps all over a restart, and is sent before what is new",
		     test_spool),
		TEST("an output that waits drops nothing of a large host, if its spool is small",
		     test_large),
		TEST("InfluxDB gets lines with gzip, and the token that is in the file now",
		     test_influx),
		TEST("a receiver of OTLP refuses a part, or all, for good", test_otlp),
		TEST("settings that cannot work are refused in words", test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

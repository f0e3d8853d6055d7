// SPDX-License-Identifier: GPL-2.0-only
/* Outputs that push, and receivers that accept, refuse, are old, or are not there. */
#include <errno.h>
#include <fcntl.h>

#include "push_receiver.h"
#include "tools/bench/invented_metrics.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/outputs/output.h"
#include "tools/controller/push/push.h"

#define SERIES 50
#define WAIT_NS 60000000000ULL
#define SECOND_NS 1000000000LL
/* When the first scrape was. */
#define START_NS (1700000000 * SECOND_NS)

struct fixture {
	struct receiver receiver;
	struct receiver_settings settings;
	char url[100];
	struct metric_output *output;
	struct push_counts counts;	/* as they were at last */
	struct metric_plan *plan;
	uint32_t scrapes;
	struct output *log;
	int log_ends[2];
	char said[8192];
};

static char host[] = "h:1";
static const struct target_settings target = { .name = host };

/* Settings are changed between both. */
static void prepare(struct fixture *fixture)
{
	fixture->plan = invented_plan__new(SERIES, 0);
	fixture->settings.format = fixture->settings.format ?: "remote_write";
	fixture->settings.delay_ns = RECEIVER_DELAY_NONE;
	snprintf(fixture->url, sizeof(fixture->url),
		 "http://127.0.0.1:%u/api/v1/write?secret=1",
		 fixture->receiver.port);
	fixture->settings.url = fixture->url;
}

static void start(struct fixture *fixture)
{
	struct dart_error error;

	assert_int_equal(pipe2(fixture->log_ends, O_CLOEXEC), 0);
	assert_int_equal(output__open(fixture->log_ends[1], "log", 1 << 20, NULL, &fixture->log),
			 0);
	if (push__new(&fixture->settings, fixture->log, &fixture->output, &error))
		fail_msg("%s", error.text);
}

static void scrape_host(struct fixture *fixture, const struct target_settings *of)
{
	struct metric_point points[SERIES];
	const struct metric_scrape made = {
		.plan = fixture->plan,
		.points = points,
		.time_ns = START_NS + fixture->scrapes * SECOND_NS,
	};
	uint32_t i;

	for (i = 0; i < SERIES; i++)
		points[i] = (struct metric_point){
			.value = invented_plan__value(fixture->plan, i, 0, fixture->scrapes, 100),
			.time_ns = made.time_ns,
		};
	fixture->output->operations->scrape(fixture->output, of, &made);
}

static void scrape(struct fixture *fixture)
{
	scrape_host(fixture, &target);
	fixture->scrapes++;
}

/* Waits until the given number of samples are sent or refused. */
static void wait_for(struct fixture *fixture, uint64_t samples)
{
	const uint64_t until_ns = monotonic_ns() + WAIT_NS;

	do {
		assert_true(monotonic_ns() < until_ns);
		poll(NULL, 0, 1);
		push__counts(fixture->output, &fixture->counts);
	} while (fixture->counts.sent + fixture->counts.refused < samples);
}

/* Waits until the thread counted the samples of its last answer. */
static void wait_until_empty(struct fixture *fixture)
{
	const uint64_t until_ns = monotonic_ns() + WAIT_NS;

	do {
		assert_true(monotonic_ns() < until_ns);
		poll(NULL, 0, 1);
		push__counts(fixture->output, &fixture->counts);
	} while (fixture->counts.waiting);
}

static void stop(struct fixture *fixture)
{
	ssize_t length;

	push__counts(fixture->output, &fixture->counts);
	fixture->output->operations->free(fixture->output);
	output__end(fixture->log);
	while (!output__has_ended(fixture->log))
		poll(NULL, 0, 1);
	output__close(fixture->log);
	close(fixture->log_ends[1]);
	length = read(fixture->log_ends[0], fixture->said, sizeof(fixture->said) - 1);
	fixture->said[length > 0 ? length : 0] = '\0';
	close(fixture->log_ends[0]);
	assert_null(strstr(fixture->said, "secret"));
	metric_plan__put(fixture->plan);
}

/* The last time of each series, in the order in which they came first. */
struct last_times {
	struct {
		const char *labels;
		size_t length;
		uint64_t time_ms;
	} series[SERIES];
	size_t count;
};

static void expect_later(struct last_times *last, const char *line, uint64_t time_ms)
{
	const char *labels = strchr(strchr(line, ' ') + 1, ' ');
	const size_t length = strcspn(labels, "\n");
	size_t i;

	for (i = 0; i < last->count; i++) {
		if (last->series[i].length == length &&
		    !memcmp(last->series[i].labels, labels, length))
			break;
	}
	assert_true(i < SERIES);
	assert_true(i == last->count || time_ms > last->series[i].time_ms);
	last->count += i == last->count;
	last->series[i].labels = labels;
	last->series[i].length = length;
	last->series[i].time_ms = time_ms;
}

/*
 * Expects the samples of scrapes @first to @last - 1 of one host, each once, in order for each
 * series.
 */
static void expect_samples(const char *accepted, uint32_t first, uint32_t last)
{
	const uint64_t start_ms = START_NS / 1000000;
	struct last_times times = {};
	uint32_t count[1000] = {}, i;
	const char *line;
	uint64_t time_ms;

	for (line = accepted; *line; line = strchr(line, '\n') + 1) {
		time_ms = strtoull(line, NULL, 10);
		expect_later(&times, line, time_ms);
		assert_true(time_ms >= start_ms && (time_ms - start_ms) / 1000 < 1000);
		count[(time_ms - start_ms) / 1000]++;
	}
	for (i = 0; i < 1000; i++)
		assert_int_equal(count[i], i >= first && i < last ? SERIES : 0);
}

static size_t times_said(const struct fixture *fixture, const char *text)
{
	const char *at = fixture->said;
	size_t count = 0;

	while ((at = strstr(at, text))) {
		at += strlen(text);
		count++;
	}
	return count;
}

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
	assert_non_null(
		strstr(fixture.receiver.head, "X-Prometheus-Remote-Write-Version: 2.0.0\r\n"));
	assert_non_null(strstr(fixture.receiver.head, "User-Agent: dart-controller/"));
	assert_null(strstr(fixture.receiver.head, "Expect"));
	expect_samples(fixture.receiver.accepted, 0, 20);
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

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void make_file(char *path, const char *text)
{
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_file(path, text);
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

static char good_host[] = "good:1", bad_host[] = "bad:1";
static const struct target_settings hosts[] = {
	{ .name = host },
	{ .name = bad_host, .index = 1 },
	{ .name = good_host, .index = 2 },
};

/* Refuses messages that contain the text @data. */
static const char *refuse_text(struct receiver *receiver, const char *text)
{
	if (text && strstr(text, receiver->data))
		return "HTTP/1.1 400 No\r\nX-Prometheus-Remote-Write-Samples-Written: 0\r\n"
		       "Content-Length: 14\r\n\r\nout of bounds\n";
	return ACCEPTED_2;
}

/* "HOST REASON SAMPLES;" of each. */
static void print_refusals(struct fixture *fixture, char *text)
{
	struct output_figures figures = {};
	const struct output_loss *loss;
	size_t i;

	push__figures(fixture->output, &figures);
	for (i = 0; i < figures.refused.count; i++) {
		loss = figures.refused.all + i;
		if (loss->samples)
			text += sprintf(text, "%s %s %" PRIu64 ";", loss->agent ?: "", loss->reason,
					loss->samples);
	}
	output_figures__clear(&figures);
}

/*
 * Three scrapes of three hosts; the receiver refuses messages with @text, which @refused samples
 * of the second host contain in each scrape.
 */
static void expect_split(const char *text, unsigned int version, uint64_t refused)
{
	struct fixture fixture = {
		.receiver.choose = refuse_text,
		.receiver.data = (void *)text,
		.settings.version = version,
	};
	char refusals[300] = "", expected[100];
	unsigned int requests;
	uint32_t i, j;

	receiver__open(&fixture.receiver);
	prepare(&fixture);
	start(&fixture);
	for (i = 1; i <= 3; i++) {
		for (j = 0; j < 3; j++)
			scrape_host(&fixture, hosts + j);
		fixture.scrapes++;
		requests = atomic_load(&fixture.receiver.requests);
		wait_for(&fixture, i * 3 * SERIES);
	}
	/*
	 * Samples that were refused twice are separate: the output does not search for them again.
	 */
	requests = atomic_load(&fixture.receiver.requests) - requests;
	wait_until_empty(&fixture);
	print_refusals(&fixture, refusals);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	snprintf(expected, sizeof(expected), "bad:1 out_of_bounds %" PRIu64 ";", 3 * refused);
	assert_string_equal(refusals, expected);
	assert_int_equal(fixture.counts.refused, 3 * refused);
	assert_int_equal(fixture.counts.sent, 3 * (3 * SERIES - refused));
	assert_int_equal(fixture.counts.waiting, 0);
	assert_int_equal(fixture.counts.queue_bytes, 0);
	assert_true(requests <= 4);
	assert_int_equal(times_said(&fixture, "refuses samples"), 1);
	assert_int_equal(times_said(&fixture, "status 400: out of bounds\n"), 1);
	assert_null(strstr(fixture.receiver.accepted, text));
	free(fixture.receiver.accepted);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("samples arrive in order, each once", test_accepted),
		TEST("a message is sent again after no answer, 503 and 429, as late as asked",
		     test_again),
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
		TEST("without a receiver memory is bounded, and each sample is sent or counted",
		     test_bounded),
		TEST("an output that waits drops nothing, however long its receiver takes",
		     test_waits),
		TEST("one that waits no more lets workers go on, and ends in time",
		     test_waits_no_more),
		TEST("a spool keeps all over a restart, and is sent before what is new",
		     test_spool),
		TEST("InfluxDB gets lines with gzip, and the token that is in the file now",
		     test_influx),
		TEST("settings that cannot work are refused in words", test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

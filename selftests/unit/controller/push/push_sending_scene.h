/* SPDX-License-Identifier: GPL-2.0-only */
/* An output that pushes invented metrics to a receiver of the test. */
#ifndef PUSH_SENDING_SCENE_H
#define PUSH_SENDING_SCENE_H

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
static inline void prepare(struct fixture *fixture)
{
	fixture->plan = invented_plan__new(SERIES, 0);
	fixture->settings.format = fixture->settings.format ?: "remote_write";
	fixture->settings.delay_ns = RECEIVER_DELAY_NONE;
	snprintf(fixture->url, sizeof(fixture->url),
		 "http://127.0.0.1:%u/api/v1/write?secret=1",
		 fixture->receiver.port);
	fixture->settings.url = fixture->url;
}

static inline void start(struct fixture *fixture)
{
	struct dart_error error;

	assert_int_equal(pipe2(fixture->log_ends, O_CLOEXEC), 0);
	assert_int_equal(output__open(fixture->log_ends[1], "log", 1 << 20, NULL, &fixture->log),
			 0);
	if (push__new(&fixture->settings, fixture->log, &fixture->output, &error))
		fail_msg("%s", error.text);
}

static inline void scrape_host(struct fixture *fixture, const struct target_settings *of)
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

static inline void scrape(struct fixture *fixture)
{
	scrape_host(fixture, &target);
	fixture->scrapes++;
}

/* Waits until the given number of samples are sent or refused. */
static inline void wait_for(struct fixture *fixture, uint64_t samples)
{
	const uint64_t until_ns = monotonic_ns() + WAIT_NS;

	do {
		assert_true(monotonic_ns() < until_ns);
		poll(NULL, 0, 1);
		push__counts(fixture->output, &fixture->counts);
	} while (fixture->counts.sent + fixture->counts.refused < samples);
}

/* Waits until the thread counted the samples of its last answer. */
static inline void wait_until_empty(struct fixture *fixture)
{
	const uint64_t until_ns = monotonic_ns() + WAIT_NS;

	do {
		assert_true(monotonic_ns() < until_ns);
		poll(NULL, 0, 1);
		push__counts(fixture->output, &fixture->counts);
	} while (fixture->counts.waiting);
}

static inline void stop(struct fixture *fixture)
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

static inline void expect_later(struct last_times *last, const char *line, uint64_t time_ms)
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
static inline void expect_samples(const char *accepted, uint32_t first, uint32_t last)
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

static inline size_t times_said(const struct fixture *fixture, const char *text)
{
	const char *at = fixture->said;
	size_t count = 0;

	while ((at = strstr(at, text))) {
		at += strlen(text);
		count++;
	}
	return count;
}

static inline void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static inline void make_file(char *path, const char *text)
{
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_file(path, text);
}

static char good_host[] = "good:1", bad_host[] = "bad:1";

static const struct target_settings hosts[] = {
	{ .name = host },
	{ .name = bad_host, .index = 1 },
	{ .name = good_host, .index = 2 },
};

/* Refuses messages that contain the text @data. */
static inline const char *refuse_text(struct receiver *receiver, const char *text)
{
	if (text && strstr(text, receiver->data))
		return "HTTP/1.1 400 No\r\nX-Prometheus-Remote-Write-Samples-Written: 0\r\n"
		       "Content-Length: 14\r\n\r\nout of bounds\n";
	return ACCEPTED_2;
}

/* "HOST REASON SAMPLES;" of each. */
static inline void print_refusals(struct fixture *fixture, char *text)
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
static inline void expect_split(const char *text, unsigned int version, uint64_t refused)
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

#endif /* PUSH_SENDING_SCENE_H */

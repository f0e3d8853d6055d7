// SPDX-License-Identifier: GPL-2.0-only
/* Points of many scrapes as OpenMetrics: each family and each series in one piece. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "selftests/unit/controller/metrics/metric_samples.h"
#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/text/text_index.h"
#include "tools/controller/record/dump_openmetrics.h"
#include "tools/controller/record/spill.h"

#define START (1764066600 * SECOND)

static const struct wanted_field fields[] = {
	{ "packets", "", DART_CONTROL_FIELD_COUNTER },
	{ "level", "", DART_CONTROL_FIELD_GAUGE },
	{}
};

struct fixture {
	struct output *output, *log;
	int fd, log_fd;
	struct metric_output *dump;
	char *text;
	char said[1024];
};

static void fixture__open(struct fixture *fixture, size_t bytes)
{
	struct dart_error error;

	*fixture = (struct fixture){
		.fd = memfd_create("text", MFD_CLOEXEC),
		.log_fd = memfd_create("log", MFD_CLOEXEC),
	};
	assert_int_equal(output__open(fixture->log_fd, "log", 65536, NULL, &fixture->log), 0);
	assert_int_equal(output__open(fixture->fd, "text", 1 << 20, fixture->log, &fixture->output),
			 0);
	output__set_waits(fixture->output, true);
	if (dump_openmetrics__new(fixture->output, fixture->log, bytes, &fixture->dump, &error))
		fail_msg("%s", error.text);
}

static char *end(struct output *output, int fd)
{
	struct pollfd event = { output__event_fd(output), POLLIN, 0 };
	off_t size;
	char *text;

	output__end(output);
	while (!output__has_ended(output))
		assert_int_equal(poll(&event, 1, 60000), 1);
	output__close(output);
	size = lseek(fd, 0, SEEK_END);
	text = calloc(1, size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, size, 0), size);
	close(fd);
	return text;
}

/* Prints; the text is the caller's.  Returns as dump_openmetrics__print(). */
static int fixture__print(struct fixture *fixture)
{
	const int ret = dump_openmetrics__print(fixture->dump);
	char *said;

	fixture->dump->operations->free(fixture->dump);
	fixture->text = end(fixture->output, fixture->fd);
	said = end(fixture->log, fixture->log_fd);
	snprintf(fixture->said, sizeof(fixture->said), "%s", said);
	free(said);
	return ret;
}

static void scrape(struct fixture *fixture, size_t target, struct host *host,
		   struct metric_plan *plan, int64_t time_ns)
{
	static char names[2][8] = { "a:1", "b:1" };
	const struct target_settings settings = {
		.index = target,
		.name = names[target],
	};
	struct metric_scrape told = { .plan = plan, .time_ns = time_ns };
	struct points points = {};

	host->sample.head.time_ns = time_ns;
	assert_int_equal(points__prepare(&points, plan, &host->sample), 0);
	evaluate(&points, plan, host);
	told.points = points.points;
	told.labels = target_labels__new(&settings, plan);
	assert_non_null(told.labels);
	fixture->dump->operations->scrape(fixture->dump, &settings, &told);
	target_labels__put(told.labels);
	points__free(&points);
}

static unsigned int count_lines(const char *text, const char *begin)
{
	unsigned int count = 0;

	for (; *text; text = strchr(text, '\n') + 1)
		count += !strncmp(text, begin, strlen(begin));
	return count;
}

/* No family is told twice, and lines of a series lie side by side with growing times. */
static void assert_order(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line, *last = NULL;
	struct text_index seen = {};
	double time, before = 0;

	while ((line = strsep(&rest, "\n")) && *line) {
		if (*line == '#') {
			if (strncmp(line, "# TYPE", 6))
				continue;
			assert_int_equal(text_index__find(&seen, line), TEXT_INDEX_NONE);
			assert_int_equal(text_index__add(&seen, line, 1), 0);
			continue;
		}
		time = strtod(strrchr(line, ' '), NULL);
		*strchr(line, ' ') = '\0';
		/* Buckets of a histogram take turns. */
		if (strstr(line, "le=\""))
			continue;
		if (last && !strcmp(last, line)) {
			assert_true(time > before);
		} else {
			assert_int_equal(text_index__find(&seen, line), TEXT_INDEX_NONE);
			assert_int_equal(text_index__add(&seen, line, 1), 0);
		}
		last = line;
		before = time;
	}
	text_index__free(&seen);
	free(copy);
}

static void test_order(void **state)
{
	/* All in memory, and many runs. */
	static const size_t sizes[] = { 1 << 20, 28 * 64 };
	struct fixture fixture[2];
	struct metric_plan *plan;
	struct host host;
	unsigned int i, k;

	host__init(&host);
	host__add(&host, "x", host__record(&host, fields), DART_CONTROL_COPIES_SUM, 1);
	host__mark(&host, 0, 0, 2);
	plan = plan_of(&host, NULL);
	for (k = 0; k < 2; k++) {
		fixture__open(&fixture[k], sizes[k]);
		for (i = 0; i < 100; i++) {
			host__set(&host, 0, 0, "time", 0, (i + 1) * SECOND);
			host__set(&host, 0, 0, "packets", 0, 10 * i);
			scrape(&fixture[k], 1, &host, plan, START + i * SECOND);
			if (i % 2)
				scrape(&fixture[k], 0, &host, plan, START + i * SECOND);
		}
		assert_int_equal(fixture__print(&fixture[k]), 0);
		assert_string_equal(fixture[k].said, "");
	}
	assert_string_equal(fixture[0].text, fixture[1].text);
	assert_order(fixture[0].text);
	assert_int_equal(count_lines(fixture[0].text, "dart_x_packets_total{instance=\"b:1\"} "),
			 100);
	assert_int_equal(count_lines(fixture[0].text, "dart_x_packets_total{instance=\"a:1\"} "),
			 50);
	assert_non_null(
		strstr(fixture[0].text, "dart_scrape_reads{instance=\"b:1\"} 3 1764066699\n"));
	assert_string_equal(fixture[0].text + strlen(fixture[0].text) - 6, "# EOF\n");
	free(fixture[0].text);
	free(fixture[1].text);
	metric_plan__put(plan);
	host__free(&host);
}

/* The bucket series of each time, from the least to +Inf, then the next time. */
static void test_histogram(void **state)
{
	struct fixture fixture;
	struct metric_plan *plan;
	struct dart_schema *schema;
	struct host host;
	double time, before = 0;
	unsigned int i, buckets = 0;
	const char *at, *text;

	host__init(&host);
	schema = host__schema(&host, 32);
	add_field(schema, "delay", "", 0, 8, 4, DART_CONTROL_FIELD_HISTOGRAM);
	host__add(&host, "h", schema, DART_CONTROL_COPIES_SUM, 1);
	plan = plan_of(&host, NULL);
	fixture__open(&fixture, 28 * 16);
	for (i = 0; i < 20; i++)
		scrape(&fixture, 0, &host, plan, START + i * SECOND);
	assert_int_equal(fixture__print(&fixture), 0);
	for (text = fixture.text; (at = strstr(text, "_bucket{")); buckets++) {
		text = strchr(at, '\n');
		assert_int_equal(!strncmp(strstr(at, "le=\""), "le=\"+Inf\"", 9), buckets % 4 == 3);
		time = strtod(memrchr(at, ' ', text - at), NULL);
		assert_true(buckets % 4 ? time == before : time > before);
		before = time;
	}
	assert_int_equal(buckets, 80);
	assert_order(fixture.text);
	free(fixture.text);
	metric_plan__put(plan);
	host__free(&host);
}

/* Prometheus counts ms; times that go back break a series. */
static void test_times(void **state)
{
	static const int64_t times[] = { 0,	  400000,  1500000,
					 1200000, 2500000, 2500000 };
	struct fixture fixture;
	struct metric_plan *plan;
	struct host host;
	unsigned int i;

	host__init(&host);
	plan = plan_of(&host, NULL);
	fixture__open(&fixture, 1 << 16);
	for (i = 0; i < 6; i++)
		scrape(&fixture, 0, &host, plan, START + times[i]);
	assert_int_equal(fixture__print(&fixture), 0);
	assert_int_equal(count_lines(fixture.text, "dart_scrape_reads{"), 3);
	assert_order(fixture.text);
	free(fixture.text);
	/* A recording without a scrape. */
	fixture__open(&fixture, 1 << 16);
	assert_int_equal(fixture__print(&fixture), 0);
	assert_string_equal(fixture.text, "# EOF\n");
	free(fixture.text);
	metric_plan__put(plan);
	host__free(&host);
}

static void test_given_up(void **state)
{
	struct fixture fixture;
	struct metric_plan *plan;
	struct host host;

	host__init(&host);
	plan = plan_of(&host, NULL);
	fixture__open(&fixture, 1 << 16);
	scrape(&fixture, 0, &host, plan, START);
	dump_openmetrics__give_up(fixture.dump);
	assert_int_equal(fixture__print(&fixture), -ECANCELED);
	assert_string_equal(fixture.text, "");
	assert_string_equal(fixture.said, "");
	free(fixture.text);
	metric_plan__put(plan);
	host__free(&host);
}

static void test_directory(void **state)
{
	struct fixture fixture = { };
	struct dart_error error;

	assert_int_equal(setenv("TMPDIR", "/nowhere", 1), 0);
	assert_int_equal(dump_openmetrics__new(NULL, NULL, 65536, &fixture.dump, &error), -ENOENT);
	assert_non_null(strstr(error.text, "cannot make a temporary file in '/nowhere'"));
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("families and series lie side by side, whether they fit into memory or not",
		     test_order),
		TEST("buckets of a histogram are written time by time", test_histogram),
		TEST("of several points in a ms the first is written, and none that goes back",
		     test_times),
		TEST("a dump that is given up has no end", test_given_up),
		TEST("a directory that is missing is told by its name", test_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

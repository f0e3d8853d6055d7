// SPDX-License-Identifier: GPL-2.0-only
/* Samples of several workers as lines of JSON, as tables and on a terminal. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "selftests/unit/controller/decode/controller_ring.h"
#include "tools/controller/outputs/sink_json.h"
#include "tools/controller/outputs/sink_table.h"

#define TARGETS	4
#define WORKERS	2
#define SCRAPES	200
#define LOST_NS	1700000000123456789

static struct target_settings targets[TARGETS] = {
	{ .index = 0, .name = "a" },
	{ .index = 1, .name = "b" },
	{ .index = 2, .name = "c" },
	{ .index = 3, .name = "d" },
};

/* A thread hands over the samples of one target, as if it ran an event loop. */
struct source {
	struct decoder decoder;
	struct summary summary;
	struct ring *ring;
	pthread_t thread;
};

static void *scrape(void *data)
{
	struct source *source = data;
	uint64_t sequence;

	for (sequence = 1; sequence <= SCRAPES; sequence++) {
		source->summary.scrapes++;
		source->summary.dropped += !land(source->ring, sequence, &source->decoder);
	}
	assert_int_equal(decoder__lose(&source->decoder, "gone"), 0);
	assert_int_equal(decoder__report_down(&source->decoder, LOST_NS, "still gone"), 0);
	ring__release(source->ring);
	return NULL;
}

/* Scrapes of all targets at the same time, and their summaries. */
static void scrape_all(struct sink *sink, struct source sources[TARGETS])
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_GAUGE);
	struct workers *workers;
	unsigned int i;

	assert_int_equal(workers__start(WORKERS, &workers), 0);
	for (i = 0; i < TARGETS; i++) {
		if (sink->operations->added)
			sink->operations->added(sink, &targets[i]);
		memset(&sources[i], 0, sizeof(sources[i]));
		sources[i].ring = ring_of(schema);
		sources[i].decoder = (struct decoder){
			.workers = workers,
			.sink = sink,
			.settings = &targets[i],
			.summary = &sources[i].summary,
		};
		assert_int_equal(pthread_create(&sources[i].thread, NULL, scrape, &sources[i]), 0);
	}
	for (i = 0; i < TARGETS; i++)
		pthread_join(sources[i].thread, NULL);
	workers__stop(workers);
	for (i = 0; i < TARGETS; i++) {
		if (sink->operations->summary)
			sink->operations->summary(sink, &targets[i], &sources[i].summary, true);
	}
	dart_schema__free(schema);
}

static void drain(struct output *output)
{
	struct pollfd event = {
		.fd = output__event_fd(output),
		.events = POLLIN,
	};

	output__end(output);
	while (!output__has_ended(output))
		assert_int_equal(poll(&event, 1, 60000), 1);
}

static int number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

struct seen {
	int samples;
	int last;	/* sequence */
	int errors;
	int downs;
	int dropped;	/* of the summary; -1: no summary yet */
};

/* Only the agent b carries labels, in each of its lines. */
static void check_labels(const json_t *line)
{
	const json_t *labels = json_object_get(line, "labels");
	const char *agent = json_string_value(json_object_get(line, "agent"));

	if (!strcmp(agent, "b"))
		assert_string_equal(json_string_value(json_object_get(labels, "rack")), "a7");
	else
		assert_null(labels);
}

static void check_line(const json_t *line, struct seen *seen)
{
	const json_t *rows, *row, *summary = json_object_get(line, "summary");
	size_t i;

	check_labels(line);
	if (summary) {
		assert_int_equal(number(summary, "scrapes"), SCRAPES);
		seen->dropped = number(summary, "dropped");
		return;
	}
	assert_int_equal(seen->dropped, -1);
	if (json_object_get(line, "error")) {
		seen->errors++;
		if (!json_object_get(line, "up"))
			return;
		seen->downs++;
		assert_int_equal(number(line, "up"), 0);
		assert_int_equal(number(line, "dart_up"), 0);
		assert_int_equal(json_integer_value(json_object_get(line, "time_ns")), LOST_NS);
		return;
	}
	assert_int_equal(seen->errors, 0);
	assert_int_equal(number(line, "up"), 1);
	assert_int_equal(number(line, "dart_up"), 1);
	assert_true(number(line, "sequence") > seen->last);
	seen->last = number(line, "sequence");
	seen->samples++;
	rows = json_object_get(json_object_get(json_object_get(line, "entries"), "values"), "rows");
	assert_int_equal(json_array_size(rows), VALUES);
	json_array_foreach(rows, i, row)
		assert_int_equal(number(row, "field"), seen->last);
}

static void test_json(void **state)
{
	struct seen seen[TARGETS] = { };
	struct source sources[TARGETS];
	FILE *file = tmpfile();
	struct output *output;
	size_t size = 0, i;
	char *text = NULL;
	struct sink *sink;
	const char *agent;
	json_t *line;

	assert_non_null(file);
	assert_int_equal(output__open(fileno(file), "file", 64 << 20, NULL, &output), 0);
	sink = sink_json__new(output);
	assert_non_null(sink);
	targets[1].labels = shared_text__new("{\"rack\":\"a7\"}");
	assert_non_null(targets[1].labels);
	scrape_all(sink, sources);
	shared_text__release(targets[1].labels);
	targets[1].labels = NULL;
	drain(output);
	sink->operations->free(sink);
	output__close(output);

	for (i = 0; i < TARGETS; i++)
		seen[i].dropped = -1;
	rewind(file);
	while (getline(&text, &size, file) > 0) {
		line = json_loads(text, 0, NULL);
		assert_non_null(line);
		agent = json_string_value(json_object_get(line, "agent"));
		assert_non_null(agent);
		check_line(line, &seen[agent[0] - 'a']);
		json_decref(line);
	}
	for (i = 0; i < TARGETS; i++) {
		assert_true(seen[i].samples > 0);
		assert_int_equal(seen[i].samples + seen[i].dropped, SCRAPES);
		assert_int_equal(seen[i].errors, 2);
		assert_int_equal(seen[i].downs, 1);
	}
	free(text);
	fclose(file);
}

/* Targets come and go without a reader: only the lines written at the end must fit. */
static void test_summaries(void **state)
{
	enum { GONE = 5000, LAST = 3 };
	static const struct summary summary;
	struct output *output;
	struct sink *sink;
	int ends[2], i, ret, written = 0, lines = 0;
	char text[4096];
	ssize_t got;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(output__open(ends[1], "pipe", 10000, NULL, &output), 0);
	sink = sink_json__new(output);
	assert_non_null(sink);
	for (i = 0; i < GONE; i++) {
		ret = sink->operations->summary(sink, &targets[0], &summary, false);
		assert_true(!ret || ret == -ENOBUFS);
		written += !ret;
	}
	/* A full pipe, and a full queue. */
	assert_true(written < GONE / 2);
	assert_int_equal(output__dropped(output), GONE - written);
	for (i = 0; i < LAST; i++)
		assert_int_equal(sink->operations->summary(sink, &targets[0], &summary, true), 0);
	output__end(output);
	while (lines < written + LAST) {
		got = read(ends[0], text, sizeof(text));
		assert_true(got > 0);
		for (i = 0; i < got; i++)
			lines += text[i] == '\n';
	}
	drain(output);
	sink->operations->free(sink);
	output__close(output);
	close(ends[0]);
	close(ends[1]);
}

static void test_stream(void **state)
{
	struct source sources[TARGETS];
	FILE *file = tmpfile();
	struct output *output;
	size_t size = 0, i;
	unsigned int heads = 0, lost = 0, expected = 0;
	char *text = NULL;
	struct sink *sink;

	assert_non_null(file);
	assert_int_equal(output__open(fileno(file), "file", 64 << 20, NULL, &output), 0);
	sink = sink_table__new(output, fileno(file), TARGETS, false);
	assert_non_null(sink);
	scrape_all(sink, sources);
	drain(output);
	sink->operations->free(sink);
	output__close(output);

	rewind(file);
	while (getline(&text, &size, file) > 0) {
		heads += !!strstr(text, "generation 1");
		lost += !!strstr(text, "unreachable since");
	}
	for (i = 0; i < TARGETS; i++)
		expected += SCRAPES - sources[i].summary.dropped;
	assert_int_equal(heads, expected);
	assert_int_equal(lost, TARGETS);
	free(text);
	fclose(file);
}

static void *read_all(void *data)
{
	static char text[1 << 20];
	size_t length = 0;
	ssize_t got;

	/* EIO once the other end is closed. */
	while ((got = read(*(int *)data, text + length, sizeof(text) - 1 - length)) > 0)
		length += got;
	text[length] = '\0';
	return text;
}

static unsigned int count_in_last_frame(const char *text, const char *part)
{
	const char *last = "", *next, *c;
	unsigned int found = 0;

	for (next = text; (next = strstr(next, "\033[H")); next++)
		last = next;
	for (c = last; (c = strstr(c, part)); c++)
		found++;
	return found;
}

static void test_terminal(void **state)
{
	int terminal, other = posix_openpt(O_RDWR | O_NOCTTY);
	const struct winsize size = { .ws_row = 50, .ws_col = 80 };
	struct source sources[TARGETS];
	struct output *output;
	struct sink *sink;
	pthread_t reader;
	void *text;

	assert_true(other >= 0 && !grantpt(other) && !unlockpt(other));
	terminal = open(ptsname(other), O_RDWR | O_NOCTTY);
	assert_true(terminal >= 0 && !ioctl(terminal, TIOCSWINSZ, &size));
	assert_int_equal(pthread_create(&reader, NULL, read_all, &other), 0);
	assert_int_equal(output__open(terminal, "screen", 1, NULL, &output), 0);
	sink = sink_table__new(output, terminal, TARGETS, false);
	assert_non_null(sink);
	scrape_all(sink, sources);
	/* The last target, and a target amid the others. */
	sink->operations->removed(sink, &targets[3]);
	sink->operations->removed(sink, &targets[1]);
	drain(output);
	assert_int_equal(output__dropped(output), 0);
	sink->operations->free(sink);
	output__close(output);
	close(terminal);
	pthread_join(reader, &text);
	close(other);

	/* All targets are lost, and two of them were removed. */
	assert_int_equal(count_in_last_frame(text, "unreachable since"), TARGETS - 2);
	assert_int_equal(count_in_last_frame(text, "a  unreachable"), 1);
	assert_int_equal(count_in_last_frame(text, "b  unreachable"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("each line of JSON is whole and has the values of its scrape and the labels of its agent, and the summary counts those without one",
		     test_json),
		TEST("summaries of targets that go wait within the bound, and those of the end in any case",
		     test_summaries),
		TEST("a stream gets a table for each sample and a line for each loss", test_stream),
		TEST("the last that a terminal shows is the newest of each target, and nothing of those that were removed",
		     test_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

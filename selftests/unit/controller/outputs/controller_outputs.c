// SPDX-License-Identifier: GPL-2.0-only
/* Outputs that are slow, blocked, full or closed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/controller/outputs/output.h"

#define WRITERS	4
#define LINES	3000	/* of each */
#define LENGTH	1000	/* of a long line */

/* An output into a pipe, and its log into another pipe. */
struct fixture {
	int reader;
	int writer;
	int log_reader;
	int log_writer;
	struct output *output;
	struct output *log;
};

static void fixture__open(struct fixture *fixture, size_t bound)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fixture->reader = ends[0];
	fixture->writer = ends[1];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fixture->log_reader = ends[0];
	fixture->log_writer = ends[1];
	assert_int_equal(output__open(fixture->log_writer, "log", 1 << 20, NULL, &fixture->log), 0);
	assert_int_equal(output__open(fixture->writer, "the pipe", bound, fixture->log,
				      &fixture->output),
			 0);
}

/* Waits for the end of the thread, after it wrote everything or the output failed. */
static void wait_for(struct output *output)
{
	struct pollfd event = {
		.fd = output__event_fd(output),
		.events = POLLIN,
	};

	assert_int_equal(poll(&event, 1, 60000), 1);
}

static void finish(struct output *output)
{
	output__end(output);
	do {
		wait_for(output);
	} while (!output__has_ended(output));
}

/* Reads everything until the other end is closed; the caller frees it. */
static char *read_all(int fd)
{
	char *text, buffer[65536];
	ssize_t got;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		assert_int_equal(fwrite(buffer, 1, got, out), got);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Closes everything, and returns the text of the log; the caller frees it. */
static char *fixture__close(struct fixture *fixture)
{
	char *said;

	output__close(fixture->output);
	finish(fixture->log);
	output__close(fixture->log);
	close(fixture->log_writer);
	said = read_all(fixture->log_reader);
	close(fixture->log_reader);
	close(fixture->reader);
	close(fixture->writer);
	return said;
}

static unsigned int count(const char *text, const char *part)
{
	unsigned int n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* "WRITER NUMBER xxx...\n" */
static int write_line(struct output *output, unsigned int writer,
		      unsigned int number, size_t length)
{
	char *line = malloc(length + 32);
	int n;

	assert_non_null(line);
	n = sprintf(line, "%u %u ", writer, number);
	memset(line + n, 'x', length);
	line[n + length] = '\n';
	return output__write(output, line, n + length + 1);
}

struct writer {
	struct output *output;
	unsigned int number;
	unsigned int dropped;
	pthread_t thread;
};

static void *write_lines(void *data)
{
	struct writer *writer = data;
	unsigned int i;

	for (i = 0; i < LINES; i++)
		writer->dropped += !!write_line(writer->output, writer->number, i, i % 100);
	return NULL;
}

static void *read_in_thread(void *data)
{
	return read_all(*(int *)data);
}

/* Checks that lines are whole and in order; returns how many there are. */
static unsigned int check_lines(const char *text)
{
	unsigned int writer, number, lines = 0;
	int last[WRITERS] = { }, length;

	for (; *text; lines++) {
		assert_int_equal(sscanf(text, "%u %u%n", &writer, &number, &length), 2);
		assert_true(writer < WRITERS && (int)number >= last[writer]);
		last[writer] = number + 1;
		text += length;
		assert_int_equal(*text++, ' ');
		text += strspn(text, "x");
		assert_int_equal(*text++, '\n');
	}
	return lines;
}

static void test_writers(void **state)
{
	struct writer writers[WRITERS];
	struct fixture fixture;
	unsigned int i, dropped = 0;
	pthread_t reader;
	char *said;
	void *text;

	fixture__open(&fixture, 16 << 20);
	assert_int_equal(pthread_create(&reader, NULL, read_in_thread, &fixture.reader), 0);
	for (i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){
			.output = fixture.output,
			.number = i,
		};
		assert_int_equal(pthread_create(&writers[i].thread, NULL, write_lines, &writers[i]),
				 0);
	}
	for (i = 0; i < WRITERS; i++) {
		pthread_join(writers[i].thread, NULL);
		dropped += writers[i].dropped;
	}
	finish(fixture.output);
	close(fixture.writer);
	pthread_join(reader, &text);
	assert_int_equal(dropped, 0);
	assert_int_equal(check_lines(text), WRITERS * LINES);
	free(text);
	said = fixture__close(&fixture);
	assert_string_equal(said, "");
	free(said);
}

static void test_blocked(void **state)
{
	unsigned int accepted = 0, dropped = 0, i;
	struct fixture fixture;
	char *said, *text;
	pthread_t reader;
	void *result;
	int err;

	fixture__open(&fixture, 100 * LENGTH);
	for (i = 0; i < 1000; i++) {
		err = write_line(fixture.output, 0, i, LENGTH);
		assert_true(!err || err == -ENOBUFS);
		accepted += !err;
		dropped += !!err;
	}
	/* The bound, and the capacity of a pipe. */
	assert_true(accepted >= 90 && accepted < 100 + 65536 / LENGTH + 2);
	assert_int_equal(output__dropped(fixture.output), dropped);

	assert_int_equal(pthread_create(&reader, NULL, read_in_thread, &fixture.reader), 0);
	/* A read makes room at once. */
	while (write_line(fixture.output, 0, i, LENGTH))
		dropped++, sched_yield();
	finish(fixture.output);
	close(fixture.writer);
	pthread_join(reader, &result);
	text = result;
	assert_int_equal(check_lines(text), accepted + 1);
	assert_non_null(strstr(text, "\n0 1000 xx"));
	free(text);

	said = fixture__close(&fixture);
	assert_int_equal(count(said, "the pipe is read too slowly"), 1);
	assert_int_equal(count(said, "\n"), 2);
	assert_int_equal(atoi(strchr(said, '\n') + strlen("\ndart-controller: ")), dropped);
	free(said);
}

static void test_long(void **state)
{
	struct fixture fixture;
	pthread_t reader;
	void *text;
	char *said;

	fixture__open(&fixture, LENGTH);
	assert_int_equal(write_line(fixture.output, 0, 1, 1 << 20), 0);
	assert_int_equal(write_line(fixture.output, 0, 2, 10), -ENOBUFS);
	assert_int_equal(pthread_create(&reader, NULL, read_in_thread, &fixture.reader), 0);
	finish(fixture.output);
	close(fixture.writer);
	pthread_join(reader, &text);
	assert_int_equal(check_lines(text), 1);
	assert_int_equal(strlen(text), (1 << 20) + strlen("0 1 \n"));
	free(text);
	said = fixture__close(&fixture);
	free(said);
}

/* An output that can never be written to. */
static void check_failure(struct fixture *fixture, int err, const char *reason)
{
	char *said;

	assert_int_equal(write_line(fixture->output, 0, 1, 10), 0);
	wait_for(fixture->output);
	assert_false(output__has_ended(fixture->output));
	assert_int_equal(output__error(fixture->output), err);
	write_line(fixture->output, 0, 2, 10);
	write_line(fixture->output, 0, 3, 10);
	finish(fixture->output);
	assert_int_equal(output__dropped(fixture->output), 2);
	said = fixture__close(fixture);
	assert_string_equal(said, reason);
	free(said);
}

static void test_full_device(void **state)
{
	struct fixture fixture;

	fixture__open(&fixture, LENGTH);
	assert_true(dup2(open("/dev/full", O_WRONLY), fixture.writer) >= 0);
	check_failure(&fixture, -ENOSPC,
		      "dart-controller: cannot write to the pipe: No space left on device\n");
}

static void test_closed_pipe(void **state)
{
	struct fixture fixture;

	fixture__open(&fixture, LENGTH);
	assert_true(dup2(open("/dev/null", O_RDONLY), fixture.reader) >= 0);
	check_failure(&fixture, -EPIPE, "dart-controller: cannot write to the pipe: Broken pipe\n");
}

static void test_close_while_blocked(void **state)
{
	struct fixture fixture;
	unsigned int i;
	char *said;

	fixture__open(&fixture, 1 << 20);
	/* The pipe holds 64 of these. */
	for (i = 0; i < 200; i++)
		assert_int_equal(write_line(fixture.output, 0, i, LENGTH), 0);
	said = fixture__close(&fixture);
	assert_int_equal(count(said, "samples were not written to the pipe"), 1);
	i = atoi(said + strlen("dart-controller: "));
	assert_true(i >= 130 && i <= 200);
	/* Lines that a pipe takes at once are never cut; longer lines are. */
	assert_int_equal(count(said, "is cut"), 0);
	free(said);
	fixture__open(&fixture, 1 << 20);
	assert_int_equal(write_line(fixture.output, 0, 0, 1 << 20), 0);
	while (output__written(fixture.output) < LENGTH)
		sched_yield();
	said = fixture__close(&fixture);
	assert_int_equal(count(said, "1 samples were not written to the pipe: it was read too slowly, and its last line is cut\n"),
			 1);
	free(said);
}

static void test_show(void **state)
{
	struct fixture fixture;
	char *said, *frame;
	pthread_t reader;
	unsigned int i;
	void *text;

	fixture__open(&fixture, 2 * LENGTH);
	assert_int_equal(write_line(fixture.output, 0, 0, 1 << 20), 0);
	for (i = 1; i <= 1000; i++) {
		assert_true(asprintf(&frame, "0 %u \n", i) > 0);
		assert_int_equal(output__show(fixture.output, frame, strlen(frame)), 0);
	}
	assert_int_equal(pthread_create(&reader, NULL, read_in_thread, &fixture.reader), 0);
	finish(fixture.output);
	close(fixture.writer);
	pthread_join(reader, &text);
	assert_int_equal(check_lines(text), 2);
	assert_non_null(strstr(text, "\n0 1000 \n"));
	free(text);
	said = fixture__close(&fixture);
	assert_string_equal(said, "");
	free(said);
}

/* The reader is late, and then takes everything: no line is cut. */
static void test_give_up(void **state)
{
	struct fixture fixture;
	pthread_t reader;
	char *said, *text;
	unsigned int i;

	fixture__open(&fixture, 4 << 20);
	/* The first line is longer than the pipe: it is under way. */
	assert_int_equal(write_line(fixture.output, 0, 0, 1 << 20), 0);
	for (i = 1; i <= 100; i++)
		assert_int_equal(write_line(fixture.output, 0, i, LENGTH), 0);
	while (output__written(fixture.output) < LENGTH)
		sched_yield();
	output__end(fixture.output);
	output__give_up(fixture.output);
	assert_false(output__has_ended(fixture.output));
	assert_int_equal(pthread_create(&reader, NULL, read_in_thread, &fixture.reader), 0);
	finish(fixture.output);
	close(fixture.writer);
	pthread_join(reader, (void **)&text);
	assert_int_equal(check_lines(text), 1);
	free(text);
	said = fixture__close(&fixture);
	assert_int_equal(count(said, "dart-controller: 100 samples were not written to the pipe: it was read too slowly\n"),
			 1);
	free(said);
}

static void *read_all_of(void *data)
{
	return read_all(*(const int *)data);
}

/* More than fits at once: the writer sleeps until the reader makes room. */
static void test_waits(void **state)
{
	struct fixture fixture;
	unsigned int i, lines = 0;
	pthread_t reader;
	char *text, *c;

	fixture__open(&fixture, 4 * LENGTH);
	output__set_waits(fixture.output, true);
	assert_int_equal(pthread_create(&reader, NULL, read_all_of, &fixture.reader), 0);
	for (i = 0; i < LINES; i++) {
		text = malloc(LENGTH);
		assert_non_null(text);
		memset(text, 'x', LENGTH - 1);
		text[LENGTH - 1] = '\n';
		assert_int_equal(output__write(fixture.output, text, LENGTH), 0);
	}
	finish(fixture.output);
	assert_int_equal(output__dropped(fixture.output), 0);
	output__close(fixture.output);
	close(fixture.writer);
	pthread_join(reader, (void **)&text);
	for (c = text; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, LINES);
	free(text);
	finish(fixture.log);
	output__close(fixture.log);
	close(fixture.reader);
	close(fixture.log_reader);
	close(fixture.log_writer);
}

static void *count_dropped(void *data)
{
	struct fixture *fixture = data;
	uintptr_t dropped = 0;
	unsigned int i;

	for (i = 0; i < LINES; i++)
		dropped += output__write(fixture->output, calloc(1, LENGTH), LENGTH) == -ENOBUFS;
	return (void *)dropped;
}

/* A sleeping writer goes on, and drops lines that do not fit. */
static void test_waits_no_more(void **state)
{
	struct fixture fixture;
	pthread_t writer;
	void *dropped;

	fixture__open(&fixture, 4 * LENGTH);
	output__set_waits(fixture.output, true);
	assert_int_equal(pthread_create(&writer, NULL, count_dropped, &fixture), 0);
	/* The pipe holds 16 pages; then the queue fills up, and the writer sleeps. */
	while (output__written(fixture.output) < 60 * LENGTH)
		sched_yield();
	output__set_waits(fixture.output, false);
	pthread_join(writer, &dropped);
	assert_true((uintptr_t)dropped > LINES / 2);
	output__close(fixture.output);
	output__close(fixture.log);
	close(fixture.reader);
	close(fixture.writer);
	close(fixture.log_reader);
	close(fixture.log_writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("lines of many threads are all written, whole and in the order of each",
		     test_writers),
		TEST("a pipe that is not read takes a bounded number of lines and drops the others, which is said once; read again, it goes on",
		     test_blocked),
		TEST("a text that is longer than the bound is written, alone", test_long),
		TEST("a full device is said once, and the rest is dropped", test_full_device),
		TEST("a pipe without a reader is said once, and no signal kills the program",
		     test_closed_pipe),
		TEST("an output that is blocked can be closed, and says what it has not written",
		     test_close_while_blocked),
		TEST("an output that is given up finishes the line that is under way, and no other one",
		     test_give_up),
		TEST("an output that waits drops nothing, and sleeps until there is room",
		     test_waits),
		TEST("one that waits no more lets its writers go on", test_waits_no_more),
		TEST("of what is shown, a blocked output keeps only the newest", test_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

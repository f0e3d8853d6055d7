// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures of an output that pushes, and how often it logs lost samples.  The monotonic clock of
 * this program can be moved on, by hours.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "push_receiver.h"
#include "tools/bench/invented_metrics.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/outputs/output_list.h"
#include "tools/controller/push/push.h"

#define SERIES 50
#define WAIT_S 60
#define HOUR_NS 3600000000000ULL

static _Atomic uint64_t moved_on_ns;

/* In place of libc's, for this program: CLOCK_MONOTONIC may be later. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	const int ret = syscall(SYS_clock_gettime, clock, time);
	const uint64_t moved_ns = atomic_load(&moved_on_ns);

	if (!ret && clock == CLOCK_MONOTONIC)
		time->tv_sec += moved_ns / 1000000000;
	return ret;
}

struct fixture {
	struct receiver receiver;
	struct receiver_settings settings;
	char url[100];
	struct metric_output *output;
	struct output_list list;
	struct metric_plan *plan;
	uint32_t scrapes;
	struct output *log;
	int log_ends[2];
	char said[65536];
	size_t said_length;
};

static void start(struct fixture *fixture)
{
	struct dart_error error;

	fixture->plan = invented_plan__new(SERIES, 0);
	fixture->settings.format = "remote_write";
	fixture->settings.delay_ns = RECEIVER_DELAY_NONE;
	fixture->settings.batch = SERIES;
	snprintf(fixture->url, sizeof(fixture->url), "http://u:p@127.0.0.1:%u/w?secret=1",
		 fixture->receiver.port);
	fixture->settings.url = fixture->url;
	assert_int_equal(pipe2(fixture->log_ends, O_CLOEXEC), 0);
	assert_int_equal(output__open(fixture->log_ends[1], "log", 1 << 20, NULL, &fixture->log),
			 0);
	if (push__new(&fixture->settings, fixture->log, &fixture->output, &error))
		fail_msg("%s", error.text);
	output_list__open(&fixture->list);
	assert_int_equal(output_list__add(&fixture->list, push__figures, fixture->output), 0);
}

static void scrape(struct fixture *fixture)
{
	static char host[] = "h:1";
	static const struct target_settings target = { .name = host };
	struct metric_point points[SERIES];
	const struct metric_scrape made = {
		.plan = fixture->plan,
		.points = points,
		.time_ns = 1700000000000000000LL + fixture->scrapes * 1000000000LL,
	};
	uint32_t i;

	for (i = 0; i < SERIES; i++)
		points[i] = (struct metric_point){ .value = i, .time_ns = made.time_ns };
	fixture->output->operations->scrape(fixture->output, &target, &made);
	fixture->scrapes++;
}

static void stop(struct fixture *fixture)
{
	output_list__remove(&fixture->list, fixture->output);
	output_list__close(&fixture->list);
	fixture->output->operations->free(fixture->output);
	output__end(fixture->log);
	while (!output__has_ended(fixture->log))
		poll(NULL, 0, 1);
	output__close(fixture->log);
	close(fixture->log_ends[1]);
	close(fixture->log_ends[0]);
	metric_plan__put(fixture->plan);
}

/* Reads figures until @is_reached is true of them; the caller frees them. */
static struct output_figures *wait_until(struct fixture *fixture,
					 bool (*is_reached)(const struct output_figures *figures,
							    uint64_t wanted),
					 uint64_t wanted)
{
	struct output_figures *figures;
	unsigned int tries;
	size_t count;

	for (tries = 0; tries < WAIT_S * 1000; tries++) {
		assert_int_equal(output_list__read(&fixture->list, &figures, &count), 0);
		assert_int_equal(count, 1);
		if (is_reached(figures, wanted))
			return figures;
		output_list__free(figures, count);
		poll(NULL, 0, 1);
	}
	fail_msg("the output does not get there");
	return NULL;
}

static bool has_sent(const struct output_figures *figures, uint64_t samples)
{
	return figures->numbers[OUTPUT_SENT_SAMPLES] == samples;
}

/* The output counts the samples first, and tells the error then. */
static bool has_refused(const struct output_figures *figures, uint64_t samples)
{
	return output_losses__sum(&figures->refused) == samples && *figures->error.kind;
}

static bool has_answer(const struct output_figures *figures, uint64_t samples)
{
	return figures->numbers[OUTPUT_SENT_SAMPLES] +
		       output_losses__sum(&figures->refused) > samples;
}

static bool has_dropped(const struct output_figures *figures, uint64_t samples)
{
	return output_losses__sum(&figures->dropped) >= samples;
}

static bool is_failing(const struct output_figures *figures, uint64_t samples)
{
	return figures->numbers[OUTPUT_FAILING] &&
	       figures->numbers[OUTPUT_WAITING_SAMPLES] == samples;
}

static uint64_t lost(const struct output_losses *losses, const char *reason)
{
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < losses->count; i++)
		samples += strcmp(losses->all[i].reason, reason) ? 0 : losses->all[i].samples;
	return samples;
}

static void test_sent(void **state)
{
	struct fixture fixture = { .receiver.answers = { ACCEPTED_2 } };
	struct output_figures *figures;
	char name[100];
	uint32_t i;

	receiver__open(&fixture.receiver);
	start(&fixture);
	for (i = 0; i < 3; i++)
		scrape(&fixture);
	figures = wait_until(&fixture, has_sent, 3 * SERIES);
	assert_string_equal(figures->kind, "remote_write");
	snprintf(name, sizeof(name), "http://127.0.0.1:%u/w", fixture.receiver.port);
	assert_string_equal(figures->name, name);
	assert_true(figures->numbers[OUTPUT_SENT_BYTES] > 0);
	assert_int_equal(output_losses__sum(&figures->refused), 0);
	assert_int_equal(output_losses__sum(&figures->dropped), 0);
	assert_int_equal(figures->error.time_ns, 0);
	assert_false(figures->has[OUTPUT_SPOOL_BYTES]);
	output_list__free(figures, 1);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	free(fixture.receiver.accepted);
}

static void test_refused(void **state)
{
	struct fixture fixture = { .receiver.answers = {
		ACCEPTED_2,
		"HTTP/1.1 404 No\r\nContent-Length: 5\r\n\r\ngone\n",
		"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n",
		ACCEPTED_2,
	} };
	struct output_figures *figures;
	uint32_t i;

	receiver__open(&fixture.receiver);
	start(&fixture);
	scrape(&fixture);
	output_list__free(wait_until(&fixture, has_sent, SERIES), 1);
	scrape(&fixture);
	figures = wait_until(&fixture, has_refused, SERIES);
	assert_string_equal(figures->error.kind, "status_404");
	assert_non_null(strstr(figures->error.text, "gone"));
	output_list__free(figures, 1);
	for (i = 2; i < 4; i++) {
		scrape(&fixture);
		output_list__free(wait_until(&fixture, has_answer, i * SERIES), 1);
	}
	figures = wait_until(&fixture, has_sent, 2 * SERIES);
	assert_int_equal(output_losses__sum(&figures->refused), 2 * SERIES);
	assert_int_equal(lost(&figures->refused, "status_404"), SERIES);
	assert_int_equal(lost(&figures->refused, "status_403"), SERIES);
	output_list__free(figures, 1);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	free(fixture.receiver.accepted);
}

/*
 * Without a listener waiting samples grow older; a second output fails with the status of an
 * answer.
 */
static void test_waiting(void **state)
{
	struct fixture fixture = { .receiver.answers = { ACCEPTED_2 } };
	struct output_figures *figures;

	receiver__bind(&fixture.receiver);
	start(&fixture);
	scrape(&fixture);
	scrape(&fixture);
	figures = wait_until(&fixture, is_failing, 2 * SERIES);
	assert_string_equal(figures->error.kind, "no_answer");
	assert_true(figures->numbers[OUTPUT_OLDEST_WAITING_NS] > 0);
	assert_true(figures->numbers[OUTPUT_OLDEST_WAITING_NS] < HOUR_NS);
	assert_true(figures->numbers[OUTPUT_QUEUE_BYTES] > 0);
	output_list__free(figures, 1);
	atomic_fetch_add(&moved_on_ns, 2 * HOUR_NS);
	figures = wait_until(&fixture, is_failing, 2 * SERIES);
	assert_true(figures->numbers[OUTPUT_OLDEST_WAITING_NS] > 2 * HOUR_NS);
	output_list__free(figures, 1);

	receiver__run(&fixture.receiver);
	scrape(&fixture);
	figures = wait_until(&fixture, has_sent, 3 * SERIES);
	output_list__free(figures, 1);
	figures = wait_until(&fixture, has_dropped, 0);
	while (figures->numbers[OUTPUT_OLDEST_WAITING_NS]) {
		output_list__free(figures, 1);
		figures = wait_until(&fixture, has_dropped, 0);
	}
	assert_true(figures->numbers[OUTPUT_RETRIES] > 0);
	output_list__free(figures, 1);
	stop(&fixture);
	receiver__close(&fixture.receiver);
	free(fixture.receiver.accepted);
}

/* Pretends that the files of a spool were written the given seconds ago. */
static void set_back(const char *directory, time_t seconds)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	char path[300];
	const struct dirent *entry;
	DIR *files = opendir(directory);

	assert_non_null(files);
	times[1].tv_sec = time(NULL) - seconds;
	while ((entry = readdir(files))) {
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (strstr(path, ".segment"))
			assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	closedir(files);
}

/* The same of a spool, and of a program that finds messages there. */
static void test_waiting_in_spool(void **state)
{
	char directory[] = "/tmp/push-figures-XXXXXX", command[100];
	struct fixture fixture = { .settings.spool = directory };
	struct output_figures *figures;

	assert_non_null(mkdtemp(directory));
	receiver__bind(&fixture.receiver);
	start(&fixture);
	scrape(&fixture);
	output_list__free(wait_until(&fixture, is_failing, SERIES), 1);
	atomic_fetch_add(&moved_on_ns, 2 * HOUR_NS);
	figures = wait_until(&fixture, is_failing, SERIES);
	assert_true(figures->numbers[OUTPUT_OLDEST_WAITING_NS] > 2 * HOUR_NS);
	assert_true(figures->numbers[OUTPUT_OLDEST_WAITING_NS] < 3 * HOUR_NS);
	assert_true(figures->numbers[OUTPUT_SPOOL_BYTES] > 0);
	output_list__free(figures, 1);
	stop(&fixture);

	/* The program was down for four hours. */
	set_back(directory, 4 * 3600);
	start(&fixture);
	figures = wait_until(&fixture, is_failing, SERIES);
	assert_true(figures->numbers[OUTPUT_OLDEST_WAITING_NS] > 3 * HOUR_NS);
	assert_true(figures->numbers[OUTPUT_OLDEST_WAITING_NS] < 5 * HOUR_NS);
	output_list__free(figures, 1);
	stop(&fixture);
	close(fixture.receiver.fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	assert_int_equal(system(command), 0);
}

/* How often the log says so, up to now. */
static size_t times_said(struct fixture *fixture, const char *text)
{
	struct pollfd log = { .fd = fixture->log_ends[0], .events = POLLIN };
	const char *at = fixture->said;
	size_t count = 0;
	ssize_t got;

	while (poll(&log, 1, 0) == 1) {
		got = read(log.fd, fixture->said + fixture->said_length,
			   sizeof(fixture->said) - 1 - fixture->said_length);
		assert_true(got > 0);
		fixture->said_length += got;
	}
	fixture->said[fixture->said_length] = '\0';
	while ((at = strstr(at, text))) {
		at += strlen(text);
		count++;
	}
	return count;
}

static void wait_for_said(struct fixture *fixture, const char *text, size_t times)
{
	unsigned int tries;

	for (tries = 0; times_said(fixture, text) < times; tries++) {
		assert_true(tries < WAIT_S * 1000);
		poll(NULL, 0, 1);
	}
	assert_int_equal(times_said(fixture, text), times);
}

static uint64_t drop_more(struct fixture *fixture, uint64_t than)
{
	struct output_figures *figures;
	uint64_t dropped;

	do {
		scrape(fixture);
		figures = wait_until(fixture, has_dropped, 0);
		dropped = output_losses__sum(&figures->dropped);
		output_list__free(figures, 1);
	} while (dropped <= than);
	return dropped;
}

static void test_said_hourly(void **state)
{
	static const char text[] = "do not fit into the queue";
	struct fixture fixture = {
		.settings.queue_bytes = RECEIVER_QUEUE_MIN,
	};
	uint64_t dropped;

	receiver__bind(&fixture.receiver);
	start(&fixture);
	dropped = drop_more(&fixture, 0);
	wait_for_said(&fixture, text, 1);
	dropped = drop_more(&fixture, dropped + 50 * SERIES);
	wait_for_said(&fixture, text, 1);
	/* An hour later, and the next: once each, however many were dropped. */
	atomic_fetch_add(&moved_on_ns, HOUR_NS);
	dropped = drop_more(&fixture, dropped + 50 * SERIES);
	wait_for_said(&fixture, text, 2);
	atomic_fetch_add(&moved_on_ns, HOUR_NS);
	dropped = drop_more(&fixture, dropped + 50 * SERIES);
	wait_for_said(&fixture, text, 3);
	wait_for_said(&fixture, "; of its agents 'h:1' has the most series, 50)", 3);
	stop(&fixture);
	close(fixture.receiver.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an output tells the samples that were sent, and its place without a password",
		     test_sent),
		TEST("it tells samples that were refused by status, and the last error",
		     test_refused),
		TEST("it tells how long the oldest samples wait, and for what", test_waiting),
		TEST("it tells the same of those in a spool, also after a restart",
		     test_waiting_in_spool),
		TEST("samples that do not fit are said once an hour", test_said_hourly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

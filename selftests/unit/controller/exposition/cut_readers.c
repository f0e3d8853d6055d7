// SPDX-License-Identifier: GPL-2.0-only
/* The lines of the log about readers of pages that were cut off. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/controller/base/hourly.h"
#include "tools/controller/exposition/cut_readers.h"

#include "selftests/unit/unit.h"

#define SECOND_NS 1000000000ULL

static struct {
	struct cut_readers readers;
	struct output *log;
	int fd;
	char text[1 << 16];
} fixture;

static int open_log(void **state)
{
	fixture.fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(fixture.fd >= 0);
	assert_int_equal(output__open(fixture.fd, "log", 1 << 20, NULL, &fixture.log), 0);
	cut_readers__init(&fixture.readers, fixture.log);
	return 0;
}

/* Returns when all that was said is in fixture.text. */
static void close_log(void)
{
	struct pollfd event = { output__event_fd(fixture.log), POLLIN, 0 };
	ssize_t length;

	output__end(fixture.log);
	while (!output__has_ended(fixture.log))
		poll(&event, 1, -1);
	output__close(fixture.log);
	length = pread(fixture.fd, fixture.text, sizeof(fixture.text) - 1, 0);
	assert_true(length >= 0);
	fixture.text[length] = '\0';
	close(fixture.fd);
	cut_readers__clear(&fixture.readers);
}

static unsigned int lines_with(const char *text)
{
	const char *at = fixture.text;
	unsigned int lines = 0;

	while ((at = strstr(at, text))) {
		lines++;
		at += strlen(text);
	}
	return lines;
}

static void test_hourly(void **state)
{
	const uint64_t now_ns = 5 * SECOND_NS;
	int i;

	for (i = 0; i < 4; i++)
		cut_readers__add(&fixture.readers, "10.0.0.1", CUT_FOR_MEMORY, now_ns + i);
	cut_readers__add(&fixture.readers, "fd00::1", CUT_FOR_SILENCE, now_ns);
	cut_readers__add(&fixture.readers, "10.0.0.1", CUT_FOR_MEMORY, now_ns + HOURLY_NS - 1);
	cut_readers__add(&fixture.readers, "10.0.0.1", CUT_FOR_SILENCE, now_ns + HOURLY_NS);
	close_log();
	assert_int_equal(lines_with("\n"), 3);
	assert_int_equal(lines_with("a reader of a page of metrics at 10.0.0.1 was cut off: "
				    "it was the slowest"),
			 1);
	assert_int_equal(lines_with("a reader of a page of metrics at fd00::1 was cut off: "
				    "it took nothing for 30 s"),
			 1);
	assert_int_equal(lines_with("5 readers of pages of metrics at 10.0.0.1"), 1);
}

/* A peer with many addresses cannot fill the log. */
static void test_many(void **state)
{
	char address[32];
	unsigned int i;

	for (i = 0; i < CUT_ADDRESSES_MAX + 1000; i++) {
		snprintf(address, sizeof(address), "fd00::%x", i + 1);
		cut_readers__add(&fixture.readers, address, CUT_FOR_MEMORY, i);
	}
	/* An hour later other readers take their places. */
	cut_readers__add(&fixture.readers, "10.0.0.9", CUT_FOR_MEMORY, 2 * HOURLY_NS);
	cut_readers__add(&fixture.readers, "", CUT_FOR_MEMORY, 2 * HOURLY_NS);
	close_log();
	assert_int_equal(lines_with("\n"), CUT_ADDRESSES_MAX + 3);
	assert_int_equal(lines_with("at further addresses was"), 1);
	assert_int_equal(lines_with("at 10.0.0.9 was"), 1);
	assert_int_equal(lines_with("at an unknown address was"), 1);
}

static void test_no_log(void **state)
{
	struct cut_readers readers;

	cut_readers__init(&readers, NULL);
	cut_readers__add(&readers, "10.0.0.1", CUT_FOR_MEMORY, 1);
	cut_readers__clear(&readers);
	assert_string_equal(cut_reason__name(CUT_FOR_MEMORY), "memory");
	assert_string_equal(cut_reason__name(CUT_FOR_SILENCE), "silence");
	close_log();
	assert_string_equal(fixture.text, "");
}

#define LOGGED(name, test) { name, test, open_log, NULL, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOGGED("are said once an hour for each address, with their number", test_hourly),
		LOGGED("of too many addresses are said together", test_many),
		LOGGED("are not said without a log", test_no_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

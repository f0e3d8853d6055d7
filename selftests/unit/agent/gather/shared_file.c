// SPDX-License-Identifier: GPL-2.0-only
/* Descriptors of records: one for each object, however many sources have a record of it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/gather/record.h"
#include "agent/gather/shared_file.h"
#include "selftests/unit/unit.h"

#define SOURCES 6

static unsigned int count_open(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* A record of the object that @fd refers to. */
static struct record *new_record(int fd)
{
	const struct dart_zero_piece piece = { .width = 8, .count = 1 };
	const struct dart_zero_record wanted = {
		.form = DART_ZERO_RECORD_SUM,
		.piece_count = 1,
		.pieces = (uintptr_t)&piece,
	};
	struct record *record;

	assert_int_equal(record__new(&wanted, 8, &record), 0);
	assert_int_equal(record__refer(record, fd), 0);
	return record;
}

static void test_shared(void **state)
{
	const int fds[] = { open("/tmp", O_RDONLY | O_CLOEXEC), open("/", O_PATH | O_CLOEXEC) };
	const unsigned int before = count_open();
	struct record *records[2][SOURCES];
	int i, j;

	for (i = 0; i < 2; i++)
		for (j = 0; j < SOURCES; j++)
			records[i][j] = new_record(fds[i]);
	assert_int_equal(count_open(), before + 2);
	for (i = 0; i < 2; i++) {
		assert_int_not_equal(records[i][0]->question.fd, fds[i]);
		for (j = 1; j < SOURCES; j++)
			assert_int_equal(records[i][j]->question.fd, records[i][0]->question.fd);
	}
	assert_int_not_equal(records[0][0]->question.fd, records[1][0]->question.fd);

	/* Only the last record closes it. */
	for (j = 0; j < SOURCES - 1; j++)
		record__free(records[0][j]);
	assert_int_equal(count_open(), before + 2);
	record__free(records[0][SOURCES - 1]);
	assert_int_equal(count_open(), before + 1);
	for (j = 0; j < SOURCES; j++)
		record__free(records[1][j]);
	assert_int_equal(count_open(), before);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("records of one object share a descriptor", test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Messages in files, which are cut, damaged, full, or left by a program that was killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/controller/push/backlog.h"
#include "tools/controller/push/record.h"
#include "unit.h"

#define BOUND (4ULL << 20)

static char directory[] = "/tmp/push-spool-XXXXXX";

static void path_of(const char *file, char path[200])
{
	snprintf(path, 200, "%s/%s", directory, file);
}

static struct spool *open_spool(uint64_t bound)
{
	struct dart_error error;
	struct spool *spool;

	if (spool__open(directory, bound, &spool, &error))
		fail_msg("%s", error.text);
	return spool;
}

static int make_directory(void **state)
{
	strcpy(directory, "/tmp/push-spool-XXXXXX");
	return !mkdtemp(directory);
}

static int remove_directory(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

/* Its body is @number, @length times or more. */
static struct message *make(uint32_t number, size_t length)
{
	struct message *message;
	uint8_t *body = malloc(length + 4);

	memset(body, number, length + 4);
	memcpy(body, &number, 4);
	message = message__new(MESSAGE_INFLUX, number, body, length + 4);
	free(body);
	assert_non_null(message);
	return message;
}

static int add(struct spool *spool, uint32_t number, size_t length)
{
	struct message *message = make(number, length);
	const int ret = spool__add(spool, message);

	free(message);
	return ret;
}

/* The number of the next message, which is then sent; 0: there is none. */
static uint32_t take(struct spool *spool)
{
	struct message *message;
	uint32_t number = 0;

	assert_int_equal(spool__read(spool, &message), 0);
	if (!message)
		return 0;
	memcpy(&number, message->body, 4);
	assert_int_equal(message->samples, number);
	assert_int_equal(message->format, MESSAGE_INFLUX);
	free(message);
	spool__advance(spool);
	return number;
}

static void test_restart(void **state)
{
	struct spool *spool = open_spool(BOUND);
	uint32_t i;

	assert_int_equal(take(spool), 0);
	for (i = 1; i <= 10; i++)
		assert_int_equal(add(spool, i, 100), 0);
	assert_int_equal(spool__samples(spool), 55);
	for (i = 1; i <= 3; i++)
		assert_int_equal(take(spool), i);
	spool__close(spool);

	spool = open_spool(BOUND);
	assert_int_equal(spool__samples(spool), 49);
	assert_int_equal(add(spool, 11, 100), 0);
	for (i = 4; i <= 11; i++)
		assert_int_equal(take(spool), i);
	assert_int_equal(take(spool), 0);
	assert_int_equal(spool__samples(spool), 0);
	assert_int_equal(spool__dropped(spool), 0);
	spool__close(spool);
	spool = open_spool(BOUND);
	assert_int_equal(take(spool), 0);
	spool__close(spool);
}

/* Three messages of 24 and more bytes in one segment. */
static void test_cut(void **state)
{
	const size_t record = sizeof(struct record) + 14;
	uint32_t whole, i;
	struct spool *spool;
	char segment[200];
	size_t cut;

	path_of("0000000000000001.segment", segment);
	for (cut = 0; cut <= 3 * record; cut++) {
		assert_int_equal(make_directory(NULL), 0);
		path_of("0000000000000001.segment", segment);
		spool = open_spool(BOUND);
		for (i = 1; i <= 3; i++)
			assert_int_equal(add(spool, i, 10), 0);
		spool__close(spool);
		assert_int_equal(truncate(segment, cut), 0);

		whole = cut / record;
		spool = open_spool(BOUND);
		assert_int_equal(spool__damaged(spool), cut % record);
		/* Goes behind what is whole. */
		assert_int_equal(add(spool, 9, 10), 0);
		for (i = 1; i <= whole; i++)
			assert_int_equal(take(spool), i);
		assert_int_equal(take(spool), 9);
		assert_int_equal(take(spool), 0);
		assert_int_equal(spool__samples(spool), 0);
		spool__close(spool);
		assert_int_equal(remove_directory(NULL), 0);
	}
	assert_int_equal(make_directory(NULL), 0);
}

static void flip(const char *file, off_t offset)
{
	char path[200], byte;
	int fd;

	path_of(file, path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, offset), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
	close(fd);
}

/* Of each byte of the second message, while the spool is closed, and while it is open. */
static void test_damaged(void **state)
{
	const size_t record = sizeof(struct record) + 14;
	struct spool *spool;
	size_t at;
	int is_open;

	for (at = record; at < 2 * record; at++) {
		for (is_open = 0; is_open < 2; is_open++) {
			assert_int_equal(make_directory(NULL), 0);
			spool = open_spool(BOUND);
			assert_int_equal(add(spool, 1, 10), 0);
			assert_int_equal(add(spool, 2, 10), 0);
			if (is_open) {
				flip("0000000000000001.segment", at);
			} else {
				spool__close(spool);
				flip("0000000000000001.segment", at);
				spool = open_spool(BOUND);
			}
			assert_int_equal(take(spool), 1);
			assert_int_equal(take(spool), 0);
			assert_int_equal(add(spool, 3, 10), 0);
			assert_int_equal(take(spool), 3);
			assert_int_equal(spool__damaged(spool), record);
			assert_int_equal(spool__dropped(spool), is_open ? 2 : 0);
			spool__close(spool);
			assert_int_equal(remove_directory(NULL), 0);
		}
	}
	assert_int_equal(make_directory(NULL), 0);
}

/* Without a position all is sent again. */
static void test_position(void **state)
{
	struct spool *spool = open_spool(BOUND);
	size_t at;

	assert_int_equal(add(spool, 1, 10), 0);
	assert_int_equal(add(spool, 2, 10), 0);
	assert_int_equal(take(spool), 1);
	for (at = 0; at < 24; at++) {
		spool__close(spool);
		flip("position", at);
		spool = open_spool(BOUND);
		assert_int_equal(take(spool), 1);
	}
	assert_int_equal(take(spool), 2);
	spool__close(spool);
}

static uint64_t bytes_on_disk(void)
{
	struct stat status;
	uint64_t bytes = 0;
	char path[200];
	unsigned int i;

	for (i = 1; i < 100; i++) {
		snprintf(path, sizeof(path), "%s/%016x.segment", directory, i);
		if (!stat(path, &status))
			bytes += status.st_size;
	}
	return bytes;
}

static void test_bound(void **state)
{
	struct spool *spool = open_spool(BOUND);
	uint64_t given = 0, taken = 0;
	uint32_t i, number, last = 0;

	for (i = 1; i <= 100; i++) {
		assert_int_equal(add(spool, i, 100000), 0);
		given += i;
		assert_true(bytes_on_disk() <= BOUND);
	}
	assert_true(spool__dropped(spool) > 0);
	/* Not more than a segment too many. */
	assert_true(bytes_on_disk() > BOUND / 4 * 3);
	while ((number = take(spool))) {
		assert_true(!last || number == last + 1);
		last = number;
		taken += number;
	}
	assert_int_equal(last, 100);
	assert_int_equal(taken + spool__dropped(spool), given);
	assert_true(bytes_on_disk() <= BOUND / 8);
	spool__close(spool);
}

/* The message that is being sent is dropped meanwhile: the one behind is not taken for it. */
static void test_dropped_while_sent(void **state)
{
	struct spool *spool = open_spool(BOUND);
	struct message *message;
	uint32_t i, number, last = 0;

	assert_int_equal(add(spool, 1, 100000), 0);
	assert_int_equal(spool__read(spool, &message), 0);
	free(message);
	for (i = 2; i <= 60; i++)
		assert_int_equal(add(spool, i, 100000), 0);
	spool__advance(spool);
	number = take(spool);
	assert_true(number > 1);
	for (last = number; (number = take(spool)); last = number)
		assert_int_equal(number, last + 1);
	assert_int_equal(last, 60);
	spool__close(spool);
}

static void test_lock(void **state)
{
	struct spool *spool = open_spool(BOUND), *other;
	struct dart_error error;

	assert_int_equal(spool__open(directory, BOUND, &other, &error), -EBUSY);
	assert_non_null(strstr(error.text, "another program has the spool"));
	spool__close(spool);
	assert_int_equal(spool__open("/nowhere/at/all", BOUND, &other, &error),
			 -ENOENT);
}

/* Writes 1, 2, ... and tells of each that is in the spool, until it is killed. */
static void write_for_ever(int tell)
{
	struct spool *spool = open_spool(1ULL << 40);
	uint32_t i;

	for (i = 1;; i++) {
		if (add(spool, i, 3000 + i % 5000) ||
		    write(tell, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
}

static void test_killed(void **state)
{
	uint32_t told, last = 0, i;
	struct spool *spool;
	int ends[2], round;
	pid_t child;

	for (round = 0; round < 20; round++) {
		assert_int_equal(make_directory(NULL), 0);
		assert_int_equal(pipe(ends), 0);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			write_for_ever(ends[1]);
		close(ends[1]);
		for (i = 0; i < 10U + 7 * round; i++)
			assert_int_equal(read(ends[0], &told, sizeof(told)),
					 sizeof(told));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		while (read(ends[0], &told, sizeof(told)) == sizeof(told))
			;
		close(ends[0]);

		spool = open_spool(1ULL << 40);
		for (last = 0; (i = take(spool)); last = i)
			assert_int_equal(i, last + 1);
		/* All that were told, and perhaps one more. */
		assert_true(last == told || last == told + 1);
		spool__close(spool);
		assert_int_equal(remove_directory(NULL), 0);
	}
	assert_int_equal(make_directory(NULL), 0);
}

static void test_memory(void **state)
{
	struct backlog backlog = { .bound = 10000 };
	struct message *current;
	uint32_t i, number, last;
	int err;

	assert_null(backlog__current(&backlog, &err));
	assert_int_equal(backlog__add(&backlog, make(1, 1000)), 0);
	current = backlog__current(&backlog, &err);
	for (i = 2; i <= 30; i++) {
		assert_int_equal(backlog__add(&backlog, make(i, 1000)), 0);
		assert_true(backlog.bytes <= 10000);
	}
	/* That which is sent stays, and then the oldest are missing. */
	assert_ptr_equal(backlog__current(&backlog, &err), current);
	assert_int_equal(current->samples, 1);
	backlog__done(&backlog);
	number = backlog__current(&backlog, &err)->samples;
	assert_true(number > 20);
	assert_int_equal(backlog.dropped, number * (number - 1) / 2 - 1);
	for (last = number - 1; backlog__current(&backlog, &err); last++) {
		assert_int_equal(backlog.current->samples, last + 1);
		backlog__done(&backlog);
	}
	assert_int_equal(last, 30);
	assert_int_equal(backlog.bytes, 0);
	assert_int_equal(backlog.samples, 0);
	backlog__clear(&backlog);
}

#define SPOOL_TEST(sentence, function) \
	TEST_FIXTURE(sentence, function, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPOOL_TEST("messages wait in order, also beyond a restart",
			   test_restart),
		SPOOL_TEST("a segment that is cut anywhere gives all that is whole",
			   test_cut),
		SPOOL_TEST("a message with a damaged byte is passed over and counted",
			   test_damaged),
		SPOOL_TEST("a position that is damaged is the beginning",
			   test_position),
		SPOOL_TEST("files stay within the bound, and the oldest are dropped and counted",
			   test_bound),
		SPOOL_TEST("a message that is dropped while it is sent leaves the others",
			   test_dropped_while_sent),
		SPOOL_TEST("a spool has one user, and says why it cannot be opened",
			   test_lock),
		SPOOL_TEST("a program that is killed loses nothing that it wrote",
			   test_killed),
		TEST("memory stays within the bound, and the oldest are dropped and counted",
		     test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

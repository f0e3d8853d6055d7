// SPDX-License-Identifier: GPL-2.0-only
/* Messages in files, which are cut, damaged, full, or left by a program that was killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/controller/push/formats/formats.h"
#include "tools/controller/push/queue/backlog.h"
#include "tools/controller/push/queue/record.h"

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

	if (spool__open(directory, bound, false, &spool, &error))
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
	message = message__new(&format_influx, number, body, length + 4);
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

/* Sends the next message and returns its number; 0: no message. */
static uint32_t take(struct spool *spool)
{
	struct message *message;
	uint32_t number = 0;

	assert_int_equal(spool__read(spool, &message), 0);
	if (!message)
		return 0;
	memcpy(&number, message->body, 4);
	assert_int_equal(message->samples, number);
	assert_ptr_equal(message->format, &format_influx);
	spool__advance(spool, message);
	free(message);
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
	assert_int_equal(spool__samples(spool), 0);
	assert_int_equal(take(spool), 0);
	spool__close(spool);
}

/* In any segment, and at any position of the reader. */
static void test_loose(void **state)
{
	const size_t length = BOUND / 32 - 1000;	/* one message fills a segment */
	struct spool *spool = open_spool(BOUND);
	uint32_t i;

	assert_false(spool__is_loose(spool));
	for (i = 1; i <= 4; i++) {
		assert_int_equal(add(spool, i, length), 0);
		assert_true(spool__is_loose(spool));
		assert_int_equal(spool__force(spool), 0);
		assert_false(spool__is_loose(spool));
	}
	assert_int_equal(take(spool), 1);
	assert_false(spool__is_loose(spool));
	assert_int_equal(add(spool, 5, length), 0);
	assert_true(spool__is_loose(spool));
	/* Sent messages need not be on the disk. */
	for (i = 2; i <= 5; i++) {
		assert_true(spool__is_loose(spool));
		assert_int_equal(take(spool), i);
	}
	assert_false(spool__is_loose(spool));
	assert_int_equal(add(spool, 6, 100), 0);
	assert_true(spool__is_loose(spool));
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
		/* A new message follows the whole ones. */
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

/* The rest of three messages, if the second may contain a wrong byte in its body. */
static void expect_three(struct spool *spool, bool is_body)
{
	const size_t record = sizeof(struct record) + 14;

	assert_int_equal(take(spool), 1);
	if (!is_body)
		assert_int_equal(take(spool), 2);
	assert_int_equal(take(spool), 3);
	assert_int_equal(take(spool), 0);
	assert_int_equal(spool__samples(spool), 0);
	assert_int_equal(spool__damaged(spool), is_body ? record : 0);
	assert_int_equal(spool__dropped(spool), is_body ? 2 : 0);
}

/* Damages each byte of the second message, while the spool is closed, and while it is open. */
static void test_damaged(void **state)
{
	const size_t record = sizeof(struct record) + 14;
	struct spool *spool;
	size_t at;
	int is_open;
	uint32_t i;

	for (at = record; at < 2 * record; at++) {
		for (is_open = 0; is_open < 2; is_open++) {
			assert_int_equal(make_directory(NULL), 0);
			spool = open_spool(BOUND);
			for (i = 1; i <= 3; i++)
				assert_int_equal(add(spool, i, 10), 0);
			if (!is_open)
				spool__close(spool);
			flip("0000000000000001.segment", at);
			if (!is_open)
				spool = open_spool(BOUND);
			expect_three(spool, at >= record + sizeof(struct record));
			spool__close(spool);
			assert_int_equal(remove_directory(NULL), 0);
		}
	}
	assert_int_equal(make_directory(NULL), 0);
}

/* Of 100 messages of 1,032 bytes the bytes from @begin to @end are zeros. */
static void damage_range(off_t begin, off_t end)
{
	static const uint8_t zeros[16384];
	char path[200];
	int fd;

	path_of("0000000000000001.segment", path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, zeros, end - begin, begin), end - begin);
	close(fd);
}

/* A page of zeros, as after a power cut, costs only the messages that it touches. */
static void test_damaged_page(void **state)
{
	const size_t record = sizeof(struct record) + 1004;
	const struct {
		off_t begin, end;
	} ranges[] = { { 4096, 8192 }, { 4096, 4097 }, { 50, 60 }, { 8192, 20480 } };
	uint32_t number, first, last, i;
	struct spool *spool;
	size_t range;

	for (range = 0; range < sizeof(ranges) / sizeof(ranges[0]); range++) {
		assert_int_equal(make_directory(NULL), 0);
		spool = open_spool(1 << 30);
		for (i = 1; i <= 100; i++)
			assert_int_equal(add(spool, i, 1000), 0);
		spool__close(spool);
		damage_range(ranges[range].begin, ranges[range].end);
		first = 1 + ranges[range].begin / record;
		last = 1 + (ranges[range].end - 1) / record;
		spool = open_spool(1 << 30);
		for (i = 1; i <= 100; i++) {
			if (i < first || i > last) {
				number = take(spool);
				/* One wrong byte of a head is mended. */
				while (number >= first && number <= last)
					number = take(spool);
				assert_int_equal(number, i);
			}
		}
		assert_int_equal(take(spool), 0);
		assert_int_equal(spool__samples(spool), 0);
		spool__close(spool);
		assert_int_equal(remove_directory(NULL), 0);
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

/* The message in transit is dropped meanwhile: the next message is not taken for it. */
static void test_dropped_while_sent(void **state)
{
	struct spool *spool = open_spool(BOUND);
	struct message *message;
	uint32_t i, number, last = 0;

	assert_int_equal(add(spool, 1, 100000), 0);
	assert_int_equal(spool__read(spool, &message), 0);
	for (i = 2; i <= 60; i++)
		assert_int_equal(add(spool, i, 100000), 0);
	spool__advance(spool, message);
	free(message);
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

	assert_int_equal(spool__open(directory, BOUND, false, &other, &error), -EBUSY);
	assert_non_null(strstr(error.text, "another program has the spool"));
	spool__close(spool);
	assert_int_equal(spool__open("/nowhere/at/all", BOUND, false, &other, &error), -ENOENT);
}

/* Writes 1, 2, ... and tells each number in the spool, until the test kills it. */
static void write_for_ever(int tell)
{
	struct spool *spool = open_spool(1ULL << 40);
	uint32_t i;

	for (i = 1;; i++) {
		if (add(spool, i, 3000 + i % 5000) || write(tell, &i, sizeof(i)) != sizeof(i))
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
			assert_int_equal(read(ends[0], &told, sizeof(told)), sizeof(told));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		while (read(ends[0], &told, sizeof(told)) == sizeof(told))
			;
		close(ends[0]);

		spool = open_spool(1ULL << 40);
		for (last = 0; (i = take(spool)); last = i)
			assert_int_equal(i, last + 1);
		/* All told messages, and perhaps one more. */
		assert_true(last == told || last == told + 1);
		spool__close(spool);
		assert_int_equal(remove_directory(NULL), 0);
	}
	assert_int_equal(make_directory(NULL), 0);
}

/* No file may grow further, as if the disk were full. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Messages that are read and sent one at a time fit, whatever their number. */
static void test_full_disk(void **state)
{
	struct spool *spool = open_spool(1 << 30);
	uint32_t i;

	limit_files(100000);
	for (i = 1; i <= 200; i++) {
		assert_int_equal(add(spool, i, 30000), 0);
		assert_int_equal(take(spool), i);
	}
	/* Some unsent messages fit, and the room of the others is given back. */
	for (i = 1; !add(spool, i, 30000); i++)
		assert_true(i < 10);
	assert_int_equal(add(spool, i, 30000), -EFBIG);
	for (i = 1; take(spool); i++)
		;
	assert_true(i >= 2);
	assert_int_equal(add(spool, 77, 30000), 0);
	assert_int_equal(take(spool), 77);
	limit_files(RLIM_INFINITY);
	spool__close(spool);
	spool = open_spool(1 << 30);
	assert_int_equal(take(spool), 0);
	assert_int_equal(spool__damaged(spool), 0);
	spool__close(spool);
}

/* Sends the oldest message of @backlog, which must be @number. */
static void send_next(struct backlog *backlog, uint32_t number)
{
	struct message *message;
	int err;

	message = backlog__next(backlog, &err);
	assert_non_null(message);
	assert_int_equal(message->samples, number);
	backlog__begin(backlog, message);
	backlog__done(backlog, message);
}

/*
 * Memory takes messages that the disk cannot, in order, and gives them to the disk when it has
 * room.
 */
static void test_full_disk_memory(void **state)
{
	struct backlog backlog = { .bound = 1 << 20 };
	uint32_t i;
	int err;

	backlog__set_spool(&backlog, open_spool(1 << 30), RECEIVER_SYNC_NEVER);
	for (i = 1; i <= 3; i++)
		assert_int_equal(backlog__add(&backlog, make(i, 3000)), 0);
	limit_files(10000);
	for (; i <= 6; i++)
		assert_int_equal(backlog__add(&backlog, make(i, 3000)), -EFBIG);
	assert_int_equal(backlog.samples, 21);
	send_next(&backlog, 1);
	limit_files(RLIM_INFINITY);
	assert_int_equal(backlog__add(&backlog, make(7, 3000)), 0);
	assert_null(backlog.memory.first);
	for (i = 2; i <= 7; i++)
		send_next(&backlog, i);
	/* Messages that are only in memory are sent, too. */
	limit_files(0);
	for (i = 8; i <= 10; i++)
		assert_int_equal(backlog__add(&backlog, make(i, 3000)), -EFBIG);
	for (i = 8; i <= 10; i++)
		send_next(&backlog, i);
	limit_files(RLIM_INFINITY);
	assert_null(backlog__next(&backlog, &err));
	assert_int_equal(err, 0);
	assert_int_equal(backlog.samples, 0);
	assert_int_equal(backlog.bytes, 0);
	assert_int_equal(backlog.dropped, 0);
	backlog__clear(&backlog);
}

/* Messages with a common shard go one after the other, other messages at the same time. */
static void test_shards(void **state)
{
	static const uint16_t shards[] = { 3, 4, 6, 8, 3 };
	struct backlog backlog = { .bound = 1 << 20 };
	struct message *messages[5], *message;
	uint32_t i;
	int err;

	for (i = 0; i < 5; i++) {
		messages[i] = make(i + 1, 10);
		messages[i]->shards = shards[i];
		assert_int_equal(backlog__add(&backlog, messages[i]), 0);
	}
	/* The third waits for both, the last for the third. */
	for (i = 0; i < 4; i++) {
		message = backlog__next(&backlog, &err);
		assert_ptr_equal(message, i == 2 ? messages[3] :
					  i < 2	 ? messages[i] :
						   NULL);
		if (message)
			backlog__begin(&backlog, message);
	}
	backlog__done(&backlog, messages[0]);
	assert_null(backlog__next(&backlog, &err));
	backlog__done(&backlog, messages[1]);
	assert_ptr_equal(backlog__next(&backlog, &err), messages[2]);
	backlog__begin(&backlog, messages[2]);
	assert_null(backlog__next(&backlog, &err));
	/* A message that must be sent again still precedes the last. */
	backlog__again(&backlog, messages[2]);
	assert_ptr_equal(backlog__next(&backlog, &err), messages[2]);
	backlog__begin(&backlog, messages[2]);
	backlog__done(&backlog, messages[2]);
	assert_ptr_equal(backlog__next(&backlog, &err), messages[4]);
	backlog__clear(&backlog);
}

/* When several messages are sent out of order, a restart sends those after the first again. */
static void test_shards_spool(void **state)
{
	struct backlog backlog = { .bound = 1 << 20 };
	struct message *messages[3], *message;
	uint32_t i;
	int err;

	backlog__set_spool(&backlog, open_spool(BOUND), RECEIVER_SYNC_NEVER);
	for (i = 0; i < 3; i++) {
		message = make(i + 1, 10);
		message->shards = 1U << i;
		assert_int_equal(backlog__add(&backlog, message), 0);
	}
	for (i = 0; i < 3; i++) {
		messages[i] = backlog__next(&backlog, &err);
		assert_int_equal(messages[i]->shards, 1U << i);
		backlog__begin(&backlog, messages[i]);
	}
	backlog__done(&backlog, messages[0]);
	backlog__done(&backlog, messages[2]);
	assert_int_equal(backlog.samples, 2);
	backlog__clear(&backlog);
	backlog.bound = 1 << 20;
	backlog__set_spool(&backlog, open_spool(BOUND), RECEIVER_SYNC_NEVER);
	assert_int_equal(backlog.samples, 5);
	send_next(&backlog, 2);
	send_next(&backlog, 3);
	assert_null(backlog__next(&backlog, &err));
	backlog__clear(&backlog);
}

static void test_memory(void **state)
{
	struct backlog backlog = { .bound = 10000 };
	struct message *current;
	uint32_t i, number, last;
	int err;

	assert_null(backlog__next(&backlog, &err));
	assert_int_equal(backlog__add(&backlog, make(1, 1000)), 0);
	current = backlog__next(&backlog, &err);
	backlog__begin(&backlog, current);
	for (i = 2; i <= 30; i++) {
		assert_int_equal(backlog__add(&backlog, make(i, 1000)), 0);
		assert_true(backlog.bytes <= 10000);
	}
	/* That which is sent stays, and then the oldest are missing. */
	assert_null(backlog__next(&backlog, &err));
	assert_int_equal(current->samples, 1);
	backlog__done(&backlog, current);
	number = backlog__next(&backlog, &err)->samples;
	assert_true(number > 20);
	assert_int_equal(backlog.dropped, number * (number - 1) / 2 - 1);
	for (last = number - 1; last < 30; last++)
		send_next(&backlog, last + 1);
	assert_null(backlog__next(&backlog, &err));
	assert_int_equal(backlog.bytes, 0);
	assert_int_equal(backlog.samples, 0);
	backlog__clear(&backlog);
}

#define SPOOL_TEST(sentence, function) \
	TEST_FIXTURE(sentence, function, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPOOL_TEST("messages wait in order, also beyond a restart", test_restart),
		SPOOL_TEST("a segment that is cut anywhere gives all that is whole", test_cut),
		SPOOL_TEST("a wrong byte costs its body, which is counted, and a head nothing",
			   test_damaged),
		SPOOL_TEST("a page of zeros costs the messages that it touches", test_damaged_page),
		SPOOL_TEST("on a full disk what is sent makes room for what comes", test_full_disk),
		SPOOL_TEST("what a full disk does not take waits in memory, in order",
			   test_full_disk_memory),
		TEST("messages with a shard in common are sent one after the other", test_shards),
		SPOOL_TEST("a restart sends again what was not sent of the first ones",
			   test_shards_spool),
		SPOOL_TEST("a position that is damaged is the beginning", test_position),
		SPOOL_TEST("files stay within the bound, and the oldest are dropped and counted",
			   test_bound),
		SPOOL_TEST("a message that is dropped while it is sent leaves the others",
			   test_dropped_while_sent),
		SPOOL_TEST("a spool has one user, and says why it cannot be opened",
			   test_lock),
		SPOOL_TEST("a program that is killed loses nothing that it wrote",
			   test_killed),
		SPOOL_TEST("a spool knows whether it has messages that are neither sent nor on the disk",
			   test_loose),
		TEST("memory stays within the bound, and the oldest are dropped and counted",
		     test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Messages in files, which are cut, damaged, full, or left by a program that was killed. */
#include "push_spool_scene.h"

static void path_of(const char *file, char path[200])
{
	snprintf(path, 200, "%s/%s", directory, file);
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

/* Bytes that this process has read so far. */
static unsigned long long bytes_read(void)
{
	unsigned long long bytes;
	FILE *file = fopen("/proc/self/io", "re");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "rchar: %llu", &bytes), 1);
	fclose(file);
	return bytes;
}

/* A spool may have more bytes than can be read while the control loop waits. */
static void test_long(void **state)
{
	enum { MESSAGES = 100, BYTES = 100000 };
	struct spool *spool = open_spool(1 << 30);
	unsigned long long before;
	uint64_t samples;
	uint32_t i;

	for (i = 1; i <= MESSAGES; i++)
		assert_int_equal(add(spool, i, BYTES), 0);
	samples = spool__samples(spool);
	spool__close(spool);
	before = bytes_read();
	spool = open_spool(1 << 30);
	assert_in_range(bytes_read() - before, 0, MESSAGES * BYTES / 10);
	assert_int_equal(spool__samples(spool), samples);
	for (i = 1; i <= MESSAGES; i++)
		assert_int_equal(take(spool), i);
	spool__close(spool);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPOOL_TEST("messages wait in order, also beyond a restart", test_restart),
		SPOOL_TEST("a segment that is cut anywhere gives all that is whole", test_cut),
		SPOOL_TEST("a wrong byte costs its body, which is counted, and a head nothing",
			   test_damaged),
		SPOOL_TEST("a page of zeros costs the messages that it touches", test_damaged_page),
		SPOOL_TEST("of a long spool only the heads of messages are read at first", test_long),
		SPOOL_TEST("a position that is damaged is the beginning", test_position),
		SPOOL_TEST("a spool has one user, and says why it cannot be opened",
			   test_lock),
		SPOOL_TEST("a program that is killed loses nothing that it wrote",
			   test_killed),
		SPOOL_TEST("a spool knows whether it has messages that are neither sent nor on the disk",
			   test_loose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that describes itself, in processes that run: a process has mapped a file, and lies,
 * writes to it while it is read, cuts it off, or ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/application/mapped.h"
#include "agent/application/process.h"
#include "agent/application/reader.h"
#include "selftests/unit/unit.h"

#define PAGE 4096
#define METRICS 40 /* offset of the metrics */
#define METRIC_COUNT 8
#define VALUES (METRICS + 32 + METRIC_COUNT * 104)
#define ROUNDS 300

static struct dart_error error;

/* A child that maps a file, and its action after that. */
struct child {
	char path[64];
	uint8_t *bytes; /* the same file */
	pid_t pid;
	int pidfd;
};

enum behaviour { WRITES_NOTHING, READS_ONLY, CHANGES_ALL };

/* An mmv file of version 1 whose metrics m0 ... are 64-bit counters. */
static void make_mmv(uint8_t *bytes)
{
	const uint32_t contents[2][2] = { { 3, METRIC_COUNT }, { 4, METRIC_COUNT } };
	const uint64_t offsets[2] = { METRICS + 32, VALUES };
	uint64_t generation = 7, reference, number;
	uint32_t i, word;

	memset(bytes, 0, PAGE);
	memcpy(bytes, "MMV\0\1\0\0\0", 8);
	memcpy(bytes + 8, &generation, 8);
	memcpy(bytes + 16, &generation, 8);
	bytes[24] = 2;
	for (i = 0; i < 2; i++) {
		memcpy(bytes + 40 + 16 * i, contents[i], 8);
		memcpy(bytes + 48 + 16 * i, &offsets[i], 8);
	}
	for (i = 0; i < METRIC_COUNT; i++) {
		reference = METRICS + 32 + 104 * i;
		number = 1000 + i;
		snprintf((char *)bytes + reference, 8, "m%u", i);
		word = 3;
		memcpy(bytes + reference + 68, &word, 4);
		word = 1;
		memcpy(bytes + reference + 72, &word, 4);
		memcpy(bytes + VALUES + 32 * i, &number, 8);
		memcpy(bytes + VALUES + 32 * i + 16, &reference, 8);
	}
}

/* Changes bytes that the process has just made right, for ever. */
static void change_all(uint8_t *bytes)
{
	uint8_t right[PAGE];
	uint64_t state = 1;
	uint32_t i;

	make_mmv(right);
	for (;;) {
		for (i = 0; i < 4; i++)
			bytes[random__below(&state, VALUES + METRIC_COUNT * 32)] =
				random__below(&state, 256);
		memcpy(bytes, right, random__below(&state, 2) ? PAGE : VALUES);
	}
}

static void start(struct child *child, enum behaviour behaviour)
{
	int ready[2], fd;
	uint8_t *bytes;

	strcpy(child->path, "/tmp/application_mapped.XXXXXX");
	fd = mkstemp(child->path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	child->bytes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(child->bytes, MAP_FAILED);
	make_mmv(child->bytes);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (!child->pid) {
		munmap(child->bytes, PAGE);
		bytes = mmap(NULL, PAGE, PROT_READ | (behaviour != READS_ONLY ? PROT_WRITE : 0),
			     MAP_SHARED, fd, 0);
		if (bytes == MAP_FAILED || write(ready[1], "", 1) != 1)
			_exit(1);
		if (behaviour == CHANGES_ALL)
			change_all(bytes);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &fd, 1), 1);
	close(ready[0]);
	child->pidfd = syscall(SYS_pidfd_open, child->pid, 0);
	assert_true(child->pidfd >= 0);
}

static void end(struct child *child)
{
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
	close(child->pidfd);
	munmap(child->bytes, PAGE);
	unlink(child->path);
}

/* Describes the memory, attaches and reads m0, with the first errno of these. */
static int read_first(const struct child *child, uint64_t *value)
{
	struct dart_application_layout *layout;
	struct application_process process;
	struct application_reader *reader;
	uint8_t *rows;
	int ret;

	ret = application_mapped__describe(child->pidfd, APPLICATION_FORMAT_ANY, &layout, &error);
	if (ret)
		return ret;
	ret = application_process__attach(&process, child->pidfd, layout, &error);
	if (!ret) {
		rows = calloc(layout->entries[0].rows, layout->entries[0].schema->length);
		assert_non_null(rows);
		assert_int_equal(application_reader__new(&reader, &layout->entries[0], &error), 0);
		ret = application_reader__read(reader, &process, rows, NULL, 0);
		memcpy(value, rows, sizeof(*value));
		application_reader__free(reader);
		free(rows);
		application_process__detach(&process);
	}
	dart_application_layout__free(layout);
	return ret;
}

static void test_values(void **state)
{
	struct child child;
	uint64_t value;

	start(&child, WRITES_NOTHING);
	if (read_first(&child, &value))
		fail_msg("%s", error.text);
	assert_int_equal(value, 1000);
	end(&child);
}

static void test_monitor(void **state)
{
	struct child child;
	uint64_t value;

	start(&child, READS_ONLY);
	assert_int_equal(read_first(&child, &value), -ENOENT);
	assert_non_null(strstr(error.text, "has mapped no file of PCP (mmv)"));
	end(&child);
}

/* Is @layout still what the memory describes? */
static bool describes(const struct child *child, const struct dart_application_layout *layout)
{
	struct dart_application_layout *again;
	bool is_equal;

	assert_int_equal(application_mapped__describe(child->pidfd, APPLICATION_FORMAT_MMV, &again,
						      &error),
			 0);
	is_equal = dart_application_layout__equals(layout, again);
	dart_application_layout__free(again);
	return is_equal;
}

static void test_other_contents(void **state)
{
	struct dart_application_layout *layout;
	struct application_process process;
	struct child child;

	start(&child, WRITES_NOTHING);
	assert_int_equal(application_mapped__describe(child.pidfd, APPLICATION_FORMAT_MMV, &layout,
						      &error),
			 0);
	assert_int_equal(application_process__attach(&process, child.pidfd, layout, &error), 0);
	assert_int_equal(application_process__check(&process, layout, &error), 0);
	assert_true(describes(&child, layout));
	child.bytes[8] = child.bytes[16] = 9;
	assert_int_equal(application_process__check(&process, layout, &error), -ENOEXEC);
	assert_false(describes(&child, layout));
	application_process__detach(&process);
	dart_application_layout__free(layout);
	end(&child);
}

/* Each round ends with values of the process or with a sentence, never elsewhere. */
static void test_changes(void **state)
{
	uint32_t described = 0, refused = 0, round;
	struct child child;
	uint64_t value;
	int ret;

	start(&child, CHANGES_ALL);
	for (round = 0; round < ROUNDS || !described || !refused; round++) {
		ret = read_first(&child, &value);
		described += !ret;
		refused += !!ret;
		if (ret)
			assert_string_not_equal(error.text, "");
		assert_true(round < 1000 * ROUNDS);
	}
	end(&child);
}

static void test_truncated(void **state)
{
	struct dart_application_layout *layout;
	struct application_process process;
	struct application_reader *reader;
	uint64_t rows[METRIC_COUNT];
	struct child child;

	start(&child, WRITES_NOTHING);
	assert_int_equal(application_mapped__describe(child.pidfd, APPLICATION_FORMAT_ANY, &layout,
						      &error),
			 0);
	assert_int_equal(application_process__attach(&process, child.pidfd, layout, &error), 0);
	assert_int_equal(application_reader__new(&reader, &layout->entries[0], &error), 0);
	assert_int_equal(unlink(child.path), 0);
	assert_int_equal(application_reader__read(reader, &process, rows, NULL, 0), 0);
	assert_int_equal(rows[METRIC_COUNT - 1], 1000 + METRIC_COUNT - 1);
	end(&child);
	assert_int_equal(application_reader__read(reader, &process, rows, NULL, 0), -ESRCH);
	application_process__detach(&process);
	application_reader__free(reader);
	dart_application_layout__free(layout);

	start(&child, WRITES_NOTHING);
	assert_int_equal(application_mapped__describe(child.pidfd, APPLICATION_FORMAT_ANY, &layout,
						      &error),
			 0);
	assert_int_equal(application_process__attach(&process, child.pidfd, layout, &error), 0);
	assert_int_equal(application_reader__new(&reader, &layout->entries[0], &error), 0);
	assert_int_equal(truncate(child.path, 0), 0);
	assert_int_equal(application_reader__read(reader, &process, rows, NULL, 0), -EFAULT);
	application_process__detach(&process);
	application_reader__free(reader);
	dart_application_layout__free(layout);
	end(&child);
}

/* A process calls a file as varnishd does, and puts something else where its index should be. */
static void test_index(void **state)
{
	struct dart_application_layout *layout;
	char top[] = "/tmp/application_mapped.XXXXXX", directory[64], file[128], index[128];
	struct child child;
	uint8_t *bytes;
	int fd;

	start(&child, WRITES_NOTHING);
	end(&child);
	assert_non_null(mkdtemp(top));
	snprintf(directory, sizeof(directory), "%s/_.vsm_child", top);
	assert_int_equal(mkdir(directory, 0700), 0);
	snprintf(file, sizeof(file), "%s/_.Stat.1", directory);
	snprintf(index, sizeof(index), "%s/_.index", directory);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	bytes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	close(fd);
	child.pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	assert_int_equal(application_mapped__describe(child.pidfd, APPLICATION_FORMAT_VARNISH,
						      &layout, &error),
			 -ENOENT);
	/* A pipe that nobody writes to would hold the reader. */
	assert_int_equal(mkfifo(index, 0600), 0);
	assert_int_equal(application_mapped__describe(child.pidfd, APPLICATION_FORMAT_VARNISH,
						      &layout, &error),
			 -EINVAL);
	assert_int_equal(unlink(index), 0);
	/* A device, and a huge file. */
	assert_int_equal(symlink("/dev/zero", index), 0);
	assert_int_equal(application_mapped__describe(child.pidfd, APPLICATION_FORMAT_VARNISH,
						      &layout, &error),
			 -EINVAL);
	assert_int_equal(unlink(index), 0);
	fd = open(index, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 1ULL << 40), 0);
	assert_int_equal(application_mapped__describe(child.pidfd, APPLICATION_FORMAT_VARNISH,
						      &layout, &error),
			 -EFBIG);
	assert_non_null(strstr(error.text, "the index of varnishd"));
	close(fd);
	close(child.pidfd);
	munmap(bytes, PAGE);
	unlink(index);
	unlink(file);
	rmdir(directory);
	rmdir(top);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("memory that describes itself is read without a layout", test_values),
		TEST("a process that only reads the file is refused", test_monitor),
		TEST("other contents fail the checks", test_other_contents),
		TEST("a process that changes all bytes is read or refused", test_changes),
		TEST("an unlinked file is read, a truncated one or an ended process is not",
		     test_truncated),
		TEST("an index of Varnish that is no file is refused", test_index),
	};

	return cmocka_run_group_tests_name("application_mapped", tests, NULL, NULL);
}

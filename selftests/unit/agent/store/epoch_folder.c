// SPDX-License-Identifier: GPL-2.0-only
/* Files of epochs: whole or not there, whichever call fails or is the last one of dartd. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/store/epoch_folder.h"
#include "selftests/unit/unit.h"

/* ---- calls that change files; the number @last fails, or ends the process */

static uint32_t calls, last;
static bool is_killed;

static bool fails(void)
{
	if (++calls != last)
		return false;
	if (is_killed)
		_exit(1);
	errno = EIO;
	return true;
}

int mkdir(const char *path, mode_t mode)
{
	return fails() ? -1 : syscall(SYS_mkdirat, -100, path, mode);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	/* Half of it is written first. */
	if (calls + 1 == last)
		syscall(SYS_pwrite64, fd, bytes, length / 2, offset);
	return fails() ? -1 : syscall(SYS_pwrite64, fd, bytes, length, offset);
}

/* Inodes of folders, in the order in which they were made permanent. */
static ino_t synced[8];
static uint32_t synced_count;

int fsync(int fd)
{
	struct stat status;

	if (!fstat(fd, &status) && S_ISDIR(status.st_mode) && synced_count < 8)
		synced[synced_count++] = status.st_ino;
	return fails() ? -1 : syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
	return fails() ? -1 : syscall(SYS_renameat2, -100, from, -100, to, 0);
}

/* ---- an epoch in a folder of its own */

struct fixture {
	char state[64];
	struct epoch_folder folder;
	struct dart_epoch epoch;
	uint8_t slots[64 * 24];
};

static void fixture__open(struct fixture *fixture)
{
	struct dart_error error;

	*fixture = (struct fixture){
		.state = "/tmp/epochs.XXXXXX",
		.epoch = {
			.store = "paths", .since_ns = 1000, .until_ns = 2000,
			.geometry = { 64, 20, 32, 2 },
		},
	};
	assert_non_null(mkdtemp(fixture->state));
	memset(fixture->slots, 0x5a, sizeof(fixture->slots));
	assert_int_equal(epoch_folder__open(&fixture->folder, fixture->state, "paths", &error), 0);
	calls = last = 0;
}

static void fixture__close(struct fixture *fixture)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", fixture->state);
	assert_int_equal(system(command), 0);
}

static int write_epoch(struct fixture *fixture, uint64_t since_ns)
{
	struct dart_error error;

	fixture->epoch.since_ns = since_ns;
	fixture->epoch.until_ns = since_ns + 1000;
	return epoch_folder__write(&fixture->folder, &fixture->epoch, fixture->slots, NULL, NULL,
				   &error);
}

static size_t count_entries(const struct fixture *fixture)
{
	DIR *directory = opendir(fixture->folder.path);
	struct dirent *entry;
	size_t count = 0;

	if (!directory)
		return 0;
	while ((entry = readdir(directory)))
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(directory);
	return count;
}

/* All listed epochs are whole; returns how many there are. */
static size_t count_whole(const struct fixture *fixture)
{
	struct dart_epoch_file *file;
	struct dart_error error;
	struct epoch_list list;
	size_t i, count;
	int fd;

	assert_int_equal(epoch_folder__list(&fixture->folder, &list, &error), 0);
	for (i = 0; i < list.count; i++) {
		fd = epoch_folder__read(&fixture->folder, &list.items[i], &error);
		assert_true(fd >= 0);
		assert_int_equal(dart_epoch_file__open(fd, &file, &error), 0);
		assert_true(dart_epoch_file__epoch(file)->since_ns == list.items[i].since_ns);
		assert_true(!i || list.items[i - 1].since_ns < list.items[i].since_ns);
		dart_epoch_file__close(file);
		close(fd);
	}
	count = list.count;
	free(list.items);
	return count;
}

static void test_failures(void **state)
{
	struct fixture fixture;
	uint32_t number, most;

	fixture__open(&fixture);
	assert_int_equal(write_epoch(&fixture, 1000), 0);
	most = calls;
	/*
	 * mkdir(2) three times, with fsync(2) after the second and the third, frame, header,
	 * fsync(2), rename(2), fsync(2) of the folder
	 */
	assert_int_equal(most, 10);
	fixture__close(&fixture);
	for (number = 1; number <= most; number++) {
		fixture__open(&fixture);
		last = number;
		/* The first mkdir(2) need not succeed. */
		assert_int_equal(write_epoch(&fixture, 1000), -EIO);
		assert_int_equal(count_entries(&fixture), 0);
		last = 0;
		assert_int_equal(write_epoch(&fixture, 1000), 0);
		assert_int_equal(count_whole(&fixture), 1);
		fixture__close(&fixture);
	}
}

static ino_t inode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

/* A file whose folder is gone after a power cut is gone, too. */
static void test_names_last(void **state)
{
	struct fixture fixture;
	char epochs[PATH_MAX];

	fixture__open(&fixture);
	synced_count = 0;
	assert_int_equal(write_epoch(&fixture, 1000), 0);
	snprintf(epochs, sizeof(epochs), "%s/" DART_EPOCH_FOLDER, fixture.state);
	assert_int_equal(synced_count, 3);
	assert_true(synced[0] == inode_of(fixture.state));
	assert_true(synced[1] == inode_of(epochs));
	assert_true(synced[2] == inode_of(fixture.folder.path));
	/* Once. */
	assert_int_equal(write_epoch(&fixture, 2000), 0);
	assert_int_equal(synced_count, 4);
	assert_true(synced[3] == inode_of(fixture.folder.path));
	fixture__close(&fixture);
}

static void test_kills(void **state)
{
	struct fixture fixture;
	uint32_t number;
	size_t whole;
	int status;
	pid_t child;

	is_killed = true;
	for (number = 1; number <= 10; number++) {
		fixture__open(&fixture);
		child = fork();
		assert_true(child >= 0);
		if (!child) {
			last = number;
			write_epoch(&fixture, 1000);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(WEXITSTATUS(status), 1);
		whole = count_whole(&fixture);
		/* It is there after rename(2), which is call 9. */
		assert_int_equal(whole, number == 10);
		epoch_folder__tidy(&fixture.folder);
		assert_int_equal(count_entries(&fixture), whole);
		/* The next dartd writes it again. */
		assert_int_equal(write_epoch(&fixture, 1000), 0);
		assert_int_equal(count_whole(&fixture), 1);
		assert_int_equal(count_entries(&fixture), 1);
		fixture__close(&fixture);
	}
	is_killed = false;
}

static void test_retention(void **state)
{
	struct fixture fixture;
	struct dart_error error;
	struct epoch_list list;
	uint64_t bytes;
	int i;

	fixture__open(&fixture);
	for (i = 1; i <= 10; i++)
		assert_int_equal(write_epoch(&fixture, 1000 * i), 0);
	assert_int_equal(epoch_folder__retain(&fixture.folder, 20000, &error), 0);
	/* The epoch from 1,000 to 2,000 is 9,001 ns old. */
	fixture.folder.keep_ns = 9000;
	assert_int_equal(epoch_folder__retain(&fixture.folder, 11000, &error), 0);
	assert_int_equal(epoch_folder__retain(&fixture.folder, 11001, &error), 1);
	/* A clock that was set back keeps all. */
	assert_int_equal(epoch_folder__retain(&fixture.folder, 5, &error), 0);
	assert_int_equal(epoch_folder__list(&fixture.folder, &list, &error), 0);
	assert_int_equal(list.count, 9);
	assert_true(list.items[0].since_ns == 2000);
	bytes = list.items[0].bytes;
	free(list.items);
	fixture.folder.keep_ns = 0;
	fixture.folder.keep_bytes = 4 * bytes + bytes / 2;
	assert_int_equal(epoch_folder__retain(&fixture.folder, 20000, &error), 5);
	/* The youngest one stays. */
	fixture.folder.keep_bytes = 1;
	assert_int_equal(epoch_folder__retain(&fixture.folder, 20000, &error), 3);
	assert_int_equal(count_whole(&fixture), 1);
	fixture.folder.keep_ns = 1;
	assert_int_equal(epoch_folder__retain(&fixture.folder, 20000, &error), 0);
	fixture__close(&fixture);
}

/* Names of stores have characters that names of folders cannot have. */
static void test_names(void **state)
{
	static const char *const names[][2] = {
		{ "paths", "paths" }, { "a/b", "a%2Fb" },     { "..", "%2E." },
		{ ".", "%2E" },	      { "a%2Fb", "a%252Fb" }, { "../../etc", "%2E.%2F..%2Fetc" },
	};
	struct epoch_folder folder;
	struct dart_error error;
	char path[PATH_MAX], longest[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(epoch_folder__open(&folder, "/var/lib/dart", names[i][0], &error),
				 0);
		snprintf(path, sizeof(path), "/var/lib/dart/epochs/%s", names[i][1]);
		assert_string_equal(folder.path, path);
	}
	memset(longest, 'd', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(epoch_folder__open(&folder, longest, "paths", &error), -ENAMETOOLONG);
}

/* An epoch that a wrong clock ended in the future, or began in 1970, keeps no other one. */
static void test_retention_of_wrong_times(void **state)
{
	struct fixture fixture;
	struct dart_error error;
	struct epoch_list list;
	int i;

	fixture__open(&fixture);
	for (i = 1; i <= 5; i++)
		assert_int_equal(write_epoch(&fixture, 1000 * i), 0);
	fixture.epoch.since_ns = 500;
	fixture.epoch.until_ns = 1000000;
	assert_int_equal(epoch_folder__write(&fixture.folder, &fixture.epoch, fixture.slots, NULL,
					     NULL, &error),
			 0);
	fixture.folder.keep_ns = 1500;
	assert_int_equal(epoch_folder__retain(&fixture.folder, 6000, &error), 3);
	assert_int_equal(epoch_folder__list(&fixture.folder, &list, &error), 0);
	assert_int_equal(list.count, 3);
	assert_true(list.items[0].since_ns == 500);
	assert_true(list.items[1].since_ns == 4000);
	free(list.items);
	fixture__close(&fixture);
}

/* Other files, links and folders are left alone. */
static void test_foreign(void **state)
{
	struct fixture fixture;
	struct dart_error error;
	char path[PATH_MAX + 64];
	FILE *file;

	fixture__open(&fixture);
	assert_int_equal(write_epoch(&fixture, 1000), 0);
	snprintf(path, sizeof(path), "%s/3000-4000.dart", fixture.folder.path);
	assert_int_equal(symlink("1000-2000.dart", path), 0);
	snprintf(path, sizeof(path), "%s/5000-6000.dart", fixture.folder.path);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/notes", fixture.folder.path);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(count_whole(&fixture), 1);
	fixture.folder.keep_bytes = 1;
	assert_int_equal(epoch_folder__retain(&fixture.folder, 20000, &error), 0);
	epoch_folder__tidy(&fixture.folder);
	assert_int_equal(count_entries(&fixture), 4);
	fixture__close(&fixture);
}

/* ---- the time of ages */

#define KEEP_NS UINT64_C(1000000000000)
#define S	INT64_C(1000000000)
#define REAL	(1700000000 * S)

/* The clock of the host is @step_s seconds fast. */
static int64_t error_after(struct epoch_clock *clock, int64_t boot_s, int64_t step_s)
{
	return (int64_t)epoch_clock__now(clock, KEEP_NS, REAL + (boot_s + step_s) * S, boot_s * S) -
	       (REAL + boot_s * S);
}

static void test_clock(void **state)
{
	struct epoch_clock clock = {};

	assert_true(error_after(&clock, 10, 0) == 0);
	/* A step forward counts when files from before are old by the former clock, too. */
	assert_true(error_after(&clock, 20, 90000) == 0);
	assert_true(error_after(&clock, 1019, 90000) == 0);
	assert_true(error_after(&clock, 1020, 90000) == 90000 * S);
	/* A step back counts at once, and so does a clock that was fast for a while. */
	assert_true(error_after(&clock, 1030, 50) == 50 * S);
	assert_true(error_after(&clock, 1040, 7000) == 50 * S);
	assert_true(error_after(&clock, 2000, 50) == 50 * S);
	assert_true(error_after(&clock, 2050, 7000) == 50 * S);
	/* The time begins anew with another step. */
	assert_true(error_after(&clock, 3049, 8000) == 50 * S);
	assert_true(error_after(&clock, 4048, 8000) == 50 * S);
	assert_true(error_after(&clock, 4049, 8000) == 8000 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("whichever call fails, no file is left, and a second try succeeds",
		     test_failures),
		TEST("the names of new folders are permanent before a file is",
		     test_names_last),
		TEST("whichever call is the last one, a file is whole or not there", test_kills),
		TEST("the oldest files go, by age and by size, and the youngest stays",
		     test_retention),
		TEST("an epoch with a wrong time keeps no other file",
		     test_retention_of_wrong_times),
		TEST("the folder of a store lies in the folder of epochs, whatever its name",
		     test_names),
		TEST("foreign files in the folder are left alone", test_foreign),
		TEST("a clock that steps forward makes no file old before its time", test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

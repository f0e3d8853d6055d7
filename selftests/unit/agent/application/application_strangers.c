// SPDX-License-Identifier: GPL-2.0-only
/* Programs that are known to be no applications: a file with other contents is another program. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/application/layouts.h"
#include "agent/application/process.h"
#include "selftests/unit/unit.h"

#define PROGRAM "/bin/sleep"

static struct dart_error error;

struct fixture {
	char directory[32], path[64];
	struct strangers strangers;
	struct executable_file file;
	pid_t pid;
};

static void copy_program(const char *path)
{
	static char bytes[1 << 20];
	const int from = open(PROGRAM, O_RDONLY | O_CLOEXEC);
	const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	const ssize_t length = read(from, bytes, sizeof(bytes));

	assert_true(length > 0 && length < (ssize_t)sizeof(bytes));
	assert_int_equal(write(to, bytes, length), length);
	close(from);
	close(to);
}

/* Returns when the process has the program as its executable. */
static pid_t start(const char *path)
{
	const pid_t pid = vfork();

	if (!pid) {
		execl(path, path, "1000", NULL);
		_exit(1);
	}
	assert_true(pid > 0);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The file of the process, as its examination finds it. */
static void find_file(struct fixture *fixture)
{
	const int pidfd = syscall(SYS_pidfd_open, fixture->pid, 0);
	struct dart_application_build_id id;
	int ret;

	assert_true(pidfd >= 0);
	/* vfork() returns before the memory of the program is whole. */
	do {
		ret = application_process__build_id(pidfd, &id, &fixture->file, &error);
	} while (ret == -ENOEXEC);
	assert_int_equal(ret, 0);
	assert_true(fixture->file.inode);
	close(pidfd);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->directory, "/tmp/strangers.XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	sprintf(fixture->path, "%s/program", fixture->directory);
	copy_program(fixture->path);
	fixture->pid = start(fixture->path);
	find_file(fixture);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	stop(fixture->pid);
	unlink(fixture->path);
	rmdir(fixture->directory);
	free(fixture);
	return 0;
}

static void add(struct fixture *fixture)
{
	fixture->file.seen_s = fixture->file.changed_s + EXECUTABLE_FILE_SETTLED_S;
	strangers__add(&fixture->strangers, &fixture->file);
	assert_true(strangers__have(&fixture->strangers, fixture->pid));
}

static void test_known_file(void **state)
{
	struct fixture *fixture = *state;
	pid_t other;

	assert_false(strangers__have(&fixture->strangers, fixture->pid));
	add(fixture);
	other = start(fixture->path);
	assert_true(strangers__have(&fixture->strangers, other));
	stop(other);
	other = start(PROGRAM);
	assert_false(strangers__have(&fixture->strangers, other));
	stop(other);
	assert_false(strangers__have(&fixture->strangers, other));
}

static void test_forgotten(void **state)
{
	struct fixture *fixture = *state;

	add(fixture);
	strangers__forget(&fixture->strangers);
	assert_false(strangers__have(&fixture->strangers, fixture->pid));
}

/* A write in the same moment would leave the time as it is. */
static void test_file_of_this_moment(void **state)
{
	struct fixture *fixture = *state;

	fixture->file.seen_s = fixture->file.changed_s;
	strangers__add(&fixture->strangers, &fixture->file);
	/* The clock was set back. */
	fixture->file.seen_s -= 10;
	strangers__add(&fixture->strangers, &fixture->file);
	assert_false(strangers__have(&fixture->strangers, fixture->pid));
}

/* The same file, also with the time of its contents set back. */
static void test_other_contents(void **state)
{
	struct fixture *fixture = *state;
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	struct executable_file before = fixture->file;

	add(fixture);
	stop(fixture->pid);
	/* Until the clock of the file system has gone on. */
	do {
		copy_program(fixture->path);
		assert_int_equal(utimensat(AT_FDCWD, fixture->path, times, 0), 0);
		assert_true(executable_file__read(&fixture->file, AT_FDCWD, fixture->path));
	} while (executable_file__equals(&before, &fixture->file));
	assert_int_equal(fixture->file.inode, before.inode);
	fixture->pid = start(fixture->path);
	assert_false(strangers__have(&fixture->strangers, fixture->pid));
}

static void test_end(void **state)
{
	struct fixture *fixture = *state;
	struct dart_application_build_id id;
	const int pidfd = syscall(SYS_pidfd_open, fixture->pid, 0);

	add(fixture);
	stop(fixture->pid);
	assert_int_equal(application_process__build_id(pidfd, &id, &fixture->file, &error), -ESRCH);
	assert_int_equal(fixture->file.inode, 0);
	assert_false(strangers__have(&fixture->strangers, fixture->pid));
	close(pidfd);
	fixture->pid = start(fixture->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a file is known in each process that executes it", test_known_file,
			     set_up, tear_down),
		TEST_FIXTURE("files are forgotten", test_forgotten, set_up, tear_down),
		TEST_FIXTURE("a file that changed a moment ago is not kept",
			     test_file_of_this_moment, set_up, tear_down),
		TEST_FIXTURE("a file with other contents is not known", test_other_contents, set_up,
			     tear_down),
		TEST_FIXTURE("a process that has ended has no file", test_end, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("application_strangers", tests, NULL, NULL);
}

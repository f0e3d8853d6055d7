// SPDX-License-Identifier: GPL-2.0-only
/* The kernel reports programs that are executed, or dartd learns that it does not. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/application/exec_watch.h"
#include "selftests/unit/unit.h"

static pid_t wanted;
static bool is_reported;

static void on_exec(void *userdata, pid_t pid)
{
	is_reported |= pid == wanted;
}

static void on_lost(void *userdata)
{
	is_reported = true;
}

static pid_t start(const char *program)
{
	const pid_t child = fork();

	if (!child) {
		execl(program, program, NULL);
		_exit(1);
	}
	return child;
}

/* 0 if a program that starts is reported; 1 if not, though the watch was opened; or -errno. */
static int watch(void)
{
	struct dart_error error;
	struct exec_watch watch;
	sd_event *loop;
	int ret, turns;

	if (sd_event_new(&loop) < 0)
		return -ENOMEM;
	exec_watch__init(&watch, on_exec, on_lost, NULL);
	ret = exec_watch__open(&watch, loop, &error);
	if (!ret) {
		is_reported = false;
		wanted = start("/bin/true");
		waitpid(wanted, NULL, 0);
		for (turns = 0; !is_reported && turns < 20; turns++)
			sd_event_run(loop, 100000);
		ret = !is_reported;
	}
	exec_watch__close(&watch);
	sd_event_unref(loop);
	return ret;
}

static void test_reports(void **state)
{
	const int ret = watch();

	if (ret == -EPERM || ret == -EPROTONOSUPPORT || ret == -ECONNREFUSED)
		skip(); /* no root, or in a container */
	assert_int_equal(ret, 0);
}

/* As the child of a process that has got a PID namespace of its own. */
static void test_namespace(void **state)
{
	const pid_t child = fork();
	int status;

	if (!child) {
		if (unshare(CLONE_NEWPID))
			_exit(77);
		if (!fork())
			_exit(watch() == -EPERM ? 0 : 1);
		wait(&status);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip(); /* no root */
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("the kernel reports a program that is executed", test_reports),
		TEST("in a PID namespace, where the kernel reports nothing, the watch fails",
		     test_namespace),
	};

	return cmocka_run_group_tests_name("application_exec_watch", tests, NULL, NULL);
}

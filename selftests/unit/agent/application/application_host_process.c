// SPDX-License-Identifier: GPL-2.0-only
/* Names that users choose for their programs and cgroups neither hide a process nor name it. */
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/application/host_process.h"
#include "selftests/unit/unit.h"

/* Starts a child that has @name as the name of its program. */
static pid_t start(const char *name)
{
	char byte = 0;
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* Also when an assertion ends this test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		assert_int_equal(write(ready[1], &byte, 1), 1);
		pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void test_origin(void **state)
{
	static const char *const names[] = { "plain", "two\nlines", ") S 1 1\n", "\n(", "a)b c" };
	uint64_t own, start_of_child;
	pid_t pid, parent;
	unsigned int i;

	assert_true(host_process__origin(getpid(), &parent, &own));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		pid = start(names[i]);
		assert_true(host_process__origin(pid, &parent, &start_of_child));
		assert_int_equal(parent, getpid());
		assert_true(start_of_child >= own);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_false(host_process__origin(pid, &parent, &start_of_child));
	}
}

static void check_service(const char *cgroup, const char *wanted)
{
	char name[NAME_MAX + 1] = "";

	assert_int_equal(cgroup__service(cgroup, name), !!wanted);
	assert_string_equal(name, wanted ?: "");
}

static void test_service(void **state)
{
	check_service("/system.slice/redis-server.service", "redis-server");
	check_service("/system.slice/system-a\\x2db.slice/a@1:2.service/init", "a@1:2");
	check_service("/user.slice/user@7.service/app.slice/redis.service", "redis");
	check_service("/user.slice/user-7.slice", NULL);
	/* mkdir(1) makes these where users may have cgroups. */
	check_service("/user.slice/user@7.service/\xff\xfe.service", "user@7");
	check_service("/user.slice/user@7.service/a\nb.service", "user@7");
	check_service("/user.slice/user@7.service/a b[c].service", "user@7");
	check_service("/\x1b[2J.service", NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("parent and start are found whatever a process is called", test_origin),
		TEST("a cgroup whose name systemd allows for no unit is not taken for a service", test_service),
	};

	return cmocka_run_group_tests_name("application_host_process", tests, NULL, NULL);
}

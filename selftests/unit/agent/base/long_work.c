// SPDX-License-Identifier: GPL-2.0-only
/* Messages to the service manager about long work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/base/long_work.h"
#include "selftests/unit/unit.h"

/* A service manager at an abstract address that the kernel chooses; returns its socket. */
static int open_manager(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	char name[sizeof(address.sun_path) + 1] = "@";
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	memcpy(name + 1, address.sun_path + 1, length - sizeof(sa_family_t) - 1);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void told(int manager)
{
	char message[128] = "";

	assert_true(recv(manager, message, sizeof(message) - 1, 0) > 0);
	assert_string_equal(message, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=300000000");
}

static void not_told(int manager)
{
	char byte;

	assert_int_equal(recv(manager, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static void test_steps(void **state)
{
	int manager = open_manager();
	struct long_work work = { };

	not_told(manager);
	long_work__go_on(&work);
	told(manager);
	/* As if an hour would pass before the next second. */
	work.told += INT64_C(3600) * 1000000000;
	long_work__go_on(&work);
	not_told(manager);
	work.told -= INT64_C(3600) * 1000000000 + 1000000000;
	long_work__go_on(&work);
	told(manager);
	not_told(manager);
	close(manager);
}

static void test_no_manager(void **state)
{
	struct long_work work = { };

	unsetenv("NOTIFY_SOCKET");
	long_work__go_on(&work);
	assert_true(work.told > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the service manager is told of the first step, and again a second after the last time, not of each step",
		     test_steps),
		TEST("without a service manager nothing is sent", test_no_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

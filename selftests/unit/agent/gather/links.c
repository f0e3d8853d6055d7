// SPDX-License-Identifier: GPL-2.0-only
/* Values of network devices, from dumps that the kernel could not complete. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/gather/own_sample.h"
#include "selftests/unit/unit.h"

/* Dumps from which other devices come or go before they end. */
static atomic_int disturbed;
static atomic_int dumps;

/* As the kernel before 6.9: the dump skips a device, and says only that it may be incomplete. */
static void disturb(void *bytes, ssize_t length)
{
	struct nlmsghdr *message = bytes;
	size_t left = length;

	for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
		if (message->nlmsg_type == NLMSG_ERROR)
			return;
		message->nlmsg_flags |= NLM_F_DUMP_INTR;
		if (message->nlmsg_type == RTM_NEWLINK)
			message->nlmsg_type = NLMSG_NOOP;
	}
}

ssize_t recv(int fd, void *bytes, size_t length, int flags)
{
	const ssize_t got = syscall(SYS_recvfrom, fd, bytes, length, flags, NULL, NULL);
	const struct nlmsghdr *message = bytes;
	bool is_end = false;
	size_t left = got;

	if (got <= 0)
		return got;
	if (disturbed)
		disturb(bytes, got);
	for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left))
		is_end |= message->nlmsg_type == NLMSG_DONE;
	if (is_end) {
		disturbed -= !!disturbed;
		dumps++;
	}
	return got;
}

static int open_link(void **state)
{
	const struct dart_zero_record wanted = {
		.fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC),
		.ifindex = if_nametoindex("lo"),
	};
	struct own_sample *sample;

	disturbed = 0;
	dumps = 0;
	assert_int_equal(link_sample.open(&wanted, &sample), 0);
	close(wanted.fd);
	*state = sample;
	return 0;
}

static int close_link(void **state)
{
	link_sample.close(*state);
	return 0;
}

/* -EAGAIN: there are no values yet. */
static int sample(struct own_sample *link, struct dart_zero_netdev_link *values)
{
	uint64_t number = 0, time = dart_clock__ns(CLOCK_BOOTTIME);

	*values = (struct dart_zero_netdev_link){};
	return link_sample.sample(link, 0, values, &number, &time);
}

static void test_disturbed(void **state)
{
	struct dart_zero_netdev_link values;
	int ret;

	disturbed = 3;
	while ((ret = sample(*state, &values)) == -EAGAIN)
		;
	assert_int_equal(ret, 0);
	assert_int_equal(values.mtu, 65536);
	assert_int_equal(dumps, 4);
}

/* Devices come and go all the time: the values become old, but the device has not ended. */
static void test_always_disturbed(void **state)
{
	struct dart_zero_netdev_link values;

	disturbed = 1000;
	while (dumps < 100)
		assert_int_equal(sample(*state, &values), -EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a device that an incomplete dump lacks has values from the next dump",
			     test_disturbed, open_link, close_link),
		TEST_FIXTURE("it has not ended, even if all dumps are incomplete",
			     test_always_disturbed, open_link, close_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Network namespaces without processes, for tests. */
#ifndef DART_TEST_NAMESPACE_H
#define DART_TEST_NAMESPACE_H

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

/* Without a process for it, which takes seconds in a kernel that looks for faults. */
static inline void loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(udp >= 0);
	assert_int_equal(ioctl(udp, SIOCSIFFLAGS, &lo), 0);
	close(udp);
}

/* A new network namespace with lo up; the caller stays in its own. */
static inline int namespace_new(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd;

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	loopback_up();
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	close(home);
	assert_true(fd >= 0);
	return fd;
}

/* Sends @count UDP datagrams to a port without a listener. */
static inline void send_datagrams(uint32_t address, int count)
{
	const struct sockaddr_in target = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(address),
	};
	int udp = socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(udp >= 0);
	while (count--)	/* a datagram was sent even if send() fails with ECONNREFUSED */
		sendto(udp, "x", 1, 0, (const struct sockaddr *)&target,
		       sizeof(target));
	close(udp);
}

static inline void namespace_send(int fd, int count)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	assert_int_equal(setns(fd, CLONE_NEWNET), 0);
	send_datagrams(INADDR_LOOPBACK, count);
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	close(home);
}

static inline uint32_t namespace_inode(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return status.st_ino;
}

#endif /* DART_TEST_NAMESPACE_H */

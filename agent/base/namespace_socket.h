/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NAMESPACE_SOCKET_H
#define NAMESPACE_SOCKET_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static inline bool namespace_socket__is_same(int netns, int other)
{
	struct stat one, two;

	return !fstat(netns, &one) && !fstat(other, &two) && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

/*
 * Opens a socket in the network namespace that the descriptor @netns refers to, and returns to the
 * own namespace: no other thread enters it.  The socket keeps the namespace from ending.  Only
 * another namespace than the own takes CAP_SYS_ADMIN.  Returns the socket or -errno.
 */
static inline int namespace_socket__open(int netns, int family, int type, int protocol)
{
	int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	bool is_own;
	int fd, ret;

	if (own < 0)
		return -errno;
	is_own = namespace_socket__is_same(netns, own);
	if (!is_own && setns(netns, CLONE_NEWNET)) {
		ret = -errno;
		close(own);
		return ret;
	}
	fd = socket(family, type | SOCK_CLOEXEC, protocol);
	ret = fd < 0 ? -errno : fd;
	/* dartd must not stay in a foreign namespace, where it would serve other hosts. */
	if (!is_own && setns(own, CLONE_NEWNET))
		abort();
	close(own);
	return ret;
}

#endif /* NAMESPACE_SOCKET_H */

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NAMESPACE_SOCKET_H
#define NAMESPACE_SOCKET_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Opens a socket in the network namespace that the descriptor @netns refers to, and returns to the
 * own namespace: no other thread enters it.  The socket keeps the namespace from ending.  Returns
 * the socket or -errno.
 */
static inline int namespace_socket__open(int netns, int family, int type, int protocol)
{
	int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd, ret;

	if (own < 0)
		return -errno;
	if (setns(netns, CLONE_NEWNET)) {
		ret = -errno;
		close(own);
		return ret;
	}
	fd = socket(family, type | SOCK_CLOEXEC, protocol);
	ret = fd < 0 ? -errno : fd;
	/* dartd must not stay in a foreign namespace, where it would serve other hosts. */
	if (setns(own, CLONE_NEWNET))
		abort();
	close(own);
	return ret;
}

#endif /* NAMESPACE_SOCKET_H */

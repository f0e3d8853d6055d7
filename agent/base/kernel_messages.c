// SPDX-License-Identifier: GPL-2.0-only
/* Opens netlink sockets for messages that the kernel sends to all. */
#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel_messages.h"

/* Messages of some hundred devices that come at once. */
#define SOCKET_BYTES (1 << 20)

int kernel_messages__open(int protocol, uint32_t groups, const struct sock_fprog *filter,
			  struct dart_error *error)
{
	const struct sockaddr_nl address = {
		.nl_family = AF_NETLINK, .nl_groups = groups,
	};
	const int bytes = SOCKET_BYTES;
	int fd, ret;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a netlink socket");
	/* Without it more messages are lost, and all objects compared more often. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	if ((!filter || !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter, sizeof(*filter))) &&
	    !bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	ret = dart_error__system(error, errno, "cannot receive messages of the kernel");
	close(fd);
	return ret;
}

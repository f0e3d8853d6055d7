/* SPDX-License-Identifier: GPL-2.0-only */
/* The registration socket of the agent, for helpers that are programs of their own. */
#ifndef DART_TEST_AGENT_SOCKET_H
#define DART_TEST_AGENT_SOCKET_H

#include <errno.h>
#include <error.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <dart/registration.h>

/* Ends the program if it cannot connect. */
static inline int agent_socket__connect(void)
{
	const struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = DART_REGISTRATION_SOCKET,
	};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		error(1, errno, "cannot connect to %s", address.sun_path);
	return fd;
}

#endif /* DART_TEST_AGENT_SOCKET_H */

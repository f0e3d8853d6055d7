// SPDX-License-Identifier: GPL-2.0-only
/* A service manager as PID 1 of the guest. */
#include "manager.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NOTIFY_NAME "guest-manager"

/* An abstract address: the file systems are about to be the manager's. */
static int notify_socket__open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + 1, NOTIFY_NAME, strlen(NOTIFY_NAME));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address,
			   offsetof(struct sockaddr_un, sun_path) + 1 + strlen(NOTIFY_NAME)))
		return -errno;
	return fd;
}

static int notify_socket__wait(int fd)
{
	char text[1024];
	ssize_t length;

	do {
		length = recv(fd, text, sizeof(text) - 1, 0);
		if (length < 0)
			return -errno;
		text[length] = '\0';
	} while (!strstr(text, "READY=1"));
	return 0;
}

int manager__start(const char *path)
{
	int fd = notify_socket__open(), ret;
	pid_t child;

	if (fd < 0)
		return fd;
	child = fork();
	if (child < 0)
		return -errno;
	if (child) {
		setenv("NOTIFY_SOCKET", "@" NOTIFY_NAME, 1);
		execl(path, path, NULL);
		return -errno;
	}
	ret = notify_socket__wait(fd);
	close(fd);
	return ret;
}

void manager__power_off(void)
{
	/* systemd(1), "Signals": starts poweroff.target. */
	kill(1, SIGRTMIN + 4);
	for (;;)
		pause();
}

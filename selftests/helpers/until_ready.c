// SPDX-License-Identifier: GPL-2.0-only
/*
 * until_ready LOG COMMAND [ARGUMENT...]: starts a service in the background with its
 * output in LOG, and returns when the service notifies that it is ready (sd_notify(3)).
 * Exits with 1, and shows the log, if the service ends before.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int die(const char *what)
{
	fprintf(stderr, "until_ready: %s: %s\n", what, strerror(errno));
	return 1;
}

static int notify_socket(void)
{
	/* An abstract address that the kernel chooses. */
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	char name[sizeof(address.sun_path) + 1] = "@";
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		return -1;
	memcpy(name + 1, address.sun_path + 1, length - sizeof(sa_family_t) - 1);
	return setenv("NOTIFY_SOCKET", name, 1) ? -1 : fd;
}

static void start(const char *log, char *const command[])
{
	int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (out < 0 || null < 0)
		_exit(die(log));
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execvp(command[0], command);
	_exit(die(command[0]));
}

static int show(const char *log)
{
	char bytes[4096];
	FILE *file = fopen(log, "re");
	size_t got;

	while (file && (got = fread(bytes, 1, sizeof(bytes), file)) > 0)
		fwrite(bytes, 1, got, stderr);
	return 1;
}

int main(int argc, char *argv[])
{
	struct pollfd events[2];
	pid_t child;

	if (argc < 3) {
		fprintf(stderr, "usage: until_ready LOG COMMAND [ARGUMENT...]\n");
		return 2;
	}

	events[0] = (struct pollfd){ .fd = notify_socket(), .events = POLLIN };
	if (events[0].fd < 0)
		return die("notify socket");
	child = fork();
	if (child < 0)
		return die("fork");
	if (!child)
		start(argv[1], argv + 2);
	events[1] = (struct pollfd){
		.fd = syscall(SYS_pidfd_open, child, 0),
		.events = POLLIN,
	};
	if (events[1].fd < 0)
		return die("pidfd");

	for (;;) {
		char text[512] = "";

		if (poll(events, 2, -1) < 0)
			return die("poll");
		if (events[0].revents && recv(events[0].fd, text, sizeof(text) - 1, 0) > 0 &&
		    strstr(text, "READY=1"))
			return 0;
		if (events[1].revents)
			return show(argv[1]);
	}
}

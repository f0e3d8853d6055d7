// SPDX-License-Identifier: GPL-2.0-only
/*
 * containers COUNT: makes containers as runtimes do, but faster: processes, each in its
 * own cgroup and network namespace (/containers/c0 and c0, /containers/c1 and c1, ...),
 * with a little load for their counters.  Returns when all of them run.  They end with
 *
 *	echo 1 >/sys/fs/cgroup/containers/cgroup.kill
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup/containers"
#define NAMESPACES "/run/netns"	/* where ip-netns(8) keeps their names */

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "containers: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void make_directory(const char *path)
{
	check(!mkdir(path, 0755) || errno == EEXIST, path);
}

static void enter_cgroup(int number)
{
	char path[128];
	FILE *processes;

	snprintf(path, sizeof(path), CGROUPS "/c%d", number);
	make_directory(path);
	snprintf(path, sizeof(path), CGROUPS "/c%d/cgroup.procs", number);
	processes = fopen(path, "we");
	check(processes && fputs("0", processes) >= 0 && !fclose(processes), path);
}

static void enter_namespace(int number)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	char path[128];
	int fd;

	check(!unshare(CLONE_NEWNET), "network namespace");
	snprintf(path, sizeof(path), NAMESPACES "/c%d", number);
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	check(fd >= 0, path);
	close(fd);
	check(!mount("/proc/self/ns/net", path, "none", MS_BIND, NULL), path);

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	check(fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &request), "loopback");
	close(fd);
}

/* CPU time, and a connection that is refused: segments there and back. */
static void __attribute__((noreturn)) work(void)
{
	const struct timespec interval = { .tv_nsec = 500000000 };
	const struct sockaddr_in unused = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		connect(fd, (const struct sockaddr *)&unused, sizeof(unused));
		close(fd);
		nanosleep(&interval, NULL);
	}
}

static void __attribute__((noreturn)) contain(int number, int ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	enter_cgroup(number);
	enter_namespace(number);
	/* A reader of the output of this program need not wait for containers. */
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	check(write(ready, "", 1) == 1, "pipe");
	close(ready);
	work();
}

int main(int argc, char *argv[])
{
	int count = argc == 2 ? atoi(argv[1]) : 0;
	int ready[2];
	char byte;

	if (count <= 0) {
		fprintf(stderr, "usage: containers COUNT\n");
		return 2;
	}
	make_directory(CGROUPS);
	make_directory(NAMESPACES);
	check(!pipe2(ready, O_CLOEXEC), "pipe");
	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		check(child >= 0, "fork");
		if (!child)
			contain(i, ready[1]);
	}
	close(ready[1]);
	for (int i = 0; i < count; i++)
		check(read(ready[0], &byte, 1) == 1, "a container has failed");
	return EXIT_SUCCESS;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_namespaces COUNT: makes COUNT user namespaces, each with an object that the kernel counts
 * for a user there, prints "ready", and keeps them until a test kills it.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns a descriptor, which keeps the namespace. */
static int make_namespace(void)
{
	char path[64], byte;
	int made[2], taken[2], fd;
	pid_t child;

	if (pipe(made) || pipe(taken))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		close(taken[1]);
		if (unshare(CLONE_NEWUSER | CLONE_NEWUTS))
			_exit(1);
		if (write(made[1], "", 1) != 1 || read(taken[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(made[1]);
	close(taken[0]);
	if (read(made[0], &byte, 1) != 1)
		errx(1, "cannot make a user namespace");
	snprintf(path, sizeof(path), "/proc/%d/ns/uts", (int)child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	close(made[0]);
	close(taken[1]);
	waitpid(child, NULL, 0);
	return fd;
}

int main(int argc, char **argv)
{
	int i, count = argc == 2 ? atoi(argv[1]) : 0;

	if (count <= 0)
		errx(2, "usage: user_namespaces COUNT");
	for (i = 0; i < count; i++)
		make_namespace();
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_leaks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* kmemleak passes over objects that are younger, so that lists can settle. */
#define SECONDS_OF_GRACE	6

static int scan(int fd)
{
	return write(fd, "scan", 4) < 0 ? -errno : 0;
}

static int read_all(int fd, FILE *to)
{
	char data[4096];
	ssize_t count;

	while ((count = read(fd, data, sizeof(data))) > 0)
		fwrite(data, 1, count, to);
	return count < 0 ? -errno : 0;
}

int kernel_leaks__scan(char **text, size_t *length)
{
	FILE *memory = open_memstream(text, length);
	int fd, err = 0;

	if (!memory)
		return -errno;
	fd = open("/sys/kernel/debug/kmemleak", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		err = errno == ENOENT ? 0 : -errno;
		goto out;
	}

	/* The first scan only learns what each object contains. */
	sleep(SECONDS_OF_GRACE);
	err = scan(fd) ?: scan(fd) ?: read_all(fd, memory);
	close(fd);
out:
	if (fclose(memory) && !err)
		err = -errno;
	return err;
}

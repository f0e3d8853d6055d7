// SPDX-License-Identifier: GPL-2.0-only
/* Memory leaks of the guest's kernel, found by kmemleak. */
#include "kernel_leaks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* kmemleak ignores younger objects, so that lists can settle. */
#define SECONDS_OF_GRACE	6

static int scan(int fd)
{
	return write(fd, "scan", 4) < 0 ? -errno : 0;
}

static int read_all(int fd, FILE *to)
{
	char data[4096];
	ssize_t count;

	/* The write moved the position. */
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((count = read(fd, data, sizeof(data))) > 0)
		fwrite(data, 1, count, to);
	return count < 0 ? -errno : 0;
}

int kernel_leaks__open(void)
{
	int fd = open("/sys/kernel/debug/kmemleak", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int kernel_leaks__scan(int fd, char **text, size_t *length)
{
	FILE *memory = open_memstream(text, length);
	int err;

	if (!memory)
		return -errno;

	/* The first scan only learns what each object contains. */
	sleep(SECONDS_OF_GRACE);
	err = scan(fd) ?: scan(fd) ?: read_all(fd, memory);
	if (fclose(memory) && !err)
		err = -errno;
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Reads and writes that continue until all bytes are transferred. */
#include "transfer.h"

#include <errno.h>
#include <unistd.h>

int transfer__write(int fd, const void *data, size_t length)
{
	const char *next = data;
	ssize_t count;

	while (length) {
		count = write(fd, next, length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		next += count;
		length -= count;
	}
	return 0;
}

int transfer__read(int fd, void *data, size_t length)
{
	char *next = data;
	ssize_t count;

	while (length) {
		count = read(fd, next, length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (count == 0)
			return -EPIPE;
		next += count;
		length -= count;
	}
	return 0;
}

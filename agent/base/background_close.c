// SPDX-License-Identifier: GPL-2.0-only
/* Closes file descriptors in a thread when dartd stops. */
#include <fcntl.h>
#include <unistd.h>

#include "background_close.h"

static void *close_all(void *argument)
{
	struct background_close *closing = argument;

	while (closing->count)
		close(closing->fds[--closing->count]);
	return NULL;
}

void background_close__add(struct background_close *closing, int fd)
{
	if (closing->count == BACKGROUND_CLOSE_MAX)
		return;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		closing->fds[closing->count++] = fd;
}

void background_close__start(struct background_close *closing)
{
	closing->is_running = !pthread_create(&closing->thread, NULL, close_all, closing);
	if (!closing->is_running)
		close_all(closing);
}

void background_close__wait(struct background_close *closing)
{
	if (closing->is_running)
		pthread_join(closing->thread, NULL);
	closing->is_running = false;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Adds inotify(7) to an event loop and reads its events. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inotify.h"
#include "log.h"

/* EMFILE: the limit of the user, or of descriptors, which nothing tells apart but a try. */
static const char *remedy_of_open(int code)
{
	int fd;

	if (code != EMFILE)
		return "";
	fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return " (raise LimitNOFILE= of dartd.service)";
	close(fd);
	return " (raise /proc/sys/fs/inotify/max_user_instances)";
}

int inotify__open(int *fd, sd_event_source **events, sd_event *loop, sd_event_io_handler_t handler,
		  void *userdata, struct dart_error *error)
{
	int code, ret;

	*fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	code = errno;
	if (*fd < 0)
		return dart_error__set(error, code, "cannot watch files: %s%s",
				       strerror(code), remedy_of_open(code));
	ret = sd_event_add_io(loop, events, *fd, EPOLLIN, handler, userdata);
	if (ret < 0) {
		close(*fd);
		*fd = -1;
		return dart_error__system(error, -ret, "cannot watch files");
	}
	return 0;
}

void inotify__path(char path[static INOTIFY_PATH_MAX], int fd)
{
	snprintf(path, INOTIFY_PATH_MAX, "/proc/self/fd/%d", fd);
}

int inotify__add(int fd, int watched, uint32_t mask)
{
	char path[INOTIFY_PATH_MAX];
	int wd;

	inotify__path(path, watched);
	wd = inotify_add_watch(fd, path, mask);
	return wd < 0 ? -errno : wd;
}

const char *inotify__remedy(int code)
{
	return code == ENOSPC ? " (raise /proc/sys/fs/inotify/max_user_watches)" : "";
}

void inotify__read(int fd, void (*take)(const struct inotify_event *event, void *userdata),
		   void *userdata)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event;
	ssize_t length, at;

	length = read(fd, buffer, sizeof(buffer));
	for (at = 0; at < length; at += sizeof(*event) + event->len) {
		event = (const struct inotify_event *)(buffer + at);
		take(event, userdata);
	}
	if (length < 0 && errno != EAGAIN && errno != EINTR)
		log__error("cannot read inotify events: %s", strerror(errno));
}

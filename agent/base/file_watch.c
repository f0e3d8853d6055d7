// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inotify.h"
#include "log.h"
#include "file_watch.h"

static bool file_watch__is_gone(const struct file_watch *watch)
{
	struct stat status;

	if (watch->name)
		return fstatat(watch->fd, watch->name, &status,
			       AT_SYMLINK_NOFOLLOW) ||
		       status.st_ino != watch->inode;
	return fstat(watch->fd, &status) || !status.st_nlink;
}

/* One that @wd tells of, or any if it is -1, and is gone. */
static struct file_watch *
file_watches__find_gone(const struct file_watches *watches, int wd)
{
	struct file_watch *watch;

	TAILQ_FOREACH(watch, &watches->list, link)
		if ((wd < 0 || watch->wd == wd) && file_watch__is_gone(watch))
			return watch;
	return NULL;
}

/* An overflow has the wd -1. */
static void on_happening(const struct inotify_event *event, void *userdata)
{
	struct file_watches *watches = userdata;
	struct file_watch *watch;

	while ((watch = file_watches__find_gone(watches, event->wd))) {
		void (*gone)(struct file_watch *watch) = watch->gone;

		file_watch__stop(watches, watch);
		gone(watch);
	}
}

static int on_event(sd_event_source *source, int fd, uint32_t revents,
		    void *userdata)
{
	inotify__read(fd, on_happening, userdata);
	return 0;
}

int file_watches__open(struct file_watches *watches, sd_event *loop,
		       struct dart_error *error)
{
	*watches = (struct file_watches){ };
	TAILQ_INIT(&watches->list);
	return inotify__open(&watches->fd, &watches->events, loop, on_event,
			     watches, error);
}

void file_watches__close(struct file_watches *watches)
{
	sd_event_source_disable_unref(watches->events);
	close(watches->fd);
}

static int cannot_watch(int code, struct dart_error *error)
{
	return dart_error__set(
		error, code, "cannot watch when it ends: %s%s", strerror(code),
		code == ENOSPC ?
			" (raise /proc/sys/fs/inotify/max_user_watches)" :
			"");
}

/* Watches what is open as watch->fd. */
static int file_watch__start(struct file_watches *watches,
			     struct file_watch *watch, uint32_t mask,
			     struct dart_error *error)
{
	watch->wd = inotify__add(watches->fd, watch->fd, mask);
	if (watch->wd < 0)
		return cannot_watch(-watch->wd, error);
	TAILQ_INSERT_TAIL(&watches->list, watch, link);

	if (!file_watch__is_gone(watch))
		return 0;
	return dart_error__set(error, ENOENT, "it has been removed meanwhile");
}

int file_watch__start_file(struct file_watches *watches,
			   struct file_watch *watch, int fd,
			   void (*gone)(struct file_watch *watch),
			   struct dart_error *error)
{
	char path[INOTIFY_PATH_MAX];
	int ret;

	inotify__path(path, fd);
	*watch = (struct file_watch){ .gone = gone, .wd = -1 };
	watch->fd = open(path, O_PATH | O_CLOEXEC);
	ret = watch->fd < 0 ?
		      cannot_watch(errno, error) :
		      file_watch__start(watches, watch,
					IN_ATTRIB | IN_DELETE_SELF, error);
	if (ret)
		file_watch__stop(watches, watch);
	return ret;
}

/* The last part of the path that @fd has, NULL if memory is short. */
static char *last_part(int fd)
{
	char link[INOTIFY_PATH_MAX], path[PATH_MAX], *slash;
	ssize_t length;

	inotify__path(link, fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return NULL;
	path[length] = '\0';
	slash = strrchr(path, '/');
	return strdup(slash ? slash + 1 : path);
}

int file_watch__start_directory(struct file_watches *watches,
				struct file_watch *watch, int fd,
				void (*gone)(struct file_watch *watch),
				struct dart_error *error)
{
	struct stat status;
	int ret;

	*watch = (struct file_watch){ .gone = gone, .wd = -1 };
	watch->fd = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (watch->fd < 0 || fstat(fd, &status)) {
		ret = cannot_watch(errno, error);
		goto stop;
	}
	watch->inode = status.st_ino;
	watch->name = last_part(fd);
	ret = watch->name ?
		      file_watch__start(watches, watch, IN_DELETE, error) :
		      cannot_watch(errno, error);
	if (!ret)
		return 0;
stop:
	file_watch__stop(watches, watch);
	return ret;
}

static bool file_watches__has(const struct file_watches *watches, int wd)
{
	const struct file_watch *watch;

	TAILQ_FOREACH(watch, &watches->list, link)
		if (watch->wd == wd)
			return true;
	return false;
}

void file_watch__stop(struct file_watches *watches, struct file_watch *watch)
{
	if (!watch->gone)
		return;
	if (watch->wd >= 0) {
		TAILQ_REMOVE(&watches->list, watch, link);
		if (!file_watches__has(watches, watch->wd))
			inotify_rm_watch(watches->fd, watch->wd);
	}
	if (watch->fd >= 0)
		close(watch->fd);
	free(watch->name);
	*watch = (struct file_watch){ };
}

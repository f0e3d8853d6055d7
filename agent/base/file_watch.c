// SPDX-License-Identifier: GPL-2.0-only
/* Watches directories and device files for their removal with inotify(7). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "inotify.h"
#include "file_watch.h"

static bool file_watch__was_removed(const struct file_watch *watch)
{
	struct stat status;

	return fstatat(watch->fd, watch->name, &status, AT_SYMLINK_NOFOLLOW) ||
	       status.st_ino != watch->inode;
}

/* Finds a watch of @wd, or any if it is -1, whose file was removed. */
static struct file_watch *
file_watches__find_removed(const struct file_watches *watches, int wd)
{
	struct file_watch *watch;

	TAILQ_FOREACH(watch, &watches->list, link)
		if ((wd < 0 || watch->wd == wd) &&
		    file_watch__was_removed(watch))
			return watch;
	return NULL;
}

/* After an overflow, wd is -1. */
static void on_inotify_event(const struct inotify_event *event, void *userdata)
{
	struct file_watches *watches = userdata;
	struct file_watch *watch;

	while ((watch = file_watches__find_removed(watches, event->wd))) {
		void (*gone)(struct file_watch *watch) = watch->gone;

		file_watch__stop(watches, watch);
		gone(watch);
	}
}

static int on_event(sd_event_source *source, int fd, uint32_t revents,
		    void *userdata)
{
	inotify__read(fd, on_inotify_event, userdata);
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
	return dart_error__set(error, code, "cannot watch its removal: %s%s",
			       strerror(code), inotify__remedy(code));
}

/* Watches the directory behind watch->fd. */
static int file_watch__add(struct file_watches *watches,
			   struct file_watch *watch, struct dart_error *error)
{
	watch->wd = inotify__add(watches->fd, watch->fd, IN_DELETE);
	if (watch->wd < 0)
		return cannot_watch(-watch->wd, error);
	TAILQ_INSERT_TAIL(&watches->list, watch, link);

	if (!file_watch__was_removed(watch))
		return 0;
	return dart_error__set(error, ENOENT, "it no longer exists");
}

/* Returns the last component of the path of @fd, or NULL with errno set. */
static char *base_name(int fd)
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

static int file_watch__open_parent(struct file_watch *watch, int fd)
{
	watch->name = base_name(fd);
	if (!watch->name)
		return -errno;
	watch->fd = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return watch->fd < 0 ? -errno : 0;
}

/* Returns the path below /dev of the kernel's name for @device, or NULL. */
static char *device_name(dev_t device)
{
	char path[64], *line = NULL, *name = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent",
		 major(device), minor(device));
	file = fopen(path, "re");
	if (!file)
		return NULL;
	while (!name && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "DEVNAME=", 8))
			name = strdup(line + 8);
	}
	free(line);
	fclose(file);
	return name;
}

/*
 * The kernel creates and removes this file with the device.  Its directory is
 * watched: to watch the file takes permission to read the disk, which a sandbox
 * refuses.
 */
static int file_watch__open_device(struct file_watch *watch, dev_t device)
{
	char path[PATH_MAX], *slash;
	struct stat status;

	watch->name = device_name(device);
	if (!watch->name)
		return -ENOENT;
	if (snprintf(path, sizeof(path), "/dev/%s", watch->name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	slash = strrchr(path, '/');
	memmove(watch->name, slash + 1, strlen(slash + 1) + 1);
	*slash = '\0';
	watch->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (watch->fd < 0 || fstatat(watch->fd, watch->name, &status,
				     AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISBLK(status.st_mode) || status.st_rdev != device)
		return -ENODEV;
	watch->inode = status.st_ino;
	return 0;
}

static int file_watch__open(struct file_watch *watch, int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (S_ISBLK(status.st_mode))
		return file_watch__open_device(watch, status.st_rdev);
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	watch->inode = status.st_ino;
	return file_watch__open_parent(watch, fd);
}

int file_watch__start(struct file_watches *watches, struct file_watch *watch,
		      int fd, void (*gone)(struct file_watch *watch),
		      struct dart_error *error)
{
	int ret;

	*watch = (struct file_watch){ .gone = gone, .wd = -1, .fd = -1 };
	ret = file_watch__open(watch, fd);
	ret = ret ? cannot_watch(-ret, error) :
		    file_watch__add(watches, watch, error);
	if (ret)
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

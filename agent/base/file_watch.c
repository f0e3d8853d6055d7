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

/* The files of a directory share its watch. */
struct watched_directory {
	TAILQ_ENTRY(watched_directory) link;
	uint32_t wd;
	TAILQ_HEAD(, file_watch) watches;
};

static bool file_watch__was_removed(const struct file_watch *watch)
{
	struct stat status;

	return fstatat(watch->fd, watch->name, &status, AT_SYMLINK_NOFOLLOW) ||
	       status.st_ino != watch->inode;
}

/* Finds a watch in @directory whose file was removed; @name: only of that, or NULL. */
static struct file_watch *directory__find_removed(const struct watched_directory *directory,
						  const char *name)
{
	struct file_watch *watch;

	TAILQ_FOREACH(watch, &directory->watches, link)
		if ((!name || !strcmp(watch->name, name)) && file_watch__was_removed(watch))
			return watch;
	return NULL;
}

static struct watched_directory *file_watches__find(const struct file_watches *watches, int wd)
{
	const uint32_t number = wd;
	const void *found = entry_index__find(&watches->directories, &number);

	if (!found)
		return NULL;
	return (struct watched_directory *)((char *)found - offsetof(struct watched_directory, wd));
}

static struct file_watch *file_watches__find_removed(const struct file_watches *watches,
						     const struct inotify_event *event)
{
	struct watched_directory *directory;
	struct file_watch *watch = NULL;

	/* After an overflow. */
	if (event->wd < 0) {
		TAILQ_FOREACH(directory, &watches->list, link) {
			watch = directory__find_removed(directory, NULL);
			if (watch)
				break;
		}
		return watch;
	}
	directory = file_watches__find(watches, event->wd);
	if (!directory)
		return NULL;
	return directory__find_removed(directory, event->len ? event->name : NULL);
}

static void on_inotify_event(const struct inotify_event *event, void *userdata)
{
	struct file_watches *watches = userdata;
	struct file_watch *watch;

	while ((watch = file_watches__find_removed(watches, event))) {
		void (*gone)(struct file_watch *watch) = watch->gone;

		file_watch__stop(watches, watch);
		gone(watch);
	}
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	inotify__read(fd, on_inotify_event, userdata);
	return 0;
}

int file_watches__open(struct file_watches *watches, sd_event *loop, struct dart_error *error)
{
	*watches = (struct file_watches){
		.directories = ENTRY_INDEX_OF_NUMBERS,
	};
	TAILQ_INIT(&watches->list);
	return inotify__open(&watches->fd, &watches->events, loop, on_event, watches, error);
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

/* The directory with the watch @wd; NULL: out of memory. */
static struct watched_directory *file_watches__take(struct file_watches *watches, int wd)
{
	struct watched_directory *directory = file_watches__find(watches, wd);

	if (directory)
		return directory;
	directory = calloc(1, sizeof(*directory));
	if (!directory)
		return NULL;
	directory->wd = wd;
	TAILQ_INIT(&directory->watches);
	if (entry_index__add(&watches->directories, &directory->wd)) {
		free(directory);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&watches->list, directory, link);
	return directory;
}

/* Watches the directory that watch->fd refers to. */
static int file_watch__add(struct file_watches *watches,
			   struct file_watch *watch, struct dart_error *error)
{
	int wd = inotify__add(watches->fd, watch->fd, IN_DELETE);

	if (wd < 0)
		return cannot_watch(-wd, error);
	watch->directory = file_watches__take(watches, wd);
	if (!watch->directory) {
		inotify_rm_watch(watches->fd, wd);
		return dart_error__no_memory(error);
	}
	TAILQ_INSERT_TAIL(&watch->directory->watches, watch, link);

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

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent", major(device), minor(device));
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
	if (snprintf(path, sizeof(path), "/dev/%s", watch->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	slash = strrchr(path, '/');
	memmove(watch->name, slash + 1, strlen(slash + 1) + 1);
	*slash = '\0';
	watch->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (watch->fd < 0 || fstatat(watch->fd, watch->name, &status, AT_SYMLINK_NOFOLLOW))
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

int file_watch__start(struct file_watches *watches, struct file_watch *watch, int fd,
		      void (*gone)(struct file_watch *watch), struct dart_error *error)
{
	int ret;

	*watch = (struct file_watch){ .gone = gone, .fd = -1 };
	ret = file_watch__open(watch, fd);
	ret = ret ? cannot_watch(-ret, error) : file_watch__add(watches, watch, error);
	if (ret)
		file_watch__stop(watches, watch);
	return ret;
}

static void file_watches__leave(struct file_watches *watches, struct watched_directory *directory)
{
	if (!TAILQ_EMPTY(&directory->watches))
		return;
	inotify_rm_watch(watches->fd, directory->wd);
	entry_index__remove(&watches->directories, &directory->wd);
	TAILQ_REMOVE(&watches->list, directory, link);
	free(directory);
}

void file_watch__stop(struct file_watches *watches, struct file_watch *watch)
{
	if (!watch->gone)
		return;
	if (watch->directory) {
		TAILQ_REMOVE(&watch->directory->watches, watch, link);
		file_watches__leave(watches, watch->directory);
	}
	if (watch->fd >= 0)
		close(watch->fd);
	free(watch->name);
	*watch = (struct file_watch){ };
}

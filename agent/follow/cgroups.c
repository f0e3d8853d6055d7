// SPDX-License-Identifier: GPL-2.0-only
/* Watches each cgroup of a subtree for children, and registers them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/inotify.h"
#include "agent/base/log.h"
#include "cgroups.h"

/* A cgroup watched for children that are created and removed. */
struct cgroup {
	TAILQ_ENTRY(cgroup) link;
	int wd;
	ino_t inode;
	struct coverage_place place;
	char path[];			/* below the top, "" for the top itself */
};

struct cgroups {
	struct follower follower;	/* first: see cgroups__free() */
	char *path;			/* of the top */
	int top;
	int inotify;
	sd_event_source *events;
	struct file_watches *file_watches;
	struct file_watch watch;	/* of the top */
	TAILQ_HEAD(, cgroup) list;
};

static void cgroups__add(struct cgroups *cgroups, const char *path);

static struct cgroup *cgroups__find(const struct cgroups *cgroups,
				    const char *path)
{
	struct cgroup *cgroup;

	TAILQ_FOREACH(cgroup, &cgroups->list, link)
		if (!strcmp(cgroup->path, path))
			return cgroup;
	return NULL;
}

static int join_path(char path[static PATH_MAX], const char *outer,
		     const char *name)
{
	const char *slash = *outer && strcmp(outer, "/") && *name ? "/" : "";

	if (snprintf(path, PATH_MAX, "%s%s%s", outer, slash, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

/* The root of the hierarchy has neither a type nor counters. */
static bool is_root(int fd)
{
	return faccessat(fd, "cgroup.type", F_OK, 0) != 0;
}

static void cgroups__register(struct cgroups *cgroups, struct cgroup *cgroup,
			      int fd)
{
	struct follower *follower = &cgroups->follower;
	struct selector selector;
	char whole[PATH_MAX];
	struct dart_error error;
	int ret;

	if (is_root(fd))
		return;
	if (join_path(whole, cgroups->path, cgroup->path))
		ret = dart_error__set(&error, ENAMETOOLONG, "path is too long");
	else
		ret = selector__cgroup(&selector, follower->source, fd, whole,
				       &error);
	if (ret)
		follower__fail(follower, &cgroup->place,
			       coverage__reason_of(-ret), cgroup->path, &error);
	else
		follower__register(follower, &selector, &cgroup->place,
				   cgroup->path);
}

/* Adds children that are not watched yet. */
static void cgroups__scan(struct cgroups *cgroups, const char *path,
			  DIR *directory)
{
	struct dirent *file;
	char child[PATH_MAX];

	rewinddir(directory);
	while ((file = readdir(directory)))
		if (file->d_type == DT_DIR && file->d_name[0] != '.' &&
		    !join_path(child, path, file->d_name) &&
		    !cgroups__find(cgroups, child))
			cgroups__add(cgroups, child);
}

/*
 * To call before looking for children, so that a child created in between is
 * seen twice rather than never.
 */
static int cgroups__watch(struct cgroups *cgroups, const char *path, int fd,
			  struct cgroup **result)
{
	struct cgroup *cgroup = calloc(1, sizeof(*cgroup) + strlen(path) + 1);
	struct stat status;
	int wd;

	if (!cgroup)
		return -ENOMEM;
	wd = fstat(fd, &status) ? -errno :
				  inotify__add(cgroups->inotify, fd,
					       IN_CREATE | IN_DELETE |
					       IN_ONLYDIR);
	if (wd < 0) {
		free(cgroup);
		return wd;
	}
	cgroup->wd = wd;
	cgroup->inode = status.st_ino;
	strcpy(cgroup->path, path);
	TAILQ_INSERT_TAIL(&cgroups->list, cgroup, link);
	*result = cgroup;
	return 0;
}

static DIR *cgroups__opendir(const struct cgroups *cgroups, const char *path)
{
	int fd = openat(cgroups->top, *path ? path : ".",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !directory)
		close(fd);
	return directory;
}

static void cgroups__add(struct cgroups *cgroups, const char *path)
{
	DIR *directory = cgroups__opendir(cgroups, path);
	struct cgroup *cgroup = NULL;
	struct dart_error error;
	int ret;

	/* -ENOENT: it was removed in the meantime. */
	ret = directory ? cgroups__watch(cgroups, path, dirfd(directory),
					 &cgroup) :
			  -errno;
	if (!ret) {
		cgroups__register(cgroups, cgroup, dirfd(directory));
		cgroups__scan(cgroups, path, directory);
	} else if (ret != -ENOENT) {
		dart_error__set(&error, -ret, "cannot watch cgroup %s: %s%s",
				path, strerror(-ret), inotify__remedy(-ret));
		follower__fail(&cgroups->follower, NULL,
			       ret == -ENOSPC ? COVERAGE_WATCHES :
						coverage__reason_of(-ret),
			       path, &error);
	}
	if (directory)
		closedir(directory);
}

static void cgroups__forget(struct cgroups *cgroups, struct cgroup *cgroup)
{
	follower__forget(&cgroups->follower, &cgroup->place);
	TAILQ_REMOVE(&cgroups->list, cgroup, link);
	inotify_rm_watch(cgroups->inotify, cgroup->wd);
	free(cgroup);
}

/* Removes a cgroup and all below it. */
static void cgroups__drop(struct cgroups *cgroups, const char *path)
{
	struct registry *registry = cgroups->follower.followers->registry;
	struct selector_key key = {
		.source = cgroups->follower.source->id,
		.gather_ms = cgroups->follower.gather_ms,
	};
	size_t length = strlen(path);
	struct cgroup *cgroup, *next;
	struct entry *entry;

	for (cgroup = TAILQ_FIRST(&cgroups->list); cgroup; cgroup = next) {
		next = TAILQ_NEXT(cgroup, link);
		if (strncmp(cgroup->path, path, length) ||
		    (cgroup->path[length] && cgroup->path[length] != '/'))
			continue;
		key.object = cgroup->inode;
		entry = registry__find_source(registry, &key);
		if (entry && entry->group == &cgroups->follower.group)
			registry__entry_ended(registry, entry);
		cgroups__forget(cgroups, cgroup);
	}
}

/* Adds, replaces or drops the cgroup at @path to match the file system. */
static void cgroups__sync(struct cgroups *cgroups, const char *path)
{
	struct cgroup *known = cgroups__find(cgroups, path);
	struct stat status;
	bool is_there;

	is_there = !fstatat(cgroups->top, path, &status, AT_SYMLINK_NOFOLLOW) &&
		   S_ISDIR(status.st_mode);
	if (known && (!is_there || known->inode != status.st_ino)) {
		cgroups__drop(cgroups, path);
		known = NULL;
	}
	if (is_there && !known)
		cgroups__add(cgroups, path);
}

/* True if the path is now another cgroup, or none.  The top never changes. */
static bool cgroups__is_stale(const struct cgroups *cgroups,
			      const struct cgroup *cgroup)
{
	struct stat status;

	return *cgroup->path &&
	       (fstatat(cgroups->top, cgroup->path, &status,
			AT_SYMLINK_NOFOLLOW) ||
		status.st_ino != cgroup->inode);
}

/* After an overflow of the queue of events: compares everything again. */
static void cgroups__sync_all(struct cgroups *cgroups)
{
	struct cgroup *cgroup;
	char path[PATH_MAX];
	DIR *directory;

again:
	TAILQ_FOREACH(cgroup, &cgroups->list, link) {
		if (cgroups__is_stale(cgroups, cgroup)) {
			snprintf(path, sizeof(path), "%s", cgroup->path);
			cgroups__sync(cgroups, path);
			goto again;
		}
	}
	TAILQ_FOREACH(cgroup, &cgroups->list, link) {
		directory = cgroups__opendir(cgroups, cgroup->path);
		if (directory) {
			cgroups__scan(cgroups, cgroup->path, directory);
			closedir(directory);
		}
	}
}

static void on_inotify_event(const struct inotify_event *event, void *userdata)
{
	struct cgroups *cgroups = userdata;
	struct cgroup *cgroup;
	char path[PATH_MAX];

	if (event->mask & IN_Q_OVERFLOW) {
		cgroups__sync_all(cgroups);
		return;
	}
	if (!(event->mask & IN_ISDIR) || !event->len)
		return;
	TAILQ_FOREACH(cgroup, &cgroups->list, link)
		if (cgroup->wd == event->wd)
			break;
	if (cgroup && !join_path(path, cgroup->path, event->name))
		cgroups__sync(cgroups, path);
}

static int on_event(sd_event_source *source, int fd, uint32_t revents,
		    void *userdata)
{
	struct cgroups *cgroups = userdata;

	follower__begin(&cgroups->follower);
	inotify__read(fd, on_inotify_event, cgroups);
	follower__end_or_log(&cgroups->follower);
	return 0;
}

/* The cgroups without a watch are not in the list. */
static void cgroups__retry(struct follower *follower)
{
	struct cgroups *cgroups = (struct cgroups *)follower;
	struct cgroup *cgroup;
	DIR *directory;

	follower__begin(follower);
	TAILQ_FOREACH(cgroup, &cgroups->list, link) {
		directory = coverage_place__is_missing(&cgroup->place) ?
				    cgroups__opendir(cgroups, cgroup->path) :
				    NULL;
		if (!directory)
			continue;
		cgroups__register(cgroups, cgroup, dirfd(directory));
		closedir(directory);
	}
	/* Not even the top has a watch. */
	if (TAILQ_EMPTY(&cgroups->list))
		cgroups__add(cgroups, "");
	else
		cgroups__sync_all(cgroups);
	follower__end_or_log(follower);
}

static void on_top_removed(struct file_watch *watch)
{
	follower__ended(&file_watch__owner(watch, struct cgroups)->follower);
}

static void cgroups__free(struct follower *follower)
{
	struct cgroups *cgroups = (struct cgroups *)follower;
	struct cgroup *cgroup;

	while ((cgroup = TAILQ_FIRST(&cgroups->list)))
		cgroups__forget(cgroups, cgroup);
	file_watch__stop(cgroups->file_watches, &cgroups->watch);
	sd_event_source_disable_unref(cgroups->events);
	if (cgroups->inotify >= 0)
		close(cgroups->inotify);
	if (cgroups->top >= 0)
		close(cgroups->top);
	free(cgroups->path);
	free(cgroups);
}

static const struct follower_operations cgroups_operations = {
	.free = cgroups__free,
	.retry = cgroups__retry,
};

/* Opens everything but the list; cgroups__free() closes it, even on error. */
static int cgroups__open(struct cgroups *cgroups,
			 const struct followers *followers, int fd,
			 const char *path, struct dart_error *error)
{
	int ret;

	TAILQ_INIT(&cgroups->list);
	cgroups->file_watches = followers->file_watches;
	cgroups->inotify = -1;
	cgroups->path = strdup(path);
	cgroups->top = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (!cgroups->path || cgroups->top < 0)
		return dart_error__system(error, errno,
					  "cannot follow cgroups");
	ret = inotify__open(&cgroups->inotify, &cgroups->events,
			    followers->loop, on_event, cgroups, error);
	if (!ret && !is_root(fd))
		ret = file_watch__start(followers->file_watches,
					&cgroups->watch, fd, on_top_removed,
					error);
	return ret;
}

int cgroups__follow(struct followers *followers, const struct source *source,
		    const struct selector_choice *choice,
		    struct follower **result, struct dart_error *error)
{
	const char *path = choice->cgroup;
	struct selector selector;
	struct cgroups *cgroups;
	int ret;

	/* Only to check that this is a cgroup. */
	ret = selector__cgroup(&selector, source, choice->fd, path, error);
	if (ret)
		return ret;
	cgroups = calloc(1, sizeof(*cgroups));
	if (!cgroups)
		return dart_error__no_memory(error);
	ret = cgroups__open(cgroups, followers, choice->fd, path, error) ?:
		      followers__add(followers, &cgroups->follower,
				     &cgroups_operations, source, choice, path,
				     error);
	if (ret) {
		cgroups__free(&cgroups->follower);
		return ret;
	}
	follower__begin(&cgroups->follower);
	cgroups__add(cgroups, "");
	ret = follower__end_with(&cgroups->follower, 0, error);
	if (ret)
		followers__drop(followers, &cgroups->follower);
	else
		*result = &cgroups->follower;
	return ret;
}

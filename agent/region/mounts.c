// SPDX-License-Identifier: GPL-2.0-only
/* Reads the mounts of PID 1, and finds the mounts that are reached by their own mount points. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "mounts.h"

#define MOUNTS "/proc/1/mountinfo"
#define OWN_MOUNTS "/proc/self/mountinfo"

/* Inode of the initial PID namespace: PROC_PID_INIT_INO of the kernel. */
#define HOST_PID_NAMESPACE 4026531836

/* Initial size of the buffer for a text; it doubles. */
#define TEXT_MIN 65536

int mounts__watch(struct dart_error *error)
{
	struct stat namespace;
	int fd;

	if (stat("/proc/self/ns/pid", &namespace))
		return dart_error__system(error, errno, "cannot tell the own PID namespace");
	if (namespace.st_ino != HOST_PID_NAMESPACE)
		return dart_error__set(
			error, EXDEV,
			"dartd is in a PID namespace of its own and cannot see the mounts of the host (start it in that of the host: hostPID: true)");
	fd = open(MOUNTS, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return dart_error__set(
		error, errno, "cannot open " MOUNTS ": %s%s", strerror(errno),
		errno == ENOENT || errno == EPERM || errno == EACCES ?
			" (dartd must see PID 1: no hidepid=, and ProtectProc=default in its unit)" :
			"");
}

/* The text ends with NUL. */
static int read_text(int fd, char **text)
{
	size_t room = 0, length = 0;
	char *grown;
	ssize_t got;

	*text = NULL;
	do {
		if (room - length < 2) {
			room = room ? room * 2 : TEXT_MIN;
			grown = realloc(*text, room);
			if (!grown)
				goto no_memory;
			*text = grown;
		}
		got = read(fd, *text + length, room - length - 1);
		if (got > 0)
			length += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0) {
		got = -errno;
		free(*text);
		return got;
	}
	(*text)[length] = '\0';
	return 0;

no_memory:
	free(*text);
	return -ENOMEM;
}

/* The kernel writes a byte that would end a word as a backslash and three octal digits. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0');
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static bool parse_line(char *line, struct mount *mount)
{
	char *rest = strstr(line, " - "), *save, *root, *path, *source;
	unsigned int major_number, minor_number;
	int at = 0;

	if (!rest || sscanf(line, "%u %u %u:%u %n", &mount->id, &mount->parent,
			    &major_number, &minor_number, &at) != 4)
		return false;
	*rest = '\0';
	mount->device = makedev(major_number, minor_number);
	root = strtok_r(line + at, " ", &save);
	path = strtok_r(NULL, " ", &save);
	mount->type = strtok_r(rest + 3, " ", &save);
	source = strtok_r(NULL, " ", &save);
	if (!root || !path || !mount->type || !source)
		return false;
	unescape(root);
	unescape(path);
	unescape(source);
	mount->source = source;
	mount->root = root;
	mount->path = path;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct mount *one = a, *other = b;

	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	return strcmp(one->path, other->path);
}

static int by_id(const void *a, const void *b, void *list)
{
	const unsigned int one = ((struct mount *)list)[*(size_t *)a].id;
	const unsigned int other = ((struct mount *)list)[*(size_t *)b].id;

	return one == other ? 0 : one < other ? -1 : 1;
}

static int index_by_id(struct mounts *mounts)
{
	size_t i;

	mounts->by_id = calloc(mounts->count + 1, sizeof(*mounts->by_id));
	if (!mounts->by_id)
		return -ENOMEM;
	for (i = 0; i < mounts->count; i++)
		mounts->by_id[i] = i;
	qsort_r(mounts->by_id, mounts->count, sizeof(*mounts->by_id), by_id, mounts->list);
	return 0;
}

static int parse(struct mounts *mounts)
{
	char *line, *next = mounts->text;
	size_t room = 1;

	for (line = next; *line; line++)
		room += *line == '\n';
	mounts->list = calloc(room, sizeof(*mounts->list));
	if (!mounts->list)
		return -ENOMEM;
	while ((line = strsep(&next, "\n")))
		if (*line && parse_line(line, &mounts->list[mounts->count]))
			mounts->count++;
	qsort(mounts->list, mounts->count, sizeof(*mounts->list), by_place);
	return index_by_id(mounts);
}

/* Closes @fd, which is open on the file @path. */
static int read_mounts(struct mounts *mounts, int fd, const char *path, struct dart_error *error)
{
	int ret;

	*mounts = (struct mounts){};
	ret = read_text(fd, &mounts->text);
	close(fd);
	if (!ret)
		ret = parse(mounts);
	if (ret) {
		mounts__free(mounts);
		return dart_error__system(error, -ret, "cannot read %s", path);
	}
	return 0;
}

int mounts__read(struct mounts *mounts, struct dart_error *error)
{
	int fd = mounts__watch(error);

	return fd < 0 ? fd : read_mounts(mounts, fd, MOUNTS, error);
}

int mounts__watch_own(struct dart_error *error)
{
	int fd = open(OWN_MOUNTS, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? dart_error__system(error, errno, "cannot open " OWN_MOUNTS) : fd;
}

int mounts__read_own(struct mounts *mounts, struct dart_error *error)
{
	int fd = mounts__watch_own(error);

	return fd < 0 ? fd : read_mounts(mounts, fd, OWN_MOUNTS, error);
}

void mounts__free(struct mounts *mounts)
{
	free(mounts->list);
	free(mounts->by_id);
	free(mounts->text);
	*mounts = (struct mounts){};
}

const struct mount *mounts__find(const struct mounts *mounts, unsigned int id)
{
	size_t low = 0, high = mounts->count, middle;
	const struct mount *found;

	while (low < high) {
		middle = low + (high - low) / 2;
		found = &mounts->list[mounts->by_id[middle]];
		if (found->id == id)
			return found;
		if (found->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const struct mount *parent_of(const struct mounts *mounts, const struct mount *mount)
{
	const struct mount *parent = mounts__find(mounts, mount->parent);

	/* The topmost mount can be its own parent. */
	return parent == mount ? NULL : parent;
}

/* Orders @mount relative to a mount on @parent at the first @length bytes of @path. */
static int compare_place(const struct mount *mount, const struct mount *parent,
			 const char *path, size_t length)
{
	int order;

	if (mount->parent != parent->id)
		return mount->parent < parent->id ? -1 : 1;
	order = strncmp(mount->path, path, length);
	if (!order && mount->path[length])
		order = 1;
	return order;
}

/* A mount on @parent at the first @length bytes of @path, or NULL. */
static const struct mount *child_at(const struct mounts *mounts, const struct mount *parent,
				    const char *path, size_t length)
{
	size_t low = 0, high = mounts->count, middle;
	const struct mount *found;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		found = &mounts->list[middle];
		order = compare_place(found, parent, path, length);
		if (!order)
			return found;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* True if another mount covers the root of @mount.  The topmost mount can be its own child. */
static bool is_covered(const struct mounts *mounts, const struct mount *mount)
{
	const struct mount *child = child_at(mounts, mount, mount->path, strlen(mount->path));

	return child && child != mount;
}

/* True if another mount on @parent lies on the way from its root to @mount. */
static bool is_cut_off(const struct mounts *mounts, const struct mount *parent,
		       const struct mount *mount)
{
	size_t i = strlen(parent->path);

	if (!strcmp(parent->path, mount->path))
		return false;
	if (is_covered(mounts, parent))
		return true;
	/* "/" is the only path that ends with a slash. */
	for (i += parent->path[i - 1] != '/'; mount->path[i]; i++)
		if (mount->path[i] == '/' && child_at(mounts, parent, mount->path, i))
			return true;
	return false;
}

bool mounts__is_visible(const struct mounts *mounts, const struct mount *mount)
{
	const struct mount *parent;
	size_t steps;

	/*
	 * Such a path belongs to a mount point that was removed or that lies outside of the root.
	 */
	if (*mount->path != '/' || strstr(mount->path, "//") ||
	    is_covered(mounts, mount))
		return false;
	for (steps = 0; steps < mounts->count; steps++) {
		parent = parent_of(mounts, mount);
		if (!parent)
			return true;
		if (strncmp(mount->path, parent->path, strlen(parent->path)) ||
		    is_cut_off(mounts, parent, mount))
			return false;
		mount = parent;
	}
	return false;
}

const struct mount *mounts__at(const struct mounts *mounts, const char *path)
{
	size_t i;

	for (i = 0; i < mounts->count; i++)
		if (!strcmp(mounts->list[i].path, path) &&
		    mounts__is_visible(mounts, &mounts->list[i]))
			return &mounts->list[i];
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/* The mounted file systems of disks, as /proc/self/mountinfo has them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "devices.h"

#define MOUNTS "/proc/self/mountinfo"
#define TYPES "/proc/filesystems"
#define TYPES_MAX 8192

/* Since Linux 6.8; older kernels give the number that another mount can have later. */
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U
#endif

/* A line of proc_pid_mountinfo(5). */
struct mount_line {
	unsigned int id, parent;
	dev_t device;
	const char *root; /* what of the file system is mounted */
	char *path;
	const char *type;
};

/* A file system, and the mount that its entry has the name of. */
struct mounted {
	dev_t device;
	bool is_whole; /* the root of it is mounted there */
	uint64_t number; /* of struct device */
	uint64_t mount; /* which no other mount has */
	bool is_local; /* as in struct device */
	char *path;
};

/* All mounts. */
struct mounts {
	struct mounted *mounted;
	size_t count;
	/* As in struct device, by the number of a mount. */
	bool *is_local;
	size_t local_count;
};

static int filesystems__open(struct devices *devices, struct dart_error *error)
{
	int fd = open(MOUNTS, O_RDONLY | O_CLOEXEC);

	return fd < 0 ?
		       dart_error__system(error, errno, "cannot open " MOUNTS) :
		       fd;
}

/*
 * The directories above a mount point are in the kernel's cache.  Beside the cache, this
 * could wait for a server that does not answer.
 */
static int open_cached(const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_CACHED,
	};
	int fd, i;

	/* A rename at the same time is a reason for EAGAIN, too. */
	for (i = 0; i < 3; i++) {
		fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}

/* The cache may lack the permissions of a directory: a disk has them. */
static int open_mount(const char *path, bool is_local)
{
	int fd = open_cached(path);

	return fd < 0 && errno == EAGAIN && is_local ?
		       open(path, O_PATH | O_CLOEXEC) :
		       fd;
}

/* Another mount may hide it. */
static bool is_visible(int fd, unsigned int id)
{
	struct statx status;

	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID,
		      &status) &&
	       status.stx_mnt_id == id;
}

static int identify(int fd, uint64_t *number, uint64_t *mount)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		  STATX_MNT_ID_UNIQUE | STATX_MNT_ID, &status))
		return -errno;
	*number = makedev(status.stx_dev_major, status.stx_dev_minor);
	*mount = status.stx_mnt_id;
	return 0;
}

/* Spaces and the like are octal numbers of three digits. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (text[1] - '0') << 6 | (text[2] - '0') << 3 |
				(text[3] - '0');
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static bool parse_line(char *line, struct mount_line *mount)
{
	unsigned int major_number, minor_number;
	char *rest = strstr(line, " - "), *save, *path;
	int at = 0;

	if (!rest || sscanf(line, "%u %u %u:%u %n", &mount->id, &mount->parent,
			    &major_number, &minor_number, &at) != 4)
		return false;
	*rest = '\0';
	mount->device = makedev(major_number, minor_number);
	mount->root = strtok_r(line + at, " ", &save);
	path = strtok_r(NULL, " ", &save);
	mount->type = strtok_r(rest + 3, " ", &save);
	if (!mount->root || !path || !mount->type)
		return false;
	unescape(path);
	mount->path = path;
	return true;
}

/* @names: each with spaces around. */
static bool is_one_of(const char *names, const char *name)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(names, word);
}

/*
 * @types: those without a disk have the word "nodev" before.  FUSE has a server, even
 * for a disk.
 */
static bool is_of_disk(const char *types, const char *type)
{
	char line[64];

	snprintf(line, sizeof(line), "\n\t%s\n", type);
	return strstr(types, line) && strcmp(type, "fuseblk");
}

/* An image is always full. */
static bool can_be_filled(const char *type)
{
	return !is_one_of(" cramfs erofs iso9660 romfs squashfs ", type);
}

/* A mount is listed behind its parent, or else it is not local. */
static int mark_local(struct mounts *mounts, const struct mount_line *mount,
		      const char *types)
{
	bool is_local =
		!strcmp(mount->path, "/") ||
		(mount->parent < mounts->local_count &&
		 mounts->is_local[mount->parent] &&
		 (is_of_disk(types, mount->type) ||
		  is_one_of(" devtmpfs overlay ramfs tmpfs ", mount->type)));
	size_t count = mount->id + 1024ul;
	bool *grown;

	if (mount->id >= mounts->local_count) {
		grown = reallocarray(mounts->is_local, count, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + mounts->local_count, 0,
		       count - mounts->local_count);
		mounts->is_local = grown;
		mounts->local_count = count;
	}
	mounts->is_local[mount->id] = is_local;
	return 0;
}

static struct mounted *find(const struct mounts *mounts, dev_t device)
{
	size_t i;

	for (i = 0; i < mounts->count; i++)
		if (mounts->mounted[i].device == device)
			return &mounts->mounted[i];
	return NULL;
}

/* The whole of a file system goes before a part, and a short path before a long one. */
static bool is_better(const struct mount_line *mount, bool is_whole,
		      const struct mounted *than)
{
	return !than || is_whole > than->is_whole ||
	       (is_whole == than->is_whole &&
		strlen(mount->path) < strlen(than->path));
}

static int keep(struct mounts *mounts, const struct mounted *mounted)
{
	struct mounted *known = find(mounts, mounted->device), *grown;

	if (known) {
		free(known->path);
		*known = *mounted;
		return 0;
	}
	grown = reallocarray(mounts->mounted, mounts->count + 1,
			     sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	mounts->mounted = grown;
	mounts->mounted[mounts->count++] = *mounted;
	return 0;
}

static int take_line(struct mounts *mounts, const struct mount_line *mount)
{
	struct mounted mounted = {
		.device = mount->device,
		.is_whole = !strcmp(mount->root, "/"),
		.is_local = mounts->is_local[mount->id],
	};
	int fd, ret;

	if (!is_better(mount, mounted.is_whole, find(mounts, mount->device)))
		return 0;
	fd = open_mount(mount->path, mounted.is_local);
	if (fd < 0)
		return 0;
	ret = is_visible(fd, mount->id) ? 0 : -ENOENT;
	ret = ret ?: identify(fd, &mounted.number, &mounted.mount);
	close(fd);
	if (ret)
		return 0;
	mounted.path = strdup(mount->path);
	if (!mounted.path)
		return -ENOMEM;
	ret = keep(mounts, &mounted);
	if (ret)
		free(mounted.path);
	return ret;
}

/* The text begins with a newline.  Returns -errno. */
static int read_types(char types[static TYPES_MAX])
{
	int fd = open(TYPES, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = read(fd, types + 1, TYPES_MAX - 2);
	close(fd);
	if (length < 0)
		return -EIO;
	*types = '\n';
	types[1 + length] = '\0';
	return 0;
}

static int read_mounts(struct mounts *mounts, const char *types)
{
	FILE *file = fopen(MOUNTS, "re");
	struct mount_line mount;
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	if (!file)
		return -errno;
	while (!ret && getline(&line, &size, file) > 0) {
		if (!parse_line(line, &mount))
			continue;
		ret = mark_local(mounts, &mount, types);
		if (!ret && is_of_disk(types, mount.type) &&
		    can_be_filled(mount.type))
			ret = take_line(mounts, &mount);
	}
	if (!ret && ferror(file))
		ret = -EIO;
	free(line);
	fclose(file);
	return ret;
}

static int filesystems__list(struct devices *devices)
{
	struct mounts mounts = {};
	const struct mounted *mounted;
	char types[TYPES_MAX];
	struct device *device;
	int ret;

	ret = read_types(types) ?: read_mounts(&mounts, types);
	while (mounts.count--) {
		mounted = &mounts.mounted[mounts.count];
		device = ret ? NULL :
			       devices__see(devices, mounted->number,
					    mounted->mount, mounted->path);
		if (device)
			device->is_local = mounted->is_local;
		free(mounted->path);
	}
	free(mounts.is_local);
	free(mounts.mounted);
	return ret;
}

static void filesystems__set_key(const struct device *device,
				 struct selector_key *key)
{
	key->object = device->number;
}

static int filesystems__select(const struct devices *devices,
			       const struct device *device,
			       struct selector *selector,
			       struct dart_error *error)
{
	uint64_t number, mount;
	int fd = open_mount(device->name, device->is_local), ret;

	if (fd < 0)
		return dart_error__system(error, errno, "cannot open %s",
					  device->name);
	if (identify(fd, &number, &mount) || number != device->number ||
	    mount != device->inode)
		ret = dart_error__set(error, ENODEV,
				      "%s is another file system",
				      device->name);
	else
		ret = selector__filesystem(selector, devices->follower.source,
					   fd, device->name, error);
	if (ret)
		close(fd);
	else
		selector->has_own_fd = true;
	return ret;
}

const struct devices_kind filesystems = {
	.what = "file systems",
	.open = filesystems__open,
	.changed = EPOLLPRI,
	.list = filesystems__list,
	.set_key = filesystems__set_key,
	.select = filesystems__select,
};

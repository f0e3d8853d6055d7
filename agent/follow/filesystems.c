// SPDX-License-Identifier: GPL-2.0-only
/* Follows the file systems of disks that PID 1 sees mounted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/region/mounts.h"
#include "devices.h"

#define TYPES "/proc/filesystems"
#define TYPES_MAX 8192

/* For each file system, the mount after which its entry is named. */
struct chosen {
	const struct mount **mounts;
	size_t count;
};

static int filesystems__open(struct devices *devices, struct dart_error *error)
{
	return mounts__watch(error);
}

/* @names: each with spaces around. */
static bool is_one_of(const char *names, const char *name)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(names, word);
}

/*
 * @types lists types without a block device after the word "nodev".  Some of these still use disks
 * or flash memory, which they find by their own names.  FUSE needs a server, even for a disk.
 */
static bool is_of_disk(const char *types, const char *type)
{
	char line[64];

	snprintf(line, sizeof(line), "\n\t%s\n", type);
	return is_one_of(" jffs2 ubifs zfs ", type) ||
	       (strstr(types, line) && strcmp(type, "fuseblk"));
}

/* An image is always full. */
static bool can_be_filled(const char *type)
{
	return !is_one_of(" cramfs erofs iso9660 romfs squashfs ", type);
}

/* The whole of a file system goes before a part, and a short path before a long one. */
static bool is_better(const struct mount *mount, const struct mount *than)
{
	const bool is_whole = !strcmp(mount->root, "/");
	const bool other_is = !strcmp(than->root, "/");
	const size_t length = strlen(mount->path), other = strlen(than->path);

	if (is_whole != other_is)
		return is_whole;
	return length != other ? length < other : strcmp(mount->path, than->path) < 0;
}

static int by_device(const void *a, const void *b)
{
	const struct mount *one = *(const struct mount *const *)a;
	const struct mount *other = *(const struct mount *const *)b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return is_better(one, other) ? -1 : is_better(other, one);
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

/* Of each file system of a disk, the best mount; chosen->mounts is freed by the caller. */
static int choose(const struct mounts *mounts, const char *types, struct chosen *chosen)
{
	const struct mount **found, *mount;
	size_t i, count = 0;

	found = calloc(mounts->count + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	for (i = 0; i < mounts->count; i++) {
		mount = &mounts->list[i];
		if (is_of_disk(types, mount->type) && can_be_filled(mount->type) &&
		    mounts__is_visible(mounts, mount))
			found[count++] = mount;
	}
	qsort(found, count, sizeof(*found), by_device);
	chosen->mounts = found;
	chosen->count = 0;
	for (i = 0; i < count; i++)
		if (!chosen->count || found[i]->device != found[chosen->count - 1]->device)
			found[chosen->count++] = found[i];
	return 0;
}

static int filesystems__list(struct devices *devices)
{
	struct chosen chosen = {};
	struct dart_error error;
	struct mounts mounts;
	char types[TYPES_MAX];
	size_t i;
	int ret;

	ret = read_types(types) ?: mounts__read(&mounts, &error);
	if (ret)
		return ret;
	ret = choose(&mounts, types, &chosen);
	for (i = 0; i < chosen.count; i++)
		devices__see(devices, chosen.mounts[i]->device,
			     chosen.mounts[i]->id, chosen.mounts[i]->path);
	free(chosen.mounts);
	mounts__free(&mounts);
	return ret;
}

static void filesystems__set_key(const struct device *device, struct selector_key *key)
{
	key->object = device->number;
}

static int filesystems__select(const struct devices *devices, const struct device *device,
			       struct selector *selector, struct dart_error *error)
{
	return selector__filesystem(selector, devices->follower.source, device->number,
				    device->name, device->name, error);
}

const struct devices_kind filesystems = {
	.what = "file systems",
	.open = filesystems__open,
	.changed = EPOLLPRI,
	.list = filesystems__list,
	.set_key = filesystems__set_key,
	.select = filesystems__select,
};

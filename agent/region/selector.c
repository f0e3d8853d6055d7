// SPDX-License-Identifier: GPL-2.0-only
/* Resolves the objects that requests select. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/base/entry_name.h"
#include "agent/base/namespace_socket.h"
#include "mounts.h"
#include "selector.h"

#define OWN_NETNS "/proc/self/ns/net"

static int selector__init(struct selector *selector, const struct source *source, int fd,
			  const char *label, struct dart_error *error)
{
	/* The name is not cleared, because it is large and written below. */
	memset(selector, 0, offsetof(struct selector, name));
	selector->source = source;
	selector->key.source = source->id;
	selector->fd = fd;
	return entry_name__of(selector->name, source->name, label, error);
}

static int find_netdev(int netns, const char *name, uint32_t *ifindex, struct dart_error *error)
{
	struct ifreq request = { };
	int fd, ret = 0;

	if (!*name || strlen(name) >= sizeof(request.ifr_name))
		return dart_error__set(error, ENODEV, "there is no interface '%s'", name);
	strcpy(request.ifr_name, name);

	fd = namespace_socket__open(netns, AF_UNIX, SOCK_DGRAM, 0);
	if (fd < 0)
		return dart_error__system(error, -fd, "cannot enter the network namespace");
	if (ioctl(fd, SIOCGIFINDEX, &request))
		ret = dart_error__system(error, errno, "there is no interface '%s'", name);
	else
		*ifindex = request.ifr_ifindex;
	close(fd);
	return ret;
}

static int check_netns(struct selector *selector, struct dart_error *error)
{
	struct statfs system;
	struct stat status;

	if (fstatfs(selector->fd, &system) || system.f_type != NSFS_MAGIC ||
	    fstat(selector->fd, &status) || ioctl(selector->fd, NS_GET_NSTYPE) != CLONE_NEWNET)
		return dart_error__set(error, EINVAL,
				       "the file descriptor is not a network namespace");
	selector->key.object = status.st_ino;
	return 0;
}

/* Sets *@label to the label of a device: "namespace/device", or "device" without a namespace. */
static int join_label(char both[static DART_CONTROL_ENTRY_NAME_MAX], const char **label,
		      const char *netdev, struct dart_error *error)
{
	if (netdev && *label &&
	    snprintf(both, DART_CONTROL_ENTRY_NAME_MAX, "%s/%s", *label,
		     netdev) >= DART_CONTROL_ENTRY_NAME_MAX)
		return dart_error__set(error, ENAMETOOLONG,
				       "the name of the namespace is too long");
	*label = netdev && *label ? both : netdev ?: *label;
	return 0;
}

int selector__add_interval(char name[static DART_CONTROL_ENTRY_NAME_MAX],
			   uint32_t gather_ms, struct dart_error *error)
{
	const bool is_seconds = gather_ms % 1000 == 0;
	size_t length = strlen(name);

	if (!gather_ms)
		return 0;
	if (snprintf(name + length, DART_CONTROL_ENTRY_NAME_MAX - length,
		     is_seconds ? "+%us" : "+%ums", is_seconds ? gather_ms / 1000 : gather_ms) <
	    (int)(DART_CONTROL_ENTRY_NAME_MAX - length))
		return 0;
	return dart_error__set(error, ENAMETOOLONG, "the name '%s' is too long (at most %d bytes)",
			       name, DART_CONTROL_ENTRY_NAME_MAX - 1);
}

int selector__gather(struct selector *selector, uint32_t gather_ms, struct dart_error *error)
{
	selector->key.gather_ms = gather_ms;
	return selector__add_interval(selector->name, gather_ms, error);
}

int selector__entry_name(char name[static DART_CONTROL_ENTRY_NAME_MAX], const struct source *source,
			 const struct selector_choice *choice, struct dart_error *error)
{
	char both[DART_CONTROL_ENTRY_NAME_MAX];
	const char *label = choice->netns ?: choice->disk ?: choice->cgroup ?: choice->filesystem;

	return join_label(both, &label, choice->netdev, error) ?:
		       entry_name__of(name, source->name, label, error) ?:
		       selector__add_interval(name, choice->gather_ms, error);
}

/*
 * Selects the network namespace that @fd refers to, called @label, or the own namespace if they are
 * -1 and NULL.  @netdev is the name of an interface there; NULL for a source that selects a
 * namespace.
 */
static int selector__netns(struct selector *selector, const struct source *source, int fd,
			   const char *label, const char *netdev, struct dart_error *error)
{
	char both[DART_CONTROL_ENTRY_NAME_MAX];
	int ret;

	ret = join_label(both, &label, netdev, error) ?:
		      selector__init(selector, source, fd, label, error);
	if (ret)
		return ret;

	if (fd < 0) {
		selector->fd = open(OWN_NETNS, O_RDONLY | O_CLOEXEC);
		if (selector->fd < 0)
			return dart_error__system(error, errno, "cannot open %s", OWN_NETNS);
		selector->has_own_fd = true;
	}
	ret = check_netns(selector, error);
	if (!ret && netdev)
		ret = find_netdev(selector->fd, netdev, &selector->key.ifindex, error);
	if (ret)
		selector__close(selector);
	return ret;
}

int selector__netns_inode(struct selector *selector, const struct source *source, uint32_t inode,
			  const char *label, struct dart_error *error)
{
	int ret = selector__init(selector, source, -1, label, error);

	selector->key.object = inode;
	return ret;
}

int selector__netdev(struct selector *selector, const struct source *source, int netns,
		     const struct selector_key *key, const char *label, struct dart_error *error)
{
	int ret = selector__init(selector, source, netns, label, error);

	selector->key.object = key->object;
	selector->key.ifindex = key->ifindex;
	return ret;
}

int selector__disk(struct selector *selector, const struct source *source,
		   int fd, const char *label, struct dart_error *error)
{
	struct stat status;
	int ret = selector__init(selector, source, fd, label, error);

	if (ret)
		return ret;
	if (fstat(fd, &status) || !S_ISBLK(status.st_mode))
		return dart_error__set(error, EINVAL, "the file descriptor is not a block device");
	selector->key.object = status.st_rdev;
	return 0;
}

int selector__cgroup(struct selector *selector, const struct source *source,
		     int fd, const char *path, struct dart_error *error)
{
	struct statfs system;
	struct stat status;
	int ret = selector__init(selector, source, fd, path, error);

	if (ret)
		return ret;
	if (fstatfs(fd, &system) || system.f_type != CGROUP2_SUPER_MAGIC || fstat(fd, &status) ||
	    !S_ISDIR(status.st_mode))
		return dart_error__set(error, EINVAL,
				       "the file descriptor is not a cgroup v2 directory");
	selector->key.object = status.st_ino;
	return 0;
}

int selector__filesystem(struct selector *selector, const struct source *source, dev_t device,
			 const char *path, const char *label, struct dart_error *error)
{
	int ret = selector__init(selector, source, -1, label, error);

	if (ret)
		return ret;
	selector->key.object = device;
	selector->path = strdup(path);
	return selector->path ? 0 : dart_error__no_memory(error);
}

/*
 * Checks that the client and dartd mean the same file system: the client may be in another mount
 * namespace.
 */
static int check_mount(int fd, const struct mount *mount, struct dart_error *error)
{
	struct statx status;

	if (fd < 0)
		return 0;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status))
		return dart_error__system(error, errno, "cannot tell the file system of '%s'",
					  mount->path);
	/* For a subvolume of btrfs, statx() returns another device number than mountinfo. */
	if (status.stx_mnt_id == mount->id ||
	    makedev(status.stx_dev_major, status.stx_dev_minor) == mount->device)
		return 0;
	return dart_error__set(error, ENODEV, "the host has another file system mounted at '%s'",
			       mount->path);
}

/*
 * The mount point: the path that root gave, or the path of the descriptor, or the name of the
 * entry.
 */
static const char *mount_point(const struct selector_choice *choice, char path[static PATH_MAX])
{
	char link[32];
	ssize_t length;

	if (choice->path || choice->fd < 0)
		return choice->path ?: choice->filesystem;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", choice->fd);
	length = readlink(link, path, PATH_MAX);
	if (length <= 0 || length == PATH_MAX)
		return choice->filesystem;
	path[length] = '\0';
	return path;
}

static int choose_filesystem(struct selector *selector, const struct source *source,
			     const struct selector_choice *choice, struct dart_error *error)
{
	char text[PATH_MAX];
	const char *path = mount_point(choice, text);
	const struct mount *mount;
	struct mounts mounts;
	int ret;

	ret = mounts__read(&mounts, error);
	if (ret)
		return ret;
	mount = mounts__at(&mounts, path);
	if (!mount)
		ret = dart_error__set(
			error, ENODEV,
			"'%s' is not a mount point of the host (findmnt --task 1 lists them)",
			path);
	else
		ret = check_mount(choice->fd, mount, error) ?:
			      selector__filesystem(selector, source, mount->device, path,
						   choice->filesystem, error);
	mounts__free(&mounts);
	return ret;
}

static int choose(struct selector *selector, const struct source *source,
		  const struct selector_choice *choice, struct dart_error *error)
{
	uint32_t inode;

	switch (source->selector) {
	case SOURCE_SELECTOR_NETNS:
		inode = selector__chosen_inode(source, choice);
		if (inode)
			return selector__netns_inode(selector, source, inode, choice->netns, error);
		/* fall through */
	case SOURCE_SELECTOR_NETDEV:
		return selector__netns(selector, source, choice->fd,
				       choice->netns, choice->netdev, error);
	case SOURCE_SELECTOR_DISK:
		return selector__disk(selector, source, choice->fd, choice->disk, error);
	case SOURCE_SELECTOR_CGROUP:
		return selector__cgroup(selector, source, choice->fd, choice->cgroup, error);
	case SOURCE_SELECTOR_FILESYSTEM:
		return choose_filesystem(selector, source, choice, error);
	default:
		return selector__init(selector, source, -1, NULL, error);
	}
}

int selector__choose(struct selector *selector, const struct source *source,
		     const struct selector_choice *choice, struct dart_error *error)
{
	int ret = selector__check(source, choice, error) ?: choose(selector, source, choice, error);

	if (ret)
		return ret;
	selector->is_deferrable = choice->is_deferrable;
	ret = selector__gather(selector, choice->gather_ms, error);
	if (ret)
		selector__close(selector);
	return ret;
}

void selector__close(struct selector *selector)
{
	if (selector->has_own_fd)
		close(selector->fd);
	selector->has_own_fd = false;
	free(selector->path);
	selector->path = NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Follows the disks of the host: lists /sys/block, and reads uevents of the kernel. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/base/kernel_messages.h"
#include "devices.h"

#define BLOCK "/sys/block"

static int disks__open(struct devices *devices, struct dart_error *error)
{
	devices->fd = open(BLOCK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (devices->fd < 0)
		return dart_error__system(error, errno, "cannot open " BLOCK);
	return kernel_messages__open(NETLINK_KOBJECT_UEVENT, KERNEL_MESSAGES_UEVENTS, NULL, error);
}

/*
 * Reads /sys/block/NAME/dev and the inode of the directory.  -ENOENT, -ENODEV: the disk is gone;
 * other errors say nothing about the disk.
 */
static int read_number(int block, const char *name, uint64_t *number, uint64_t *inode)
{
	unsigned int major_number, minor_number;
	char path[NAME_MAX + 8], text[32];
	struct stat status;
	ssize_t length;
	int fd;

	if (fstatat(block, name, &status, 0))
		return -errno;
	snprintf(path, sizeof(path), "%s/dev", name);
	fd = openat(block, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	/* The directory is being removed. */
	if (length <= 0)
		return -ENOENT;
	text[length] = '\0';
	if (sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
		return -ENOENT;
	*number = makedev(major_number, minor_number);
	*inode = status.st_ino;
	return 0;
}

/* @name: in /sys, where '!' stands for the '/' of /dev.  Returns -errno if that says nothing. */
static int see(struct devices *devices, const char *name)
{
	char device[NAME_MAX + 1];
	uint64_t number, inode;
	char *at;
	int ret;

	if (strlen(name) >= sizeof(device))
		return 0;
	ret = read_number(devices->fd, name, &number, &inode);
	if (ret)
		return ret == -ENOENT || ret == -ENODEV ? 0 : ret;
	strcpy(device, name);
	for (at = device; (at = strchr(at, '!'));)
		*at = '/';
	devices__see(devices, number, inode, device);
	return 0;
}

static int disks__list(struct devices *devices)
{
	DIR *directory = opendir(BLOCK);
	struct dirent *file;
	int ret = 0;

	if (!directory)
		return -errno;
	while (!ret && (file = readdir(directory)))
		if (*file->d_name != '.')
			ret = see(devices, file->d_name);
	closedir(directory);
	return ret;
}

/* A message: "add@/devices/...", then words "KEY=VALUE", each ended by a NUL. */
static const char *find_value(const char *bytes, size_t length, const char *key)
{
	const char *end = bytes + length, *at;
	size_t key_length = strlen(key);

	for (at = bytes; at < end; at += strlen(at) + 1)
		if (!strncmp(at, key, key_length) && at[key_length] == '=')
			return at + key_length + 1;
	return "";
}

static void disks__take(struct devices *devices, char *bytes, size_t length)
{
	const char *path = find_value(bytes, length, "DEVPATH");
	const char *action = find_value(bytes, length, "ACTION");
	const char *name = strrchr(path, '/');

	if (strcmp(find_value(bytes, length, "SUBSYSTEM"), "block") ||
	    strcmp(find_value(bytes, length, "DEVTYPE"), "disk"))
		return;
	if (!strcmp(action, "add") && name) {
		if (see(devices, name + 1))
			follower__look_again(&devices->follower);
	} else if (!strcmp(action, "remove")) {
		devices__lose(devices, makedev(atoi(find_value(bytes, length, "MAJOR")),
					       atoi(find_value(bytes, length, "MINOR"))));
	}
}

static void disks__set_key(const struct device *device, struct selector_key *key)
{
	key->object = device->number;
}

/* A disk without a device file: /sys still has its number, or the disk has been removed. */
static int cannot_open(const struct devices *devices, const struct device *device, const char *path,
		       int code, struct dart_error *error)
{
	char name[NAME_MAX + 1];
	uint64_t number, inode;
	char *at;
	int ret;

	if (code != ENOENT)
		return dart_error__system(error, code, "cannot open %s", path);
	snprintf(name, sizeof(name), "%s", device->name);
	for (at = name; (at = strchr(at, '/'));)
		*at = '!';
	ret = read_number(devices->fd, name, &number, &inode);
	if (ret || number != device->number)
		return dart_error__system(error, ret ? -ret : ENOENT, "cannot open %s", path);
	return dart_error__set(
		error, ENXIO,
		"the host has the disk %s, and dartd no device file %s (start dartd with the /dev of the host)",
		device->name, path);
}

static int disks__select(const struct devices *devices, const struct device *device,
			 struct selector *selector, struct dart_error *error)
{
	char path[NAME_MAX + 8];
	struct stat status;
	int fd, ret;

	snprintf(path, sizeof(path), "/dev/%s", device->name);
	/* Devices that dartd's service may not open have a number all the same. */
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return cannot_open(devices, device, path, errno, error);
	if (fstat(fd, &status) || status.st_rdev != device->number)
		ret = dart_error__set(error, ENODEV, "%s is another disk", path);
	else
		ret = selector__disk(selector, devices->follower.source, fd, device->name, error);
	if (ret)
		close(fd);
	else
		selector->has_own_fd = true;
	return ret;
}

const struct devices_kind disks = {
	.what = "disks",
	.open = disks__open,
	.list = disks__list,
	.take = disks__take,
	.set_key = disks__set_key,
	.select = disks__select,
};

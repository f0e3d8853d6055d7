// SPDX-License-Identifier: GPL-2.0-only
/* The I/O counters of block devices. */
#include "disk.h"

#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/part_stat.h>
#include <linux/slab.h>

#include <linux/dart_zero.h>

#include "kmod/extents/percpu.h"

struct dart_disk {
	struct dart_percpu percpu;
	struct inode *inode;		/* of the device; it owns the counters */
};

static void disk_free(struct dart_percpu *percpu)
{
	struct dart_disk *disk = container_of(percpu, struct dart_disk, percpu);

	iput(disk->inode);
	kfree(disk);
}

/* When a device is removed, the kernel takes its inode out of the hash table. */
static bool disk_has_ended(const struct dart_percpu *percpu)
{
	const struct dart_disk *disk = container_of(percpu, const struct dart_disk, percpu);

	return inode_unhashed(disk->inode);
}

/*
 * Takes a reference to the inode of the device that @file refers to; NULL if the device no longer
 * exists.  An O_PATH file only has the inode of the name.  So the device is looked up, but not
 * opened: the caller's device cgroup may forbid that, and the counters need no access to the data.
 */
static struct inode *hold_device(const struct file *file)
{
	if (file->f_mode & FMODE_PATH)
		return ilookup(blockdev_superblock, file_inode(file)->i_rdev);
	ihold(file->f_mapping->host);
	return file->f_mapping->host;
}

struct inode *dart_disk_hold(int fd)
{
	struct file *file = fget_raw(fd);
	struct inode *inode;

	if (!file)
		return ERR_PTR(-EBADF);
	if (S_ISBLK(file_inode(file)->i_mode))
		inode = hold_device(file) ?: ERR_PTR(-ENODEV);
	else
		inode = ERR_PTR(-EINVAL);
	fput(file);
	return inode;
}

struct dart_percpu *dart_disk_open(const struct dart_source *source,
				   const struct dart_zero_window *window)
{
	struct inode *inode = dart_disk_hold(window->fd);
	struct block_device *device;
	struct dart_disk *disk;

	if (IS_ERR(inode))
		return ERR_CAST(inode);
	disk = kmalloc(sizeof(*disk), GFP_KERNEL_ACCOUNT);
	if (!disk) {
		iput(inode);
		return ERR_PTR(-ENOMEM);
	}
	disk->inode = inode;
	device = I_BDEV(inode);
	dart_percpu_init(&disk->percpu, device->bd_stats,
			 sizeof(*device->bd_stats), "disk_stats", disk_free);
	disk->percpu.has_ended = disk_has_ended;
	return &disk->percpu;
}

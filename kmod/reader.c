// SPDX-License-Identifier: GPL-2.0-only
/* Read-only files of a region, for processes that only read. */
#include "reader.h"

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include <linux/dart_zero.h>

#include "ioctl.h"
#include "region.h"

static int reader_release(struct inode *inode, struct file *file)
{
	const struct dart_region *region = file->private_data;

	fput(region->file);
	return 0;
}

/* The mapping belongs to the region's file, so removed extents leave it, too. */
static int reader_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct dart_region *region = file->private_data;

	vma_set_file(vma, region->file);
	return dart_region_mmap(region, vma);
}

static long reader_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	return dart_ioctl(file->private_data, false, command, argument);
}

static const struct file_operations reader_fops = {
	.owner = THIS_MODULE,
	.release = reader_release,
	.mmap = reader_mmap,
	.unlocked_ioctl = reader_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct file *reader_new(struct dart_region *region)
{
	struct file *file = anon_inode_getfile("[dart_region]", &reader_fops, region, O_RDONLY);

	if (!IS_ERR(file))
		get_file(region->file);
	return file;
}

long dart_reader_open(struct dart_region *region, struct dart_zero_reader __user *user)
{
	struct dart_zero_reader reader;
	struct file *file;
	int fd;

	if (copy_from_user(&reader, user, sizeof(reader)))
		return -EFAULT;
	if (reader.size != sizeof(reader) || reader.flags || reader.fd || reader.reserved)
		return -EINVAL;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = reader_new(region);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	if (put_user(fd, &user->fd)) {
		fput(file);
		put_unused_fd(fd);
		return -EFAULT;
	}
	fd_install(fd, file);
	return 0;
}

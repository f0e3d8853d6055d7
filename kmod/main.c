// SPDX-License-Identifier: GPL-2.0-only
/* /dev/dart_zero: see <linux/dart_zero.h>. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "compat.h"
#include "ioctl.h"
#include "region.h"

static int dart_open(struct inode *inode, struct file *file)
{
	struct dart_region *region = dart_region_new(file->f_mapping);

	if (IS_ERR(region))
		return PTR_ERR(region);

	file->private_data = region;
	return nonseekable_open(inode, file);
}

static int dart_release(struct inode *inode, struct file *file)
{
	dart_region_free(file->private_data);
	return 0;
}

static int dart_mmap(struct file *file, struct vm_area_struct *vma)
{
	return dart_region_mmap(file->private_data, vma);
}

static const struct file_operations dart_fops = {
	.owner = THIS_MODULE,
	.open = dart_open,
	.release = dart_release,
	.mmap = dart_mmap,
	.unlocked_ioctl = dart_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice dart_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dart_zero",
	.fops = &dart_fops,
	.mode = 0600,
};

module_misc_device(dart_device);

MODULE_DESCRIPTION("Kernel counters and eBPF maps side by side");
MODULE_LICENSE("GPL");
DART_IMPORT_NS(BPF_INTERNAL);

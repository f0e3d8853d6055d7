// SPDX-License-Identifier: GPL-2.0-only
/* The module and its device, /dev/dart_zero: see <linux/dart_zero.h>. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sizes.h>

#include <linux/dart_zero.h>

#include "ioctl.h"
#include "kmod/base/compat.h"
#include "kmod/extents/borrowed.h"
#include "kmod/extents/counters.h"
#include "kmod/extents/extent.h"
#include "kmod/extents/quarantine.h"
#include "kmod/records/gather.h"
#include "kmod/records/oom_watch.h"
#include "kmod/samplers/question.h"
#include "kmod/samplers/rdma_port.h"
#include "kmod/samplers/sockets.h"
#include "kmod/windows/netdev.h"
#include "objects/namespace.h"
#include "reader.h"
#include "region.h"

static unsigned int capacity = 4096;
module_param(capacity, uint, 0444);
MODULE_PARM_DESC(capacity, "MiB that a region can show: 1 to 1048576 (4096)");

static bool windows = true;
module_param(windows, bool, 0444);
MODULE_PARM_DESC(windows, "show pages of the kernel, not only records, slabs and maps (1)");

unsigned long dart_region_pages __ro_after_init;
bool dart_region_has_windows __ro_after_init;

static int dart_open(struct inode *inode, struct file *file)
{
	struct dart_region *region = dart_region_new(file);

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

static ssize_t dart_read(struct file *file, char __user *user, size_t size, loff_t *position)
{
	struct dart_region *region = file->private_data;

	return dart_events_read(&region->events, user, size, !(file->f_flags & O_NONBLOCK));
}

static __poll_t dart_poll(struct file *file, poll_table *table)
{
	struct dart_region *region = file->private_data;

	return dart_events_poll(&region->events, file, table);
}

static long dart_device_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	bool is_writer = file->f_mode & FMODE_WRITE;

	if (command == DART_ZERO_IOC_OPEN_READER && is_writer)
		return dart_reader_open(file->private_data, (void __user *)argument);
	return dart_ioctl(file->private_data, is_writer, command, argument);
}

static const struct file_operations dart_fops = {
	.owner = THIS_MODULE,
	.open = dart_open,
	.release = dart_release,
	.read = dart_read,
	.poll = dart_poll,
	.mmap = dart_mmap,
	.unlocked_ioctl = dart_device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice dart_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dart_zero",
	.fops = &dart_fops,
	.mode = 0600,
};

static int __init dart_init(void)
{
	int ret;

	if (!capacity || capacity > SZ_1M) {
		pr_err("capacity=%u is not from 1 to %u\n", capacity, SZ_1M);
		return -EINVAL;
	}
	dart_region_pages = (unsigned long)capacity << (20 - PAGE_SHIFT);
	dart_region_has_windows = windows;

	ret = dart_namespace_init();
	if (ret)
		return ret;
	ret = dart_netdev_init();
	if (ret)
		goto err_namespace;
	ret = dart_question_init();
	if (ret)
		goto err_netdev;
	ret = dart_gather_init();
	if (ret)
		goto err_question;
	ret = dart_namespace_sampler_init();
	if (ret)
		goto err_gather;
	ret = dart_rdma_sampler_init();
	if (ret)
		goto err_namespace_sampler;
	ret = dart_oom_watch_init();
	if (ret)
		goto err_rdma_sampler;
	ret = dart_counters_init();
	if (ret)
		goto err_oom_watch;
	/* The last step, because the device can be opened from now on. */
	ret = misc_register(&dart_device);
	if (ret)
		goto err_counters;
	return 0;

err_counters:
	dart_counters_exit();
err_oom_watch:
	dart_oom_watch_exit();
err_rdma_sampler:
	dart_rdma_sampler_exit();
err_namespace_sampler:
	dart_namespace_sampler_exit();
err_gather:
	dart_gather_exit();
err_question:
	dart_question_exit();
err_netdev:
	dart_netdev_exit();
err_namespace:
	dart_namespace_exit();
	return ret;
}

static void __exit dart_exit(void)
{
	misc_deregister(&dart_device);
	dart_quarantine_exit();
	dart_oom_watch_exit();
	dart_rdma_sampler_exit();
	dart_namespace_sampler_exit();
	dart_gather_exit();
	dart_question_exit();
	dart_netdev_exit();
	dart_namespace_exit();
	dart_borrowed_exit();
	dart_counters_exit();
}

module_init(dart_init);
module_exit(dart_exit);

MODULE_DESCRIPTION("Kernel counters and eBPF maps side by side");
MODULE_LICENSE("GPL");
DART_IMPORT_NS(BPF_INTERNAL);

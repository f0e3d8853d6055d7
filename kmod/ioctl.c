// SPDX-License-Identifier: GPL-2.0-only
/* The ioctls.  These functions check all arguments before a region sees them. */
#include "ioctl.h"

#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kmod/extents/counters.h"
#include "kmod/extents/extent.h"
#include "kmod/extents/map.h"
#include "kmod/extents/record_pages.h"
#include "kmod/extents/slab.h"
#include "kmod/windows/window.h"
#include "region.h"

bool dart_ioctl_may_add(const struct dart_region *region)
{
	return capable(CAP_SYS_ADMIN) &&
	       file_ns_capable(region->file, &init_user_ns, CAP_SYS_ADMIN);
}

static bool is_zero(const struct dart_zero_extent *info)
{
	return !memchr_inv(info, 0, sizeof(*info));
}

/*
 * Adds @extent (which may be an error to return) and writes its description to @user.  Removes it
 * again if @user cannot be written.
 */
static int add(struct dart_region *region, struct dart_extent *extent,
	       struct dart_zero_extent __user *user)
{
	struct dart_zero_extent info;
	int ret;

	if (IS_ERR(extent))
		return PTR_ERR(extent);

	ret = dart_region_add(region, extent, &info);
	if (ret) {
		dart_extent_free(extent);
		return ret;
	}

	if (copy_to_user(user, &info, sizeof(info))) {
		dart_region_remove(region, info.id);
		return -EFAULT;
	}
	return 0;
}

static int add_window(struct dart_region *region, struct dart_zero_window __user *user)
{
	struct dart_zero_window window;
	int ret;

	if (copy_from_user(&window, user, sizeof(window)))
		return -EFAULT;
	if (window.size != sizeof(window) || window.flags || !is_zero(&window.extent))
		return -EINVAL;
	if (!dart_ioctl_may_add(region))
		return -EPERM;
	if (!dart_region_has_windows)
		return -EACCES;

	/*
	 * A window shows kernel memory as /proc/kcore does and cannot change it:
	 * a matter of confidentiality, not of integrity.
	 */
	ret = security_locked_down(LOCKDOWN_KCORE);
	if (ret)
		return ret;

	return add(region, dart_window_open(&window), &user->extent);
}

static int add_map(struct dart_region *region, struct dart_zero_map __user *user)
{
	struct dart_zero_map map;

	if (copy_from_user(&map, user, sizeof(map)))
		return -EFAULT;
	if (map.size != sizeof(map) || map.flags || map.reserved || !is_zero(&map.extent))
		return -EINVAL;
	if (!dart_ioctl_may_add(region))
		return -EPERM;

	return add(region, dart_map_open(map.fd), &user->extent);
}

static int add_counters(struct dart_region *region, struct dart_zero_counters __user *user)
{
	struct dart_zero_counters counters;
	size_t length;

	if (copy_from_user(&counters, user, sizeof(counters)))
		return -EFAULT;
	if (counters.size != sizeof(counters) || counters.reserved ||
	    counters.flags & ~DART_ZERO_COUNTERS_CREATE || !is_zero(&counters.extent))
		return -EINVAL;
	length = strnlen(counters.name, sizeof(counters.name));
	if (memchr_inv(counters.name + length, 0, sizeof(counters.name) - length) ||
	    length == sizeof(counters.name))
		return -EINVAL;
	if (!dart_ioctl_may_add(region))
		return -EPERM;
	/* The pages hold only these counters, but they are per-CPU memory of the kernel. */
	if (!dart_region_has_windows)
		return -EACCES;

	return add(region, dart_counters_open(&counters), &user->extent);
}

static int add_slab(struct dart_region *region, struct dart_zero_slab __user *user)
{
	struct dart_zero_slab slab;

	if (copy_from_user(&slab, user, sizeof(slab)))
		return -EFAULT;
	if (slab.size != sizeof(slab) || slab.flags & ~DART_ZERO_SLAB_RECORDS || slab.reserved ||
	    !slab.pages || !is_zero(&slab.extent))
		return -EINVAL;
	if (!dart_ioctl_may_add(region))
		return -EPERM;

	return add(region,
		   slab.flags & DART_ZERO_SLAB_RECORDS ? dart_record_pages_open(slab.pages) :
							 dart_slab_open(slab.pages),
		   &user->extent);
}

static int add_slice(struct dart_region *region, struct dart_zero_slice __user *user)
{
	struct dart_zero_slice slice;
	struct file *file;
	int ret, fd;

	if (copy_from_user(&slice, user, sizeof(slice)))
		return -EFAULT;
	if (slice.size != sizeof(slice) || slice.flags || !slice.pages ||
	    slice.pages > DART_SLICE_PAGES_MAX || slice.id || slice.fd || slice.data)
		return -EINVAL;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	ret = dart_region_add_slice(region, &slice, &file);
	if (ret)
		goto err_fd;

	slice.fd = fd;
	if (copy_to_user(user, &slice, sizeof(slice))) {
		ret = -EFAULT;
		goto err_file;
	}
	fd_install(fd, file);
	return 0;

err_file:
	fput(file);
	dart_region_remove(region, slice.id);
err_fd:
	put_unused_fd(fd);
	return ret;
}

static int adopt_slice(struct dart_region *region, struct dart_zero_adoption __user *user)
{
	struct dart_zero_adoption adoption;
	struct dart_slice *slice;
	struct file *file;
	bool is_shown;
	int ret;

	if (copy_from_user(&adoption, user, sizeof(adoption)))
		return -EFAULT;
	if (adoption.size != sizeof(adoption) || adoption.flags || adoption.pages || adoption.id ||
	    adoption.reserved || adoption.data || !is_zero(&adoption.slab))
		return -EINVAL;
	/* The slab shows the slices of other processes, too. */
	if (!dart_ioctl_may_add(region))
		return -EPERM;

	file = fget(adoption.fd);
	if (!file)
		return -EBADF;
	slice = dart_slice_of(file);
	ret = slice ? dart_region_adopt(region, slice, &adoption, &is_shown) : -EINVAL;
	if (ret == -EEXIST && put_user(adoption.id, &user->id))
		ret = -EFAULT;
	if (!ret && copy_to_user(user, &adoption, sizeof(adoption))) {
		dart_region_remove(region, adoption.id);
		if (!is_shown)
			dart_region_remove(region, adoption.slab.id);
		ret = -EFAULT;
	}
	fput(file);
	return ret;
}

static int list_namespaces(struct dart_region *region, struct dart_zero_namespaces __user *user)
{
	struct dart_zero_namespaces list;
	u32 *inodes;
	u64 change;
	u32 room;
	int ret;

	if (copy_from_user(&list, user, sizeof(list)))
		return -EFAULT;
	if (list.size != sizeof(list) || list.reserved || list.flags & ~DART_ZERO_NAMESPACES_WATCH)
		return -EINVAL;
	if (!dart_ioctl_may_add(region))
		return -EPERM;

	room = min_t(u32, list.count, SZ_1M);
	inodes = kvcalloc(room, sizeof(*inodes), GFP_KERNEL);
	if (!inodes)
		return -ENOMEM;

	ret = dart_namespace_list(inodes, room, &list.count, &change);
	if (put_user(list.count, &user->count))
		ret = -EFAULT;
	if (!ret && copy_to_user(u64_to_user_ptr(list.inodes), inodes,
				 array_size(list.count, sizeof(*inodes))))
		ret = -EFAULT;
	if (!ret)
		dart_namespace_watch_set(&region->namespaces,
					 list.flags & DART_ZERO_NAMESPACES_WATCH, change);
	kvfree(inodes);
	return ret;
}

static int remove(struct dart_region *region, const struct dart_zero_remove __user *user)
{
	struct dart_zero_remove remove;

	if (copy_from_user(&remove, user, sizeof(remove)))
		return -EFAULT;
	if (remove.size != sizeof(remove) || remove.flags || remove.reserved)
		return -EINVAL;

	return dart_region_remove(region, remove.id);
}

static int list(struct dart_region *region, struct dart_zero_list __user *user)
{
	struct dart_zero_extent *infos;
	struct dart_zero_list list;
	u32 room;
	int ret;

	if (copy_from_user(&list, user, sizeof(list)))
		return -EFAULT;
	if (list.size != sizeof(list))
		return -EINVAL;

	room = min_t(u32, list.count, DART_EXTENTS_MAX);
	infos = kvcalloc(room, sizeof(*infos), GFP_KERNEL);
	if (!infos)
		return -ENOMEM;

	ret = dart_region_list(region, infos, room, &list.count);
	if (put_user(list.count, &user->count))
		ret = -EFAULT;
	if (!ret && copy_to_user(u64_to_user_ptr(list.extents), infos,
				 array_size(list.count, sizeof(*infos))))
		ret = -EFAULT;
	kvfree(infos);
	return ret;
}

static int info(struct dart_region *region, struct dart_zero_info __user *user)
{
	struct dart_zero_info info;

	if (copy_from_user(&info, user, sizeof(info)))
		return -EFAULT;
	if (info.size != sizeof(info) ||
	    memchr_inv(&info.abi_version, 0,
		       sizeof(info) - offsetofend(struct dart_zero_info, size)))
		return -EINVAL;

	dart_region_info(region, &info);
	return copy_to_user(user, &info, sizeof(info)) ? -EFAULT : 0;
}

static int count_quarantine(struct dart_region *region, struct dart_zero_quarantine __user *user)
{
	struct dart_zero_quarantine quarantine;

	if (copy_from_user(&quarantine, user, sizeof(quarantine)))
		return -EFAULT;
	if (quarantine.size != sizeof(quarantine) || quarantine.extents || quarantine.pages)
		return -EINVAL;

	dart_quarantine_count(&region->quarantine, &quarantine);
	return copy_to_user(user, &quarantine, sizeof(quarantine)) ? -EFAULT : 0;
}

/* True for commands that readers may use, too. */
static bool changes_nothing(unsigned int command)
{
	return command == DART_ZERO_IOC_INFO || command == DART_ZERO_IOC_LIST;
}

long dart_ioctl(struct dart_region *region, bool is_writer,
		unsigned int command, unsigned long argument)
{
	void __user *user = (void __user *)argument;

	if (!is_writer && !changes_nothing(command))
		return -EBADF;

	switch (command) {
	case DART_ZERO_IOC_INFO:
		return info(region, user);
	case DART_ZERO_IOC_ADD_WINDOW:
		return add_window(region, user);
	case DART_ZERO_IOC_ADD_MAP:
		return add_map(region, user);
	case DART_ZERO_IOC_ADD_COUNTERS:
		return add_counters(region, user);
	case DART_ZERO_IOC_ADD_SLAB:
		return add_slab(region, user);
	case DART_ZERO_IOC_ADD_RECORD:
		return dart_ioctl_add_record(region, user);
	case DART_ZERO_IOC_ADD_SLICE:
		return add_slice(region, user);
	case DART_ZERO_IOC_ADOPT_SLICE:
		return adopt_slice(region, user);
	case DART_ZERO_IOC_NAMESPACES:
		return list_namespaces(region, user);
	case DART_ZERO_IOC_QUARANTINE:
		return count_quarantine(region, user);
	case DART_ZERO_IOC_REMOVE:
		return remove(region, user);
	case DART_ZERO_IOC_LIST:
		return list(region, user);
	default:
		return -ENOTTY;
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples mounted file systems.  Such a call can hang for as long as a server does not
 * answer, so each file system has its own work item, for which nothing else waits, and
 * those of disks have a separate queue.
 */
#include "filesystem_sampler.h"

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/statfs.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <linux/dart_zero.h>

#include "sample_trace.h"
#include "sampler.h"

/* So long ADD_RECORD waits for the first values of a disk, and of others. */
#define FIRST_OF_DISK_MS 200
#define FIRST_OF_OTHER_MS 20

/* So many file systems of no disk can hang before the others of no disk wait for them. */
#define HUNG_MAX 64

/* What a sampler and its work item share: the last to finish frees it. */
struct filesystem {
	refcount_t references;
	dev_t device;
	bool is_of_disk;
	struct work_struct work;
	struct completion first;	/* the work item has run */

	spinlock_t lock;		/* guards the members below */
	bool is_running;
	bool has_new;			/* @ret, @time and @values */
	int ret;
	u64 time;			/* CLOCK_BOOTTIME, ns */
	struct dart_zero_filesystem values;

	char path[];
};

struct filesystem_sampler {
	struct dart_sampler sampler;
	struct filesystem *filesystem;
};

static struct workqueue_struct *disk_queue, *other_queue;

int dart_filesystem_init(void)
{
	disk_queue = alloc_workqueue("dart_zero_disk_fs", WQ_UNBOUND, 0);
	if (!disk_queue)
		return -ENOMEM;
	other_queue = alloc_workqueue("dart_zero_fs", WQ_UNBOUND, HUNG_MAX);
	if (other_queue)
		return 0;
	destroy_workqueue(disk_queue);
	return -ENOMEM;
}

void dart_filesystem_exit(void)
{
	destroy_workqueue(disk_queue);
	destroy_workqueue(other_queue);
}

static void filesystem_put(struct filesystem *filesystem)
{
	if (refcount_dec_and_test(&filesystem->references))
		kfree(filesystem);
}

static bool is_mount_root(const struct path *path)
{
	return path->dentry == path->mnt->mnt_root;
}

/* Returns @code of a question: all but the end of a mount can be temporary. */
static int answer(int code)
{
	switch (code) {
	case 0:
		return 0;
	case -ENOENT:
	case -ENOTDIR:
	case -ENODEV:
		return -ENODEV;
	default:
		return -EAGAIN;
	}
}

/* As show_type() of fs/proc_namespace.c. */
static void set_type(struct dart_zero_filesystem *values,
		     const struct super_block *super)
{
	const char *subtype = super->s_subtype;

	scnprintf(values->fstype, sizeof(values->fstype), "%s%s%s",
		  super->s_type->name, subtype ? "." : "", subtype ?: "");
}

/* Only an eBPF program can see what is mounted. */
static void set_device(struct dart_zero_filesystem *values,
		       const struct vfsmount *mount)
{
	struct dart_zero_sample sample = {
		.source = DART_ZERO_SOURCE_FILESYSTEM,
		.values = { (unsigned long)mount },
	};

	static_assert(sizeof(struct dart_zero_mount_device) ==
		      sizeof(values->device));
	trace_dart_zero_sample(&sample, NULL);
	if (sample.answer == DART_ZERO_ANSWER_VALUES)
		memcpy(values->device, sample.values, sizeof(values->device));
}

/* The mount is referenced only meanwhile.  -ENODEV: it is not there any more. */
static int ask(const struct filesystem *filesystem,
	       struct dart_zero_filesystem *values)
{
	struct kstatfs status;
	struct path path;
	int ret;

	/* An automount at the end of the path is not triggered. */
	ret = answer(kern_path(filesystem->path, 0, &path));
	if (ret)
		return ret;
	ret = -ENODEV;
	if (is_mount_root(&path) &&
	    path.dentry->d_sb->s_dev == filesystem->device)
		ret = answer(vfs_statfs(&path, &status));
	if (!ret) {
		set_type(values, path.dentry->d_sb);
		set_device(values, path.mnt);
	}
	path_put(&path);
	if (ret)
		return ret;

	values->size = status.f_blocks * status.f_frsize;
	values->free = status.f_bfree * status.f_frsize;
	values->available = status.f_bavail * status.f_frsize;
	values->files = status.f_files;
	values->files_free = status.f_ffree;
	values->read_only = !!(status.f_flags & ST_RDONLY);
	return 0;
}

/* A kernel thread has the root directory and the mounts of PID 1. */
static void ask_work(struct work_struct *work)
{
	struct filesystem *filesystem =
		container_of(work, struct filesystem, work);
	struct dart_zero_filesystem values = { };
	u64 time = ktime_get_boottime_ns();
	int ret = ask(filesystem, &values);

	spin_lock(&filesystem->lock);
	filesystem->ret = ret;
	filesystem->time = time;
	filesystem->values = values;
	filesystem->has_new = true;
	filesystem->is_running = false;
	spin_unlock(&filesystem->lock);
	complete_all(&filesystem->first);
	filesystem_put(filesystem);
	/* dart_filesystem_exit() waits for the return of this function. */
	module_put(THIS_MODULE);
}

/* Called with the lock held, when the work item does not run. */
static void start(struct filesystem *filesystem)
{
	filesystem->is_running = true;
	filesystem->has_new = false;
	refcount_inc(&filesystem->references);
	/* The region holds the module. */
	__module_get(THIS_MODULE);
	queue_work(filesystem->is_of_disk ? disk_queue : other_queue,
		   &filesystem->work);
}

/* The values are those that the work item of the last call has found. */
static int sample(struct dart_sampler *base, void *values, u64 *time)
{
	struct filesystem *filesystem =
		container_of(base, struct filesystem_sampler, sampler)
			->filesystem;
	int ret = -EAGAIN;

	spin_lock(&filesystem->lock);
	if (filesystem->has_new) {
		ret = filesystem->ret;
		*time = filesystem->time;
		memcpy(values, &filesystem->values,
		       sizeof(filesystem->values));
	}
	if (!filesystem->is_running && ret != -ENODEV)
		start(filesystem);
	spin_unlock(&filesystem->lock);
	return ret;
}

static void sampler_free(struct dart_sampler *base)
{
	struct filesystem_sampler *sampler =
		container_of(base, struct filesystem_sampler, sampler);

	filesystem_put(sampler->filesystem);
	kfree(sampler);
}

static const struct dart_sampler_kind filesystem_kind = {
	.name = "dart_zero_filesystem",
	.length = sizeof(struct dart_zero_filesystem),
	.sample = sample,
	.free = sampler_free,
};

/* FUSE has processes that answer, even for its disks. */
static bool is_of_disk(const struct super_block *super)
{
	const int flags = super->s_type->fs_flags;

	return flags & FS_REQUIRES_DEV && !(flags & FS_HAS_SUBTYPE);
}

static struct filesystem *filesystem_new(const struct path *path)
{
	struct filesystem *filesystem;
	char *page, *text;

	if (!is_mount_root(path))
		return ERR_PTR(-EINVAL);
	page = (char *)__get_free_page(GFP_KERNEL);
	if (!page)
		return ERR_PTR(-ENOMEM);
	text = d_path(path, page, PATH_MAX);
	if (IS_ERR(text)) {
		filesystem = ERR_CAST(text);
		goto out;
	}
	filesystem = kzalloc(struct_size(filesystem, path, strlen(text) + 1),
			     GFP_KERNEL_ACCOUNT);
	if (!filesystem) {
		filesystem = ERR_PTR(-ENOMEM);
		goto out;
	}
	refcount_set(&filesystem->references, 1);
	filesystem->device = path->dentry->d_sb->s_dev;
	filesystem->is_of_disk = is_of_disk(path->dentry->d_sb);
	INIT_WORK(&filesystem->work, ask_work);
	init_completion(&filesystem->first);
	spin_lock_init(&filesystem->lock);
	strcpy(filesystem->path, text);
out:
	free_page((unsigned long)page);
	return filesystem;
}

/* A file system that does not answer in time is taken as it is. */
static int wait_for_first(struct filesystem *filesystem)
{
	const unsigned int ms = filesystem->is_of_disk ? FIRST_OF_DISK_MS :
							 FIRST_OF_OTHER_MS;

	spin_lock(&filesystem->lock);
	start(filesystem);
	spin_unlock(&filesystem->lock);
	if (wait_for_completion_killable_timeout(
		    &filesystem->first, msecs_to_jiffies(ms)) <= 0)
		return 0;
	return filesystem->ret == -ENODEV ? -ENODEV : 0;
}

static struct dart_sampler *open_path(const struct path *path)
{
	struct filesystem_sampler *sampler;
	struct filesystem *filesystem;
	int ret;

	sampler = kzalloc(sizeof(*sampler), GFP_KERNEL_ACCOUNT);
	if (!sampler)
		return ERR_PTR(-ENOMEM);
	filesystem = filesystem_new(path);
	ret = PTR_ERR_OR_ZERO(filesystem);
	if (ret) {
		kfree(sampler);
		return ERR_PTR(ret);
	}
	sampler->sampler.kind = &filesystem_kind;
	sampler->filesystem = filesystem;
	ret = wait_for_first(filesystem);
	if (!ret)
		return &sampler->sampler;
	sampler_free(&sampler->sampler);
	return ERR_PTR(ret);
}

struct dart_sampler *
dart_filesystem_sampler_open(const struct dart_zero_window *window)
{
	struct file *file = fget_raw(window->fd);
	struct dart_sampler *sampler;

	if (!file)
		return ERR_PTR(-EBADF);
	sampler = open_path(&file->f_path);
	fput(file);
	return sampler;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples mounted file systems.  A call of a file system can hang for as long as its server does
 * not answer, so each file system is a question, and file systems of disks have a queue of their
 * own.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/overflow.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/uaccess.h>

#include <linux/dart_zero.h>

#include "question.h"
#include "sample_trace.h"
#include "sampler.h"

/* How long ADD_RECORD waits for the first values of a file system on a disk, and of others. */
#define FIRST_OF_DISK_MS 200
#define FIRST_OF_OTHER_MS 20

struct filesystem {
	struct dart_question question;
	dev_t device;
	struct dart_zero_filesystem values;
	char path[];
};

static struct filesystem *of_question(struct dart_question *question)
{
	return container_of(question, struct filesystem, question);
}

/* FUSE needs a process that answers, even if the file system is on a disk. */
static bool is_of_disk(const struct super_block *super)
{
	const int flags = super->s_type->fs_flags;

	return flags & FS_REQUIRES_DEV && !(flags & FS_HAS_SUBTYPE);
}

static bool is_mount_root(const struct path *path)
{
	return path->dentry == path->mnt->mnt_root;
}

/* Returns @code of a question: every error except the end of a mount can be temporary. */
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
static void set_type(struct dart_zero_filesystem *values, const struct super_block *super)
{
	const char *subtype = super->s_subtype;

	scnprintf(values->fstype, sizeof(values->fstype), "%s%s%s",
		  super->s_type->name, subtype ? "." : "", subtype ?: "");
}

/*
 * Some file systems know their device better than the caller of mount(2), who can say "none".  The
 * text is the one in /proc/PID/mountinfo.  Returns false if the file system does not tell.
 */
static bool ask_for_device(struct dart_zero_filesystem *values, struct dentry *root)
{
	const struct super_operations *operations = root->d_sb->s_op;
	char text[4 * sizeof(values->device)] = { };
	struct seq_file file = { .buf = text, .size = sizeof(text) };

	if (!operations->show_devname || operations->show_devname(&file, root))
		return false;
	text[sizeof(text) - 1] = '\0';
	string_unescape_inplace(text, UNESCAPE_OCTAL);
	strscpy_pad(values->device, text, sizeof(values->device));
	return *text;
}

/* Only an eBPF program can see the device name that was passed to mount(2). */
static void set_device(struct dart_zero_filesystem *values, const struct vfsmount *mount)
{
	struct dart_zero_sample sample = {
		.source = DART_ZERO_SOURCE_FILESYSTEM,
		.values = { (unsigned long)mount },
	};

	static_assert(sizeof(struct dart_zero_mount_device) == sizeof(values->device));
	if (ask_for_device(values, mount->mnt_root))
		return;
	trace_dart_zero_sample(&sample, NULL);
	if (sample.answer == DART_ZERO_ANSWER_VALUES)
		memcpy(values->device, sample.values, sizeof(values->device));
}

/*
 * Holds the mount only during this call.  -ENODEV: the file system was unmounted.  A kernel thread
 * has the root directory and the mounts of PID 1.
 */
static int ask(struct dart_question *question)
{
	struct filesystem *filesystem = of_question(question);
	struct dart_zero_filesystem *values = &filesystem->values;
	struct kstatfs status;
	struct path path;
	int ret;

	/* An automount at the end of the path is not triggered. */
	ret = answer(kern_path(filesystem->path, 0, &path));
	if (ret)
		return ret;
	ret = -ENODEV;
	if (is_mount_root(&path) && path.dentry->d_sb->s_dev == filesystem->device) {
		question->queue = is_of_disk(path.dentry->d_sb) ? DART_QUESTION_DISKS :
								  DART_QUESTION_SERVERS;
		ret = answer(vfs_statfs(&path, &status));
	}
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

static void filesystem_free(struct dart_question *question)
{
	kfree(of_question(question));
}

static const struct dart_question_kind question_kind = {
	.ask = ask,
	.free = filesystem_free,
};

/* Each sample returns the answer to the question of the previous sample. */
static const struct dart_sampler_kind filesystem_kind = {
	.name = "dart_zero_filesystem",
	.length = sizeof(struct dart_zero_filesystem),
	.sample = dart_question_sampler_sample,
	.free = dart_question_sampler_free,
};

static struct filesystem *filesystem_new(const struct dart_zero_record *selected)
{
	const char __user *path = u64_to_user_ptr(selected->path);
	struct filesystem *filesystem;
	long length = strnlen_user(path, PATH_MAX);

	if (length <= 0)
		return ERR_PTR(-EFAULT);
	if (length > PATH_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	filesystem = kzalloc(struct_size(filesystem, path, length), GFP_KERNEL_ACCOUNT);
	if (!filesystem)
		return ERR_PTR(-ENOMEM);
	/* The last byte stays 0, whatever another thread of the caller writes meanwhile. */
	if (copy_from_user(filesystem->path, path, length - 1)) {
		kfree(filesystem);
		return ERR_PTR(-EFAULT);
	}
	filesystem->device = MKDEV(selected->device_major, selected->device_minor);
	/* A guess until the mount is found: btrfs has a number that belongs to no disk. */
	dart_question_begin(&filesystem->question, &question_kind,
			    MAJOR(filesystem->device) ? DART_QUESTION_DISKS : DART_QUESTION_SERVERS,
			    0, &filesystem->values, sizeof(filesystem->values));
	return filesystem;
}

/* If the file system does not answer in time, the sampler is returned without values. */
struct dart_sampler *dart_filesystem_sampler_open(const struct dart_zero_record *selected,
						  const struct file *opener)
{
	struct filesystem *filesystem = filesystem_new(selected);
	struct dart_sampler *sampler;

	if (IS_ERR(filesystem))
		return ERR_CAST(filesystem);
	sampler = dart_question_sampler_new(&filesystem_kind, &filesystem->question);
	if (!sampler) {
		dart_question_put(&filesystem->question);
		return ERR_PTR(-ENOMEM);
	}
	if (dart_question_first(&filesystem->question,
				MAJOR(filesystem->device) ? FIRST_OF_DISK_MS : FIRST_OF_OTHER_MS) !=
	    -ENODEV)
		return sampler;
	dart_question_sampler_free(sampler);
	return ERR_PTR(-ENODEV);
}

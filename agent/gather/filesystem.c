// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples mounted file systems.  A call to a file system can hang until its server answers, so a
 * thread makes each call, and samples return the last answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "mount_tables.h"
#include "own_sample.h"
#include "question.h"

/* Time to wait for the first values, and after a wait in vain for another file system. */
#define FIRST_MS 200
#define AFTER_LATE_MS 5

/* A file system, and the last answer about it. */
struct filesystem {
	struct question question; /* first: see question.h */
	struct dart_zero_filesystem values;
	dev_t device;
	char path[];
};

struct filesystem_sample {
	struct own_sample sample; /* first: see own_sample.h */
	struct filesystem *filesystem;
};

/* Copies the texts of the mount as PID 1 sees it.  -ENODEV: it was unmounted. */
static int set_texts(const struct filesystem *filesystem, struct dart_zero_filesystem *values)
{
	const struct mount *mount;
	const struct mounts *mounts;
	int ret;

	ret = mount_tables__take(MOUNTS_OF_HOST, &mounts);
	if (ret)
		return ret;
	mount = mounts__at(mounts, filesystem->path);
	if (mount && mount->device == filesystem->device) {
		snprintf(values->device, sizeof(values->device), "%s", mount->source);
		snprintf(values->fstype, sizeof(values->fstype), "%s", mount->type);
	} else {
		ret = -ENODEV;
	}
	mount_tables__give(MOUNTS_OF_HOST, mounts);
	return ret;
}

/* A root directory from which dartd reaches file systems, and the mounts there. */
struct view {
	const char *root;
	enum mount_view mounts;
};

/*
 * dartd's mounts can differ from the mounts of PID 1.  In a container they do: there dartd needs
 * CAP_SYS_PTRACE to reach the mounts of PID 1.
 */
static const struct view views[] = {
	{ "", MOUNTS_OF_DARTD },
	{ "/proc/1/root", MOUNTS_OF_HOST },
};

/*
 * -ENOENT: another file system is at @path of this view.  The device number of stat(2) would not
 * do: btrfs numbers each subvolume there.
 */
static int check_device(const struct filesystem *filesystem, const struct view *view,
			const char *path)
{
	const struct mount *mount;
	const struct mounts *mounts;
	struct statx status;
	int ret;

	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status))
		return -errno;
	ret = mount_tables__take(view->mounts, &mounts);
	if (ret)
		return ret;
	mount = mounts__find(mounts, status.stx_mnt_id);
	if (!mount || mount->device != filesystem->device)
		ret = -ENOENT;
	mount_tables__give(view->mounts, mounts);
	return ret;
}

static int ask_in(const struct filesystem *filesystem, const struct view *view,
		  struct statvfs *status)
{
	char *path;
	int ret;

	if (asprintf(&path, "%s%s", view->root, filesystem->path) < 0)
		return -ENOMEM;
	ret = check_device(filesystem, view, path);
	if (!ret && statvfs(path, status))
		ret = -EAGAIN;
	free(path);
	return ret;
}

static int ask(struct question *question)
{
	struct filesystem *filesystem = (struct filesystem *)question;
	struct dart_zero_filesystem *values = &filesystem->values;
	struct statvfs status;
	int ret;

	*values = (struct dart_zero_filesystem){};
	ret = set_texts(filesystem, values);
	if (ret)
		return ret;
	ret = ask_in(filesystem, &views[0], &status);
	if (ret && ret != -EAGAIN)
		ret = ask_in(filesystem, &views[1], &status);
	if (ret)
		return ret;
	values->size = status.f_blocks * status.f_frsize;
	values->free = status.f_bfree * status.f_frsize;
	values->available = status.f_bavail * status.f_frsize;
	values->files = status.f_files;
	values->files_free = status.f_ffree;
	values->read_only = !!(status.f_flag & ST_RDONLY);
	return 0;
}

static void free_filesystem(struct question *question)
{
	free(question);
}

static const struct question_kind question_kind = {
	.ask = ask,
	.free = free_filesystem,
};

static struct filesystem *filesystem__new(const char *path, dev_t device)
{
	struct filesystem *filesystem = calloc(1, sizeof(*filesystem) + strlen(path) + 1);

	if (!filesystem)
		return NULL;
	question__begin(&filesystem->question, &question_kind);
	filesystem->device = device;
	strcpy(filesystem->path, path);
	return filesystem;
}

/* Asks for the first values.  -EAGAIN: no answer yet, values come later. */
static int ask_first(struct filesystem *filesystem)
{
	/* One dead disk or server can have many file systems; for the main loop alone. */
	static bool was_late;

	was_late = !question__ask(&filesystem->question, was_late ? AFTER_LATE_MS : FIRST_MS);
	return was_late ? -EAGAIN : filesystem->question.code;
}

static int filesystem__open(const struct dart_zero_record *wanted, struct own_sample **result)
{
	struct filesystem_sample *sample = calloc(1, sizeof(*sample));
	int code;

	if (!sample)
		return -ENOMEM;
	sample->filesystem = filesystem__new((const char *)(uintptr_t)wanted->path,
					     makedev(wanted->device_major, wanted->device_minor));
	if (!sample->filesystem) {
		free(sample);
		return -ENOMEM;
	}
	code = ask_first(sample->filesystem);
	if (code && code != -EAGAIN) {
		question__put(&sample->filesystem->question);
		free(sample);
		return code == -ENODEV || code == -ENOMEM ? code : -EOPNOTSUPP;
	}
	sample->sample.rows = 1;
	*result = &sample->sample;
	return 0;
}

static void filesystem__close(struct own_sample *sample)
{
	struct filesystem_sample *own = (struct filesystem_sample *)sample;

	question__put(&own->filesystem->question);
	free(own);
}

/* Each sample returns the answer to the question of the previous sample. */
static int filesystem__sample(struct own_sample *sample, uint32_t index, void *values,
			      uint64_t *number, uint64_t *time)
{
	struct filesystem *filesystem = ((struct filesystem_sample *)sample)->filesystem;
	int code;

	if (!question__is_answered(&filesystem->question))
		return -EAGAIN;
	code = filesystem->question.code;
	*time = filesystem->question.time;
	memcpy(values, &filesystem->values, sizeof(filesystem->values));
	question__ask(&filesystem->question, 0);
	return code && code != -ENODEV ? -EAGAIN : code;
}

const struct own_sample_kind filesystem_sample = {
	.open = filesystem__open,
	.close = filesystem__close,
	.sample = filesystem__sample,
};

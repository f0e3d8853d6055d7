// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples mounted file systems.  A call to a file system can hang until its server answers, so a
 * thread makes each call, and samples return the last answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <libdart/clock.h>
#include "agent/region/mounts.h"
#include "own_sample.h"

/* Time to wait for the first values. */
#define FIRST_MS 200

/* A file system, shared by the sample and a thread that asks. */
struct filesystem {
	pthread_mutex_t lock; /* guards the members up to @values */
	pthread_cond_t answered;
	unsigned int users;
	bool is_asking;
	int code; /* of the last answer: 0 or -errno; -EAGAIN: none yet */
	uint64_t time; /* of the last answer, CLOCK_BOOTTIME, ns */
	struct dart_zero_filesystem values;
	dev_t device;
	char path[];
};

struct filesystem_sample {
	struct own_sample sample; /* first: see own_sample.h */
	struct filesystem *filesystem;
};

static void give(struct filesystem *filesystem)
{
	bool is_last;

	pthread_mutex_lock(&filesystem->lock);
	is_last = !--filesystem->users;
	pthread_mutex_unlock(&filesystem->lock);
	if (!is_last)
		return;
	pthread_cond_destroy(&filesystem->answered);
	pthread_mutex_destroy(&filesystem->lock);
	free(filesystem);
}

/* Copies the texts of the mount as PID 1 sees it.  -ENODEV: it was unmounted. */
static int set_texts(const struct filesystem *filesystem, struct dart_zero_filesystem *values)
{
	const struct mount *mount;
	struct dart_error error;
	struct mounts mounts;
	int ret;

	ret = mounts__read(&mounts, &error);
	if (ret)
		return ret;
	mount = mounts__at(&mounts, filesystem->path);
	if (mount && mount->device == filesystem->device) {
		snprintf(values->device, sizeof(values->device), "%s", mount->source);
		snprintf(values->fstype, sizeof(values->fstype), "%s", mount->type);
	} else {
		ret = -ENODEV;
	}
	mounts__free(&mounts);
	return ret;
}

/*
 * -ENOENT: dartd sees another file system at the path, because its mounts can differ from the
 * mounts of PID 1.  The device number of stat(2) would not do: btrfs numbers each subvolume there.
 */
static int check_device(const struct filesystem *filesystem)
{
	const struct mount *mount;
	struct dart_error error;
	struct mounts mounts;
	struct statx status;
	int ret;

	if (statx(AT_FDCWD, filesystem->path, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_MNT_ID,
		  &status))
		return -errno;
	ret = mounts__read_own(&mounts, &error);
	if (ret)
		return ret;
	mount = mounts__find(&mounts, status.stx_mnt_id);
	if (!mount || mount->device != filesystem->device)
		ret = -ENOENT;
	mounts__free(&mounts);
	return ret;
}

static int ask(const struct filesystem *filesystem, struct dart_zero_filesystem *values)
{
	struct statvfs status;
	int ret;

	ret = set_texts(filesystem, values) ?: check_device(filesystem);
	if (ret)
		return ret;
	if (statvfs(filesystem->path, &status))
		return -EAGAIN;
	values->size = status.f_blocks * status.f_frsize;
	values->free = status.f_bfree * status.f_frsize;
	values->available = status.f_bavail * status.f_frsize;
	values->files = status.f_files;
	values->files_free = status.f_ffree;
	values->read_only = !!(status.f_flag & ST_RDONLY);
	return 0;
}

static void *ask_once(void *argument)
{
	struct filesystem *filesystem = argument;
	struct dart_zero_filesystem values = {};
	const int code = ask(filesystem, &values);

	pthread_mutex_lock(&filesystem->lock);
	filesystem->code = code;
	filesystem->time = dart_clock__ns(CLOCK_BOOTTIME);
	filesystem->values = values;
	filesystem->is_asking = false;
	pthread_cond_broadcast(&filesystem->answered);
	pthread_mutex_unlock(&filesystem->lock);
	give(filesystem);
	return NULL;
}

/* The caller holds the lock.  If no thread can be started, the next sample tries again. */
static void begin_asking(struct filesystem *filesystem)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (filesystem->is_asking)
		return;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!pthread_create(&thread, &attributes, ask_once, filesystem)) {
		filesystem->is_asking = true;
		filesystem->users++;
	}
	pthread_attr_destroy(&attributes);
}

static void wait_for_first(struct filesystem *filesystem)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += FIRST_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (filesystem->is_asking &&
	       !pthread_cond_timedwait(&filesystem->answered, &filesystem->lock, &until))
		;
}

static struct filesystem *filesystem__new(const char *path, dev_t device)
{
	struct filesystem *filesystem = calloc(1, sizeof(*filesystem) + strlen(path) + 1);
	pthread_condattr_t attributes;

	if (!filesystem)
		return NULL;
	pthread_mutex_init(&filesystem->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&filesystem->answered, &attributes);
	pthread_condattr_destroy(&attributes);
	filesystem->users = 1;
	filesystem->code = -EAGAIN;
	filesystem->device = device;
	strcpy(filesystem->path, path);
	return filesystem;
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
	pthread_mutex_lock(&sample->filesystem->lock);
	begin_asking(sample->filesystem);
	wait_for_first(sample->filesystem);
	code = sample->filesystem->code;
	pthread_mutex_unlock(&sample->filesystem->lock);
	/* -EAGAIN: no answer yet, values come later. */
	if (code && code != -EAGAIN) {
		give(sample->filesystem);
		free(sample);
		return code == -ENODEV ? code : -EOPNOTSUPP;
	}
	sample->sample.rows = 1;
	*result = &sample->sample;
	return 0;
}

static void filesystem__close(struct own_sample *sample)
{
	struct filesystem_sample *own = (struct filesystem_sample *)sample;

	give(own->filesystem);
	free(own);
}

/* Each sample returns the answer to the question of the previous sample. */
static int filesystem__sample(struct own_sample *sample, uint32_t index, void *values,
			      uint64_t *number, uint64_t *time)
{
	struct filesystem *filesystem = ((struct filesystem_sample *)sample)->filesystem;
	int code;

	pthread_mutex_lock(&filesystem->lock);
	code = filesystem->is_asking ? -EAGAIN : filesystem->code;
	*time = filesystem->time;
	memcpy(values, &filesystem->values, sizeof(filesystem->values));
	begin_asking(filesystem);
	pthread_mutex_unlock(&filesystem->lock);
	return code && code != -ENODEV ? -EAGAIN : code;
}

const struct own_sample_kind filesystem_sample = {
	.open = filesystem__open,
	.close = filesystem__close,
	.sample = filesystem__sample,
};

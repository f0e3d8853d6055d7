// SPDX-License-Identifier: GPL-2.0-only
/* The ioctl that adds records. */
#include "ioctl.h"

#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <linux/dart_zero.h>

#include "kmod/records/record.h"
#include "region.h"

static bool has_descriptor(const struct dart_zero_record *record)
{
	return record->fd != -1 || record->netns || record->ifindex;
}

/* Only file systems are selected by a path, and by nothing else. */
static bool path_is_valid(const struct dart_zero_record *record)
{
	if (record->source != DART_ZERO_SOURCE_FILESYSTEM)
		return !record->path && !record->device_major && !record->device_minor;
	return record->path && !has_descriptor(record) &&
	       MAJOR(MKDEV(record->device_major, record->device_minor)) == record->device_major &&
	       MINOR(MKDEV(record->device_major, record->device_minor)) == record->device_minor;
}

/* Only memory of a process is selected by its number and locations, and by nothing else. */
static bool process_is_valid(const struct dart_zero_record *record)
{
	if (record->source != DART_ZERO_SOURCE_PROCESS_MEMORY)
		return !record->pid && !record->location_count && !record->locations;
	return record->pid && record->pid <= INT_MAX && record->location_count &&
	       !has_descriptor(record);
}

static bool record_is_valid(const struct dart_zero_record *record)
{
	return record->size == sizeof(*record) && !(record->flags & ~DART_ZERO_RECORD_DEFERRABLE) &&
	       (record->form == DART_ZERO_RECORD_SUM || record->form == DART_ZERO_RECORD_COPIES) &&
	       record->interval_ms >= DART_ZERO_RECORD_MS_MIN &&
	       record->interval_ms <= DART_ZERO_RECORD_MS_MAX &&
	       record->piece_count <= DART_ZERO_RECORD_WORDS_MAX &&
	       record->rest_max <= DART_ZERO_RECORD_REST_MAX && !record->reserved &&
	       path_is_valid(record) && process_is_valid(record) &&
	       !memchr_inv(&record->id, 0, sizeof(*record) - offsetof(struct dart_zero_record, id));
}

int dart_ioctl_add_record(struct dart_region *region, struct dart_zero_record __user *user)
{
	struct dart_zero_piece *pieces;
	struct dart_zero_record added;
	struct dart_record *record;
	int ret;

	if (copy_from_user(&added, user, sizeof(added)))
		return -EFAULT;
	if (!record_is_valid(&added))
		return -EINVAL;
	if (!dart_ioctl_may_add(region))
		return -EPERM;
	/* As for windows, because pieces can be any bytes of a variable. */
	ret = security_locked_down(LOCKDOWN_KCORE);
	if (ret)
		return ret;

	if (!added.piece_count) {
		ret = dart_record_describe(&added, region->file);
		if (!ret && copy_to_user(user, &added, sizeof(added)))
			ret = -EFAULT;
		return ret;
	}

	pieces = vmemdup_user(u64_to_user_ptr(added.pieces),
			      array_size(added.piece_count, sizeof(*pieces)));
	if (IS_ERR(pieces))
		return PTR_ERR(pieces);
	record = dart_record_new(&added, pieces, region->file);
	kvfree(pieces);
	if (IS_ERR(record))
		return PTR_ERR(record);

	ret = dart_region_add_record(region, record, &added);
	if (ret) {
		dart_record_free(record);
		return ret;
	}
	if (copy_to_user(user, &added, sizeof(added))) {
		dart_region_remove(region, added.id);
		return -EFAULT;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* The gathered records of a region. */
#include "region.h"

#include "kmod/extents/extent.h"
#include "kmod/extents/percpu.h"
#include "kmod/records/gather.h"
#include "kmod/records/record.h"

/* Counts the records of the user @payer.  Called with the region's lock held. */
static u32 region_count_records(struct dart_region *region, u64 payer)
{
	struct dart_record *record;
	unsigned long index;
	u32 count = 0;

	xa_for_each(&region->records, index, record)
		count += record->payer == payer;
	return count;
}

int dart_region_add_record(struct dart_region *region, struct dart_record *record,
			   struct dart_zero_record *added)
{
	const u64 payer = record->payer;
	struct dart_extent *extent;
	u64 data;
	int ret;

	mutex_lock(&region->lock);
	extent = dart_extents_find(&region->extents, added->slab);
	if (!extent)
		ret = -ENOENT;
	else if (region->record_count == DART_ZERO_RECORDS_MAX || region->last_id == U32_MAX)
		ret = -ENOSPC;
	else if (payer && region_count_records(region, payer) >= DART_ZERO_RECORDS_MAX / 8)
		ret = -EDQUOT;
	else
		ret = xa_insert(&region->records, region->last_id + 1, record, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto out;

	record->id = region->last_id + 1;
	record->slab_id = added->slab;
	ret = dart_gathering_add(&region->gathering, record, extent, added->interval_ms,
				 added->flags & DART_ZERO_RECORD_DEFERRABLE, &data);
	if (ret) {
		xa_erase(&region->records, record->id);
		goto out;
	}
	region->last_id++;
	region->record_count++;
	extent->parts++;
	added->id = record->id;
	added->rows = record->rows;
	added->data = extent->info.data + data;
	added->length = record->row_lines * DART_ZERO_RECORD_LINE;
out:
	mutex_unlock(&region->lock);
	return ret;
}

struct dart_record *dart_region_take_record(struct dart_region *region, u32 id)
{
	struct dart_record *record = xa_erase(&region->records, id);

	if (record) {
		dart_extents_find(&region->extents, record->slab_id)->parts--;
		region->record_count--;
	}
	return record;
}

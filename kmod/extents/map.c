// SPDX-License-Identifier: GPL-2.0-only
/* Extents over the values of eBPF array maps. */
#include "map.h"

#include <linux/bpf.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "extent.h"

/* As in bpf_map_mmap(): values must not have locks, timers or kernel pointers. */
static bool map_is_shareable(const struct bpf_map *map)
{
	return map->map_type == BPF_MAP_TYPE_ARRAY &&
	       map->map_flags & BPF_F_MMAPABLE && IS_ERR_OR_NULL(map->record);
}

static int map_show(struct dart_extent *extent)
{
	struct bpf_map *map = extent->held;
	struct bpf_array *array = container_of(map, struct bpf_array, map);
	u64 i;

	/* Maps that can be mapped lie in vmalloc. */
	for (i = 0; i < extent->info.pages; i++)
		extent->pages[i] = vmalloc_to_page(array->value + i * PAGE_SIZE);

	extent->memory = array->value;
	extent->info.map_id = map->id;
	extent->info.length = map->value_size;
	extent->info.stride = array->elem_size;
	extent->info.copies = map->max_entries;
	strscpy(extent->info.name, map->name, sizeof(extent->info.name));
	return 0;
}

static void map_release(void *held)
{
	bpf_map_put(held);
}

static const struct dart_extent_kind map_kind = {
	.id = DART_ZERO_EXTENT_MAP,
	.show = map_show,
	.release = map_release,
};

/*
 * Takes a reference to the map of @fd.  The descriptor must be open for reading, as for mmap();
 * bpf_map_get() does not check that.
 */
static struct bpf_map *map_get_for_reading(int fd)
{
	struct file *file = fget(fd);
	struct bpf_map *map;

	if (!file)
		return ERR_PTR(-EBADF);

	map = bpf_map_get(fd);
	if (IS_ERR(map))
		goto out;

	/* Another thread may have replaced the descriptor in between. */
	if (file->private_data != map || !(file->f_mode & FMODE_CAN_READ)) {
		bpf_map_put(map);
		map = ERR_PTR(-EPERM);
	}
out:
	fput(file);
	return map;
}

struct dart_extent *dart_map_open(int fd)
{
	struct bpf_map *map = map_get_for_reading(fd);
	u64 bytes;

	if (IS_ERR(map))
		return ERR_CAST(map);
	if (!map_is_shareable(map)) {
		bpf_map_put(map);
		return ERR_PTR(-EINVAL);
	}

	bytes = (u64)container_of(map, struct bpf_array, map)->elem_size * map->max_entries;
	return dart_extent_new(&map_kind, map, PFN_UP(bytes));
}

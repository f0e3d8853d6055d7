// SPDX-License-Identifier: GPL-2.0-only
/* Extents of memory of dartd, and of maps, side by side in one reserved range of addresses. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/base/host.h"
#include "agent/base/log.h"
#include "agent/region/region_way.h"
#include "extents.h"

#define EXTENTS_MAX 65536

uint32_t extents__new_id(struct extents *extents)
{
	return ++extents->last_id;
}

/* Finds the first hole of @bytes, and the extent after it, or NULL. */
static int find_hole(const struct extents *extents, uint64_t bytes, uint64_t *offset,
		     struct extent **next)
{
	uint64_t end = 0;

	TAILQ_FOREACH(*next, &extents->list, link) {
		if ((*next)->info.offset - end >= bytes)
			break;
		end = (*next)->info.offset + (*next)->info.pages * extents->page_size;
	}
	if (extents->count == EXTENTS_MAX || EXTENTS_CAPACITY - end < bytes)
		return -ENOSPC;
	*offset = end;
	return 0;
}

/* Adds an extent of @bytes without memory yet. */
static int add_extent(struct extents *extents, enum dart_zero_extent_kind kind, uint64_t bytes,
		      struct extent **result)
{
	const uint64_t pages = (bytes + extents->page_size - 1) / extents->page_size;
	struct extent *extent, *next;
	uint64_t offset;
	int ret;

	if (!pages)
		return -EINVAL;
	if (bytes > EXTENTS_CAPACITY)
		return -ENOSPC;
	ret = find_hole(extents, pages * extents->page_size, &offset, &next);
	if (ret)
		return ret;
	extent = calloc(1, sizeof(*extent));
	if (!extent)
		return -ENOMEM;
	extent->info = (struct dart_zero_extent){
		.id = extents__new_id(extents),
		.kind = kind,
		.offset = offset,
		.data = offset,
		.pages = pages,
		.copies = pages,
		.length = extents->page_size,
		.stride = extents->page_size,
	};
	if (entry_index__add(&extents->ids, &extent->info.id)) {
		free(extent);
		return -ENOMEM;
	}
	if (next)
		TAILQ_INSERT_BEFORE(next, extent, link);
	else
		TAILQ_INSERT_TAIL(&extents->list, extent, link);
	extents->count++;
	*result = extent;
	return 0;
}

static void *memory_of(const struct extents *extents, const struct extent *extent)
{
	return extents->memory + extent->info.offset;
}

static uint64_t bytes_of(const struct extents *extents, const struct extent *extent)
{
	return extent->info.pages * extents->page_size;
}

/* Holes read as 0. */
static void make_hole(const struct extents *extents, struct extent *extent)
{
	if (mmap(memory_of(extents, extent), bytes_of(extents, extent), PROT_READ,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		log__error("cannot unmap memory of the region: %s", strerror(errno));
}

void extents__remove(struct extents *extents, struct extent *extent)
{
	entry_index__remove(&extents->ids, &extent->info.id);
	TAILQ_REMOVE(&extents->list, extent, link);
	extents->count--;
	make_hole(extents, extent);
	if (extent->slice)
		slices__remove(&extents->slices, extent->slice);
	record_pages__close(&extent->pages);
	free(extent);
}

struct extent *extents__find(const struct extents *extents, uint32_t id)
{
	const char *found = entry_index__find(&extents->ids, &id);

	return found ? (struct extent *)(found - offsetof(struct extent, info.id)) : NULL;
}

/* ---- slabs and slices */

static int add_record_pages(struct extents *extents, struct extent *extent)
{
	void *memory = memory_of(extents, extent);
	const uint64_t bytes = bytes_of(extents, extent);

	if (mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return -errno;
	return record_pages__open(&extent->pages, memory, bytes);
}

int extents__add_slab(struct extents *extents, struct dart_zero_slab *slab)
{
	const bool is_for_records = slab->flags & DART_ZERO_SLAB_RECORDS;
	struct extent *extent;
	int ret;

	ret = add_extent(extents, is_for_records ? DART_ZERO_EXTENT_RECORDS : DART_ZERO_EXTENT_SLAB,
			 (uint64_t)slab->pages * extents->page_size, &extent);
	if (ret)
		return ret;
	ret = is_for_records ? add_record_pages(extents, extent) :
			       slices__add(&extents->slices, memory_of(extents, extent),
					   slab->pages, -1, &extent->slice);
	if (ret)
		extents__remove(extents, extent);
	else
		slab->extent = extent->info;
	return ret;
}

int extents__add_slice(struct extents *extents, struct dart_zero_slice *slice)
{
	struct extent *slab = extents__find(extents, slice->slab);
	int fd;

	if (!slab || !slab->slice)
		return -ENOENT;
	if (slab->slice->id || slab->slice->pages != slice->pages)
		return -ENOSPC;
	fd = slices__lend(&extents->slices, slab->slice, extents__new_id(extents));
	if (fd < 0)
		return fd;
	slice->fd = fd;
	slice->id = slab->slice->id;
	slice->data = slab->info.data;
	return 0;
}

int extents__adopt_slice(struct extents *extents, struct dart_zero_adoption *adoption)
{
	struct extent *extent;
	struct slice *known;
	int ret, fd;

	ret = slices__pages(adoption->fd, &adoption->pages);
	if (ret)
		return ret;
	ret = add_extent(extents, DART_ZERO_EXTENT_SLAB,
			 (uint64_t)adoption->pages * extents->page_size, &extent);
	if (ret)
		return ret;
	ret = slices__add(&extents->slices, memory_of(extents, extent), adoption->pages,
			  adoption->fd, &known);
	if (ret == -EEXIST)
		adoption->id = known->id;
	if (!ret) {
		extent->slice = known;
		/* The process that adopted this memory already holds a descriptor of it. */
		fd = slices__lend(&extents->slices, known, extents__new_id(extents));
		ret = fd < 0 ? fd : close(fd);
	}
	if (ret) {
		extents__remove(extents, extent);
		return ret;
	}
	adoption->id = extent->slice->id;
	adoption->data = extent->info.data;
	adoption->slab = extent->info;
	return 0;
}

/* ---- maps */

/* Sets @access to O_RDONLY or O_RDWR, as the descriptor is open. */
static int map_info(int fd, struct bpf_map_info *map, int *access)
{
	uint32_t size = sizeof(*map);
	int flags;

	*map = (struct bpf_map_info){};
	if (bpf_obj_get_info_by_fd(fd, map, &size))
		return -EBADF;
	if (map->type != BPF_MAP_TYPE_ARRAY || !(map->map_flags & BPF_F_MMAPABLE))
		return -EINVAL;
	flags = fcntl(fd, F_GETFL);
	*access = flags & O_ACCMODE;
	return flags < 0 || *access == O_WRONLY ? -EPERM : 0;
}

static int map_memory(const struct extents *extents, struct extent *extent, int fd)
{
	const int access = extents->needs_writable ? PROT_READ | PROT_WRITE : PROT_READ;

	return mmap(memory_of(extents, extent), bytes_of(extents, extent), access,
		    MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ?
		       -errno :
		       0;
}

/*
 * Opens the map again, which takes CAP_SYS_ADMIN: through a descriptor that is open for reading
 * only, the kernel maps no map, because it takes the mapping for a private one; and the mapping of
 * a descriptor keeps the open file of the owner, so that the map would have an owner without end.
 */
static int show_map(const struct extents *extents, struct extent *extent, uint32_t id, int owners,
		    int access)
{
	int fd = bpf_map_get_fd_by_id(id), ret;

	if (fd < 0)
		ret = errno == EPERM && access == O_RDWR ? map_memory(extents, extent, owners) :
							    -errno;
	else
		ret = map_memory(extents, extent, fd);
	if (fd >= 0)
		close(fd);
	return ret;
}

static bool has_map(const struct extents *extents, uint32_t map_id)
{
	const struct extent *extent;

	TAILQ_FOREACH(extent, &extents->list, link)
		if (extent->info.map_id == map_id)
			return true;
	return false;
}

int extents__add_map(struct extents *extents, struct dart_zero_map *request)
{
	struct bpf_map_info map;
	struct extent *extent;
	uint64_t stride;
	int access, ret;

	ret = map_info(request->fd, &map, &access);
	if (ret)
		return ret;
	if (has_map(extents, map.id))
		return -EEXIST;
	stride = ((uint64_t)map.value_size + 7) / 8 * 8;
	ret = add_extent(extents, DART_ZERO_EXTENT_MAP, stride * map.max_entries, &extent);
	if (ret)
		return ret;
	ret = show_map(extents, extent, map.id, request->fd, access);
	if (ret) {
		extents__remove(extents, extent);
		return ret == -EACCES ? -EPERM : ret;
	}
	extent->info.map_id = map.id;
	extent->info.copies = map.max_entries;
	extent->info.length = map.value_size;
	extent->info.stride = stride;
	snprintf(extent->info.name, sizeof(extent->info.name), "%s", map.name);
	request->extent = extent->info;
	return 0;
}

int extents__open(struct extents *extents, struct dart_error *error)
{
	void *memory;
	int ret = region__reserve(EXTENTS_CAPACITY, &memory, error);

	if (ret)
		return ret;
	/* Holes read as 0. */
	mprotect(memory, EXTENTS_CAPACITY, PROT_READ);
	*extents = (struct extents){
		.ids = ENTRY_INDEX_OF_NUMBERS,
		.memory = memory,
		.page_size = sysconf(_SC_PAGESIZE),
		.needs_writable = !host__can_pin_read_only(),
	};
	TAILQ_INIT(&extents->list);
	ret = slices__open(&extents->slices);
	if (!ret)
		return 0;
	region__unreserve(memory, EXTENTS_CAPACITY);
	return dart_error__system(error, -ret, "cannot watch slices");
}

void extents__close(struct extents *extents)
{
	struct extent *extent;

	while ((extent = TAILQ_FIRST(&extents->list)))
		extents__remove(extents, extent);
	slices__close(&extents->slices);
	region__unreserve(extents->memory, EXTENTS_CAPACITY);
}

void extents__info(const struct extents *extents, struct dart_zero_info *info)
{
	const struct extent *last = TAILQ_LAST(&extents->list, extents_list);

	info->page_size = extents->page_size;
	info->extents = extents->count;
	info->extents_max = EXTENTS_MAX;
	info->capacity = EXTENTS_CAPACITY;
	info->used = last ? last->info.offset + bytes_of(extents, last) : 0;
}

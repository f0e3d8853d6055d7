// SPDX-License-Identifier: GPL-2.0-only
/* Registers memory for RDMA READ. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/base/log.h"
#include "agent/base/rdma_base.h"
#include "entry.h"
#include "exposure.h"

struct page_exposure {
	TAILQ_ENTRY(page_exposure) link;	/* while it is retired */
	struct lease lease;
	struct exposure *exposure;
	struct ibv_mr *memory_region;
};

uint64_t exposure__address(const struct exposure *exposure, const void *memory)
{
	return (uintptr_t)memory + exposure->shift;
}

const void *exposure__memory(const struct exposure *exposure, uint64_t address)
{
	return (const void *)(uintptr_t)(address - exposure->shift);
}

uint64_t exposure__base(const struct exposure *exposure)
{
	const uint64_t first = exposure__address(exposure, exposure->region->memory);

	return first / RDMA_BASE_ALIGN * RDMA_BASE_ALIGN;
}

/* Without a device nobody READs: remembers the memory region that there would be. */
static struct ibv_mr *remember(const void *memory, size_t length)
{
	struct ibv_mr *memory_region = calloc(1, sizeof(*memory_region));

	if (memory_region) {
		memory_region->addr = (void *)memory;
		memory_region->length = length;
	}
	return memory_region;
}

struct ibv_mr *exposure__register(const struct exposure *exposure,
				  const void *memory, size_t length)
{
	struct ibv_mr *memory_region;

	if (!exposure->pd)
		return remember(memory, length);
	memory_region = ibv_reg_mr_iova(exposure->pd, (void *)memory, length,
					exposure__address(exposure, memory),
					IBV_ACCESS_REMOTE_READ);
	if (memory_region) {
		count__add(&exposure->counts->regions, 1);
		count__add(&exposure->counts->bytes, length);
	}
	return memory_region;
}

void exposure__deregister(const struct exposure *exposure, struct ibv_mr *memory_region)
{
	size_t length = memory_region->length;

	/* A remembered memory region has no context: it is not registered. */
	if (!memory_region->context) {
		free(memory_region);
		return;
	}
	/* A removed device has already dropped its memory regions. */
	if (ibv_dereg_mr(memory_region) && exposure->pd)
		log__error("cannot deregister a memory region");
	count__add(&exposure->counts->regions, -1);
	count__add(&exposure->counts->bytes, -(int64_t)length);
}

static int cannot_register(int code, size_t length, struct dart_error *error)
{
	const char *remedy = "";

	/* Before Linux 6.2, the kernel pins all memory for writing. */
	if (code == EFAULT)
		remedy = " (read-only memory needs Linux 6.2 or later)";
	else if (code == ENOMEM)
		remedy = " (free some memory, or raise RLIMIT_MEMLOCK)";
	return dart_error__set(error, code, "cannot register %zu bytes for RDMA: %s%s", length,
			       strerror(code), remedy);
}

int exposure__exchange(const struct exposure *exposure,
		       struct ibv_mr **memory_region, struct dart_error *error)
{
	struct ibv_mr *old = *memory_region;

	if (!old->context == !exposure->pd)
		return 0;
	*memory_region = exposure__register(exposure, old->addr, old->length);
	if (*memory_region) {
		exposure__deregister(exposure, old);
		return 0;
	}
	*memory_region = old;
	return cannot_register(errno, old->length, error);
}

int exposure__open(struct exposure *exposure, uint64_t base, enum dart_control_exposure mode,
		   struct ibv_pd *pd, const struct region *region, struct leases *leases,
		   struct memory_counts *counts, struct dart_error *error)
{
	uintptr_t memory = (uintptr_t)region->memory;
	int ret;

	ret = base ? 0 : rdma_base__choose(&base, error);
	if (ret)
		return ret;
	*exposure = (struct exposure){
		.mode = mode,
		.pd = pd,
		.region = region,
		.leases = leases,
		.counts = counts,
		/* Adapters need the same offset in a page. */
		.shift = base - memory / RDMA_BASE_ALIGN * RDMA_BASE_ALIGN,
	};
	TAILQ_INIT(&exposure->retired);
	return 0;
}

static void page_exposure__free(struct page_exposure *page)
{
	if (!page)
		return;
	exposure__deregister(page->exposure, page->memory_region);
	free(page);
}

/* The last one takes its place. */
static void exposure__close_slab_at(struct exposure *exposure, uint32_t i)
{
	exposure__deregister(exposure, exposure->slabs[i].memory_region);
	exposure->slabs[i] = exposure->slabs[--exposure->slab_count];
}

void exposure__close(struct exposure *exposure)
{
	page_exposure__free(exposure->page);
	while (exposure->slab_count)
		exposure__close_slab_at(exposure, exposure->slab_count - 1);
	free(exposure->slabs);
}

/* True if the memory region of page exposure contains the byte @data of the region. */
static bool is_on_page(const struct exposure *exposure, uint64_t data)
{
	return exposure->mode == DART_CONTROL_EXPOSURE_PAGE && data < exposure->region->capacity;
}

int exposure__open_slab(struct exposure *exposure, const struct dart_zero_extent *extent,
			struct dart_error *error)
{
	size_t length = extent->pages * exposure->region->page_size;
	struct shared_region *slabs;
	struct ibv_mr *slab;

	if (is_on_page(exposure, extent->data))
		return 0;
	slabs = reallocarray(exposure->slabs, exposure->slab_count + 1, sizeof(*slabs));
	if (!slabs)
		return dart_error__no_memory(error);
	exposure->slabs = slabs;
	slab = exposure__register(exposure, exposure->region->memory + extent->data, length);
	if (!slab)
		return cannot_register(errno, length, error);
	slabs[exposure->slab_count++] = (struct shared_region){
		.memory_region = slab,
		.place = EXPOSURE_UNLISTED,
		.next = EXPOSURE_UNLISTED,
	};
	return 0;
}

/* The index of the slab that contains the byte @at, or slab_count. */
static uint32_t exposure__find_slab(const struct exposure *exposure, const uint8_t *at)
{
	const struct ibv_mr *slab;
	uint32_t i;

	for (i = 0; i < exposure->slab_count; i++) {
		slab = exposure->slabs[i].memory_region;
		if (at >= (const uint8_t *)slab->addr &&
		    at < (const uint8_t *)slab->addr + slab->length)
			break;
	}
	return i;
}

void exposure__close_slab(struct exposure *exposure, const struct dart_zero_extent *extent)
{
	uint32_t i = exposure__find_slab(exposure, exposure->region->memory + extent->data);

	if (i < exposure->slab_count)
		exposure__close_slab_at(exposure, i);
}

static const uint8_t *first_byte(const struct exposure *exposure, const struct entry *entry,
				 uint32_t copy, const struct run *run)
{
	return exposure->region->memory + entry->extent.data +
	       copy * entry->extent.stride + run->offset;
}

/* True if the entry shares its memory region with others. */
static bool is_shared(const struct exposure *exposure, const struct entry *entry)
{
	if (entry->is_exact)
		return false;
	return exposure->mode == DART_CONTROL_EXPOSURE_PAGE ||
	       (entry->kind == DART_CONTROL_ENTRY_SLICE && !entry->is_self) || entry->is_gathered;
}

/* True if each copy has its own memory regions. */
static bool by_copy(const struct exposure *exposure, const struct entry *entry)
{
	return exposure->mode == DART_CONTROL_EXPOSURE_EXACT &&
	       entry->kind == DART_CONTROL_ENTRY_SOURCE && !entry->is_gathered;
}

static int entry__register(struct entry *entry, const struct exposure *exposure,
			   const uint8_t *memory, size_t length, struct dart_error *error)
{
	struct ibv_mr *memory_region = exposure__register(exposure, memory, length);

	if (!memory_region)
		return cannot_register(errno, length, error);
	entry->memory_regions[entry->memory_region_count++] = memory_region;
	return 0;
}

int exposure__expose(struct exposure *exposure, struct entry *entry, struct dart_error *error)
{
	const struct dart_zero_extent *extent = &entry->extent;
	uint32_t copies, copy, i;
	size_t length;
	int ret = 0;

	if (is_shared(exposure, entry))
		return 0;

	copies = by_copy(exposure, entry) ? extent->copies : 1;
	entry->memory_regions = calloc((size_t)copies * entry->run_count,
				       sizeof(*entry->memory_regions));
	if (!entry->memory_regions)
		return dart_error__no_memory(error);

	for (copy = 0; copy < copies; copy++) {
		for (i = 0; i < entry->run_count; i++) {
			length = entry->runs[i].length;
			if (!by_copy(exposure, entry))
				length += (extent->copies - 1) * extent->stride;
			ret = entry__register(entry, exposure,
					      first_byte(exposure, entry, copy, &entry->runs[i]),
					      length, error);
			if (ret) {
				exposure__withdraw(exposure, entry);
				return ret;
			}
		}
	}
	return 0;
}

void exposure__withdraw(const struct exposure *exposure, struct entry *entry)
{
	uint32_t i;

	for (i = 0; i < entry->memory_region_count; i++)
		exposure__deregister(exposure, entry->memory_regions[i]);
	free(entry->memory_regions);
	entry->memory_regions = NULL;
	entry->memory_region_count = 0;
}

bool exposure__is_stale(const struct exposure *exposure)
{
	return exposure->mode == DART_CONTROL_EXPOSURE_PAGE &&
	       exposure->changes != exposure->region->changes;
}

int exposure__prepare(struct exposure *exposure, struct dart_error *error)
{
	const struct region *region = exposure->region;
	struct page_exposure *next;
	struct dart_zero_info info;
	int ret;

	if (!exposure__is_stale(exposure))
		return 0;

	ret = region__info(region, &info);
	if (ret)
		return dart_error__system(error, -ret, "cannot query region");
	if (!info.used) {
		exposure->has_next = true;
		exposure->shared_changes++;
		return 0;
	}

	next = calloc(1, sizeof(*next));
	if (!next)
		return dart_error__no_memory(error);
	next->exposure = exposure;
	next->memory_region = exposure__register(exposure, region->memory, info.used);
	if (!next->memory_region) {
		ret = cannot_register(errno, info.used, error);
		free(next);
		return ret;
	}
	/*
	 * The registration mapped every page, holes too, and pins the pages
	 * itself.  Unmap them, or the holes of past extents stay mapped.  The
	 * kernel maps the pages of an eBPF map only once, so they must stay.
	 */
	if (region->way->maps_again)
		madvise((void *)region->memory, info.used, MADV_DONTNEED);

	exposure->next = next;
	exposure->has_next = true;
	exposure->shared_changes++;
	return 0;
}

static void page_exposure__end(struct page_exposure *page)
{
	TAILQ_REMOVE(&page->exposure->retired, page, link);
	page_exposure__free(page);
}

static void on_lease_end(struct lease *lease)
{
	page_exposure__end(lease__owner(lease, struct page_exposure));
}

int exposure__change_device(struct exposure *exposure, struct ibv_pd *pd, struct dart_error *error)
{
	struct page_exposure *page;
	uint32_t i;
	int ret = 0;

	exposure->pd = pd;
	/* No connected peer could READ the retired pages. */
	while ((page = TAILQ_FIRST(&exposure->retired))) {
		lease__cancel(exposure->leases, &page->lease);
		page_exposure__end(page);
	}
	if (exposure->page)
		ret = exposure__exchange(exposure, &exposure->page->memory_region, error);
	for (i = 0; !ret && i < exposure->slab_count; i++)
		ret = exposure__exchange(exposure, &exposure->slabs[i].memory_region, error);
	exposure->shared_changes++;
	return ret;
}

void exposure__commit(struct exposure *exposure)
{
	if (!exposure->has_next)
		return;
	if (exposure->page) {
		TAILQ_INSERT_TAIL(&exposure->retired, exposure->page, link);
		lease__start(exposure->leases, &exposure->page->lease, on_lease_end);
	}
	exposure->page = exposure->next;
	exposure->next = NULL;
	exposure->has_next = false;
	exposure->changes = exposure->region->changes;
}

void exposure__rollback(struct exposure *exposure)
{
	page_exposure__free(exposure->next);
	exposure->next = NULL;
	exposure->has_next = false;
}

static const struct page_exposure *page_of(const struct exposure *exposure)
{
	return exposure->has_next ? exposure->next : exposure->page;
}

int exposure__place_shared(struct exposure *exposure, bool is_rewritten, uint32_t first,
			   int (*add)(void *context, struct ibv_mr *memory_region), void *context)
{
	const struct page_exposure *page = page_of(exposure);
	uint32_t next = is_rewritten ? 0 : first, i;
	struct shared_region *slab;
	int ret = 0;

	if (is_rewritten && page) {
		ret = add(context, page->memory_region);
		next++;
	}
	for (i = 0; !ret && i < exposure->slab_count; i++) {
		slab = &exposure->slabs[i];
		slab->next = slab->place;
		if (!is_rewritten && slab->place != EXPOSURE_UNLISTED)
			continue;
		slab->next = next++;
		ret = add(context, slab->memory_region);
	}
	return ret;
}

void exposure__settle_shared(struct exposure *exposure, bool is_published)
{
	struct shared_region *slab = exposure->slabs;
	uint32_t i;

	for (i = 0; i < exposure->slab_count; i++, slab++) {
		if (is_published)
			slab->place = slab->next;
		else
			slab->next = slab->place;
	}
}

uint32_t exposure__range_count(const struct exposure *exposure, const struct entry *entry)
{
	uint32_t groups = by_copy(exposure, entry) ? entry->extent.copies : 1;

	return groups * entry->run_count;
}

void exposure__ranges(const struct exposure *exposure, const struct entry *entry, uint32_t first,
		      struct dart_range *ranges)
{
	uint32_t count = exposure__range_count(exposure, entry);
	bool is_by_copy = by_copy(exposure, entry);
	uint32_t shared = 0, i;

	if (is_shared(exposure, entry) && !is_on_page(exposure, entry->extent.data)) {
		i = exposure__find_slab(exposure, exposure->region->memory + entry->extent.data);
		shared = i < exposure->slab_count ? exposure->slabs[i].next : EXPOSURE_UNLISTED;
	}
	for (i = 0; i < count; i++) {
		const struct run *run = &entry->runs[i % entry->run_count];
		uint32_t copy = i / entry->run_count;

		ranges[i] = (struct dart_range){
			.address =
				exposure__address(exposure, first_byte(exposure, entry, copy, run)),
			.stride = entry->extent.stride,
			.memory_region = is_shared(exposure, entry) ? shared : first + i,
			.first_copy = copy,
			.copies = is_by_copy ? 1 : entry->extent.copies,
			.offset = run->offset,
			.length = run->length,
		};
	}
}

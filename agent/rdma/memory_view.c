// SPDX-License-Identifier: GPL-2.0-only
/* Registers memory for one kind of access. */
#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "agent/base/long_work.h"
#include "agent/base/rdma_base.h"
#include "memory_view.h"

#define SKIPPED_MAX 63

/*
 * Adapters give the next keys to the next memory regions.  A random number of small
 * ones takes the keys in between, so that no key tells the next one.
 */
static int skip_keys(struct ibv_pd *pd, void *memory, struct ibv_mr *skipped[static SKIPPED_MAX])
{
	uint8_t random = 0;
	int count = 0, most;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return 0;
	most = random % (SKIPPED_MAX + 1);
	while (count < most) {
		skipped[count] = ibv_reg_mr(pd, memory, 1, 0);
		if (!skipped[count])
			break;
		count++;
	}
	return count;
}

/* The kernel takes no address that lies elsewhere in its page than the memory. */
static uint64_t shift_base(uint64_t base, const void *memory)
{
	return base / RDMA_BASE_PAGE_MAX * RDMA_BASE_PAGE_MAX +
	       (uintptr_t)memory % sysconf(_SC_PAGESIZE);
}

static int memory_view__register(struct memory_view *view, void *memory, size_t length, int access,
				 struct dart_error *error)
{
	struct ibv_mr *skipped[SKIPPED_MAX];
	int code, count = skip_keys(view->pd, memory, skipped);
	struct long_work pinning = { };

	long_work__go_on(&pinning);
	view->memory_region = ibv_reg_mr_iova(view->pd, memory, length, view->base, access);
	code = errno;
	while (count)
		ibv_dereg_mr(skipped[--count]);
	if (view->memory_region)
		return 0;
	return dart_error__system(error, code, "cannot register %zu bytes for RDMA", length);
}

int memory_view__open(struct memory_view *view, const struct device *device, void *memory,
		      size_t length, int access, uint64_t base, struct dart_error *error)
{
	int ret = 0;

	*view = (struct memory_view){ .base = base };
	if (!base)
		ret = rdma_base__choose(&view->base, error);
	if (ret)
		return ret;
	view->base = shift_base(view->base, memory);
	view->pd = ibv_alloc_pd(device->context);
	if (!view->pd)
		return dart_error__system(error, errno, "cannot open a protection domain on %s",
					  device__name(device));
	ret = memory_view__register(view, memory, length, access, error);
	if (ret) {
		ibv_dealloc_pd(view->pd);
		view->pd = NULL;
	}
	return ret;
}

int memory_view__turn(struct memory_view *view, void *memory, size_t length, int access,
		      struct dart_error *error)
{
	struct memory_view turned = { .pd = view->pd, .former = view->memory_region };
	int ret;

	ret = rdma_base__choose(&turned.base, error);
	if (ret)
		return ret;
	turned.base = shift_base(turned.base, memory);
	ret = memory_view__register(&turned, memory, length, access, error);
	if (!ret)
		*view = turned;
	return ret;
}

void memory_view__end_former(struct memory_view *view)
{
	if (view->former && ibv_dereg_mr(view->former))
		log__peer_error("cannot deregister former memory of peers");
	view->former = NULL;
}

void memory_view__close(struct memory_view *view)
{
	if (!view->pd)
		return;
	memory_view__end_former(view);
	if (ibv_dereg_mr(view->memory_region))
		log__peer_error("cannot deregister a memory region of peers");
	ibv_dealloc_pd(view->pd);
	view->memory_region = NULL;
	view->pd = NULL;
}

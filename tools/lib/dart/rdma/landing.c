// SPDX-License-Identifier: LGPL-2.1-or-later
/* Registers memory that READs land in. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/rdma/landing_internal.h>
#include <libdart/rdma/verbs.h>

static int landing__allocate(struct dart_landing *landing)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	if (landing->size > SIZE_MAX - page)
		return -ENOMEM;
	landing->size = (landing->size + page - 1) / page * page;
	landing->memory = aligned_alloc(page, landing->size);
	if (!landing->memory)
		return -ENOMEM;
	memset(landing->memory, 0, landing->size);
	return 0;
}

/*
 * On RoCE and InfiniBand without remote access: only responses to own READs are written there.  An
 * iWARP response names the memory that it lands in (RFC 5040, 4.4), and adapters want that memory
 * to permit remote WRITEs.
 */
static int access_to(const struct ibv_pd *pd)
{
	if (dart_verbs__is_iwarp(pd->context))
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	return IBV_ACCESS_LOCAL_WRITE;
}

int dart_landing__register(struct dart_landings *landings, struct ibv_pd *pd, void *memory,
			   size_t size, struct dart_landing **landingp)
{
	struct dart_landing *landing = calloc(1, sizeof(*landing));
	int ret = 0;

	if (!landing)
		return -ENOMEM;
	LIST_INSERT_HEAD(landings, landing, place);
	landing->memory = memory;
	landing->size = size;
	landing->is_borrowed = memory;
	if (!memory)
		ret = landing__allocate(landing);
	if (!ret) {
		landing->mr = ibv_reg_mr(pd, landing->memory, landing->size, access_to(pd));
		if (landing->mr)
			landing->lkey = landing->mr->lkey;
		else
			ret = -errno;
	}
	if (ret)
		dart_landing__free(landing);
	else
		*landingp = landing;
	return ret;
}

void *dart_landing__memory(const struct dart_landing *landing)
{
	return landing->memory;
}

void dart_landing__free(struct dart_landing *landing)
{
	if (!landing)
		return;
	if (landing->mr)
		ibv_dereg_mr(landing->mr);
	if (!landing->is_borrowed)
		free(landing->memory);
	LIST_REMOVE(landing, place);
	free(landing);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory that an agent WRITEs its table to: see mirror_internal.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <libdart/rdma/mirror_internal.h>
#include <libdart/rdma/verbs.h>

/* Addresses are in [2^61, 2^62), where no program has memory. */
#define ADDRESS_MIN (UINT64_C(1) << 61)
/* More than any page. */
#define ADDRESS_ALIGN (UINT64_C(1) << 20)

static int choose_address(uint64_t *address)
{
	if (getrandom(address, sizeof(*address), 0) != sizeof(*address))
		return -EIO;
	*address = ADDRESS_MIN + *address % ADDRESS_MIN / ADDRESS_ALIGN * ADDRESS_ALIGN;
	return 0;
}

int dart_mirror__open(struct dart_mirror *mirror, struct ibv_context *verbs, uint32_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const size_t room = (size + page - 1) / page * page;
	int ret;

	*mirror = (struct dart_mirror){ .size = size, .used = DART_MIRROR_UPDATES };
	ret = choose_address(&mirror->address);
	if (ret)
		return ret;
	/* Whole pages: an adapter may reach the rest of a page. */
	mirror->memory = aligned_alloc(page, room);
	if (!mirror->memory)
		return -ENOMEM;
	memset(mirror->memory, 0, room);
	mirror->pd = ibv_alloc_pd(verbs);
	if (!mirror->pd)
		return -errno;
	mirror->mr = ibv_reg_mr_iova(mirror->pd, mirror->memory, size, mirror->address,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return mirror->mr ? 0 : -errno;
}

void dart_mirror__close(struct dart_mirror *mirror)
{
	if (mirror->mr)
		ibv_dereg_mr(mirror->mr);
	if (mirror->pd)
		ibv_dealloc_pd(mirror->pd);
	free(mirror->memory);
	*mirror = (struct dart_mirror){};
}

struct dart_control_mirror dart_mirror__offer(const struct dart_mirror *mirror)
{
	return (struct dart_control_mirror){
		.address = htole64(mirror->address),
		.rkey = htole32(mirror->mr->rkey),
		.length = htole32(mirror->size),
	};
}

int dart_mirror__post(struct ibv_qp *qp, uint64_t number, uint32_t count)
{
	/* Without room: an update ends without bytes, and nobody sends others. */
	struct ibv_recv_wr receive = { .wr_id = number }, *bad;
	int ret = 0;

	while (!ret && count--)
		ret = dart_verbs__result(ibv_post_recv(qp, &receive, &bad));
	return ret;
}

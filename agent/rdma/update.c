// SPDX-License-Identifier: GPL-2.0-only
/* Makes the work requests that bring a mirror up to date: see update.h. */
#include <dart/control.h>

#include "update.h"

/* Where the blocks end that the mirror gets. */
static uint32_t end_of(const struct mirror *mirror)
{
	const uint32_t used = mirror->mirrors->used;
	const uint32_t blocks = (used + DART_CONTROL_BLOCK - 1) / DART_CONTROL_BLOCK;

	return used > mirror->place.length ? DART_CONTROL_BLOCK : blocks * DART_CONTROL_BLOCK;
}

static void update__add(struct update *update, const struct mirror *mirror, uint64_t id,
			uint32_t begin, uint32_t length)
{
	const uint32_t i = update->count++;

	update->blocks[i] = (struct ibv_sge){
		.addr = mirror->mirrors->address + begin,
		.length = length,
		.lkey = mirror->mirrors->lkey,
	};
	update->requests[i] = (struct ibv_send_wr){
		.wr_id = id,
		.next = &update->requests[i + 1],
		.sg_list = &update->blocks[i],
		.num_sge = !!length,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma.remote_addr = mirror->place.address + begin,
		.wr.rdma.rkey = mirror->place.rkey,
	};
}

/* Prolongs the last WRITE up to @end if the blocks before @begin cost less than another WRITE. */
static bool update__joins(struct update *update, const struct mirror *mirror, uint32_t begin,
			  uint32_t end)
{
	struct ibv_sge *last = update->blocks + update->count - 1;
	uint32_t first;

	if (!update->count)
		return false;
	first = last->addr - mirror->mirrors->address;
	if (update->count < UPDATE_WRITES && begin - first - last->length > UPDATE_GAP)
		return false;
	last->length = end - first;
	return true;
}

void update__make(struct update *update, const struct mirror *mirror, uint64_t id)
{
	const uint32_t end = end_of(mirror);
	uint32_t offset = 0, begin, length;
	struct ibv_send_wr *last;

	update->count = 0;
	while ((length = dart_table_writer__changed(mirror->mirrors->writer, mirror->generation,
						    offset, end, &begin))) {
		offset = begin + length;
		if (!update__joins(update, mirror, begin, offset))
			update__add(update, mirror, id, begin, length);
	}
	if (!update->count)
		update__add(update, mirror, id, 0, 0);
	last = &update->requests[update->count - 1];
	last->next = NULL;
	last->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	last->send_flags = IBV_SEND_SIGNALED;
}

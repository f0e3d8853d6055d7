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
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma.remote_addr = mirror->place.address + begin,
		.wr.rdma.rkey = mirror->place.rkey,
	};
}

void update__make(struct update *update, const struct mirror *mirror, uint64_t id)
{
	const uint32_t end = end_of(mirror);
	uint32_t offset = 0, begin, length;

	update->count = 0;
	while (update->count < UPDATE_WRITES) {
		length = dart_table_writer__changed(mirror->mirrors->writer, mirror->generation,
						    offset, end, &begin);
		if (!length)
			break;
		if (update->count == UPDATE_WRITES - 1)
			length = end - begin;
		update__add(update, mirror, id, begin, length);
		offset = begin + length;
	}
	/*
	 * It carries no bytes: the table could change while the request waits for a receive of the
	 * controller, and its bytes would not fit the blocks that were written before.
	 */
	update->requests[update->count++] = (struct ibv_send_wr){
		.wr_id = id,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = mirror->place.address,
		.wr.rdma.rkey = mirror->place.rkey,
	};
}

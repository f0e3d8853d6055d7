/* SPDX-License-Identifier: GPL-2.0-only */
/* Updates of mirrors, see <dart/control.h>, as work requests.  Pure code. */
#ifndef UPDATE_H
#define UPDATE_H

#include <infiniband/verbs.h>

#include "agent/base/mirror.h"

#define UPDATE_WRITES 8
/* Work requests of an update: WRITEs of blocks, and one with immediate data. */
#define UPDATE_REQUESTS (UPDATE_WRITES + 1)

struct update {
	struct ibv_send_wr requests[UPDATE_REQUESTS]; /* linked: the first @count */
	struct ibv_sge blocks[UPDATE_WRITES];
	uint32_t count;
};

/*
 * Makes the requests that WRITE the blocks of the table that changed since @mirror->generation, as
 * far as the mirror reaches, or of a table that is longer than the mirror the first block alone,
 * from whose header the controller learns the length.  More than UPDATE_WRITES runs of blocks
 * become fewer, with blocks in between.  Only the last request is signaled; all have the number
 * @id.
 */
void update__make(struct update *update, const struct mirror *mirror, uint64_t id);

#endif /* UPDATE_H */

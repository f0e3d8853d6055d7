/* SPDX-License-Identifier: GPL-2.0-only */
/* Updates of mirrors, see <dart/control.h>, as work requests.  Pure code. */
#ifndef UPDATE_H
#define UPDATE_H

#include <infiniband/verbs.h>

#include "agent/base/mirror.h"

/* Work requests of an update: WRITEs of blocks, the last one with immediate data. */
#define UPDATE_WRITES 8
/*
 * Bytes between blocks that changed which are written with them: another WRITE with its
 * acknowledgement costs adapters, and soft-RoCE more than these.
 */
#define UPDATE_GAP 1024

struct update {
	struct ibv_send_wr requests[UPDATE_WRITES]; /* linked: the first @count */
	struct ibv_sge blocks[UPDATE_WRITES];
	uint32_t count;
};

/*
 * Makes the requests that WRITE the blocks of the table that changed since @mirror->generation, as
 * far as the mirror reaches, or of a table that is longer than the mirror the first block alone,
 * from whose header the controller learns the length.  Runs of blocks with up to UPDATE_GAP bytes
 * in between become one, and more than UPDATE_WRITES become fewer.  Only the last request is
 * signaled and has immediate data; all have the number @id.
 *
 * While a request waits for a receive of the controller the table may change.  Then the mirror
 * holds no whole table, which the controller finds out; the next update writes the later changes.
 */
void update__make(struct update *update, const struct mirror *mirror, uint64_t id);

#endif /* UPDATE_H */

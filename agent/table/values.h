/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of entries as in an answer of <dart/rpc.h>: dartd copies them itself from its mapping,
 * by the places in the table that it has published, and bit by bit.
 */
#ifndef VALUES_H
#define VALUES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <dart/rpc.h>
#include <libdart/error.h>
#include <libdart/rpc/message.h>

#include "control_region.h"

/* The entries that were asked for, and the next byte. */
struct values {
	const struct control_region *control_region;
	uint64_t generation;	/* whose places the runs have */
	struct dart_rpc_entries runs[DART_RPC_RUNS_MAX];
	uint32_t run_count;
	uint32_t run;
	uint32_t entry;		/* in the run */
	uint32_t range;		/* of the entry */
	uint32_t copy;		/* of the range */
	uint32_t offset;	/* in the copy */
};

/*
 * Begins with the entries of a request that was checked.  Returns 0, -ESTALE, or -EBADMSG if the
 * table of that generation lacks one of them.
 */
int values__begin(struct values *values, const struct control_region *control_region,
		  const struct dart_rpc_message *request, struct dart_error *error);

/*
 * Copies the next bytes to @to, @size at most, not 0, and returns how many: 0 after the last entry.
 * Bytes of a copy that lie side by side are divided only if they are more than @size, which is then
 * at least DART_CONTROL_LINE, and never within an aligned integer or a line of a row with
 * sequences. -ESTALE: the generation can no longer be used.
 */
ssize_t values__copy(struct values *values, uint8_t *to, size_t size, struct dart_error *error);

#endif /* VALUES_H */

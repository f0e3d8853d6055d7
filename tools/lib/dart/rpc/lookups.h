/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Entries of a lookup table in an answer of <dart/rpc.h>: checks a hostile one, and writes one.
 */
#ifndef DART_RPC_LOOKUPS_H
#define DART_RPC_LOOKUPS_H

#include <stddef.h>
#include <stdint.h>

#include <dart/rpc.h>
#include <libdart/error.h>

/* An answer that was checked, in the machine's byte order. */
struct dart_rpc_lookups_values {
	/* Of the table: any numbers, the caller knows which geometries exist. */
	uint32_t rows_log2, cells, key_length, value_length, packet_length;
	uint32_t epoch;		/* not 0 */
	uint32_t count;		/* of entries */
	uint64_t next;		/* 0: these were the last entries */
	/* Each is a key and its value, without a gap; in the bytes of the answer, any alignment. */
	const uint8_t *entries;
};

/*
 * Checks @length hostile bytes, which stay the caller's, as the answer to a request for entries
 * from @first on.  Returns 0, or sets @error and returns -EBADMSG.
 */
int dart_rpc_lookups__decode(const void *bytes, size_t length, uint64_t first,
			     struct dart_rpc_lookups_values *values, struct dart_error *error);

/*
 * Writes the beginning of an answer, for @values->count entries that the caller writes after it.
 * Returns the bytes of all.
 */
size_t dart_rpc_lookups__put(void *bytes, const struct dart_rpc_lookups_values *values);

#endif /* DART_RPC_LOOKUPS_H */

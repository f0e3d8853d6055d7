/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of a store's epochs in an answer of <dart/rpc.h>: checks a hostile one, and writes one.
 */
#ifndef DART_RPC_EPOCHS_H
#define DART_RPC_EPOCHS_H

#include <stddef.h>
#include <stdint.h>

#include <dart/rpc.h>
#include <libdart/error.h>

/* Bytes of an answer. */
#define DART_RPC_EPOCHS_LENGTH_MAX       \
	(sizeof(struct dart_rpc_epochs) + \
	 DART_RPC_EPOCHS_MAX * sizeof(struct dart_rpc_epoch))

/* A list that was checked, in the machine's byte order. */
struct dart_rpc_epochs_values {
	/* Of the store: any numbers, the caller knows which geometries exist. */
	uint32_t slots_log2, value_length, checksum_bits, redundancy;
	uint32_t count;
	uint64_t more_ns;	/* 0: all epochs of the time that was asked for */
	const uint8_t *raw;	/* in the bytes of the answer, any alignment */
};

struct dart_rpc_epoch_values {
	uint64_t since_ns, until_ns;	/* until_ns is 0 or above since_ns */
	uint64_t length;		/* bytes */
	enum dart_rpc_epoch_place place;
};

/*
 * Checks @length hostile bytes, which stay the caller's.  Returns 0, or sets @error and returns
 * -EBADMSG.
 */
int dart_rpc_epochs__decode(const void *bytes, size_t length, struct dart_rpc_epochs_values *values,
			    struct dart_error *error);
/* The epoch with @index, below the count. */
struct dart_rpc_epoch_values dart_rpc_epochs__get(const struct dart_rpc_epochs_values *values,
						  uint32_t index);

/* Write the beginning of an answer, and the epoch with @index; they return the bytes so far. */
size_t dart_rpc_epochs__put(void *bytes, const struct dart_rpc_epochs_values *values);
size_t dart_rpc_epochs__put_epoch(void *bytes, uint32_t index,
				  const struct dart_rpc_epoch_values *epoch);

#endif /* DART_RPC_EPOCHS_H */

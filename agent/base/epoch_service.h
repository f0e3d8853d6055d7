/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What callers may learn about the epochs of stores, see <dart/rpc.h>: the room of stores
 * implements it, and agent.c hands it to the sessions.  All arguments of a caller are hostile, but
 * within the bounds of their messages.
 */
#ifndef EPOCH_SERVICE_H
#define EPOCH_SERVICE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/configuration/prefix.h>
#include <libdart/error.h>
#include <libdart/rpc/message.h>

struct epoch_service {
	void *subject;
	/* The addresses that may READ stores may ask for their past.  None without a list. */
	const struct dart_prefixes *readers;
	/*
	 * Writes an answer of at most DART_RPC_EPOCHS_LENGTH_MAX bytes.  Returns its length, or
	 * sets @error and returns -errno: -ENOENT if there is no such store, or it has no epochs.
	 */
	ssize_t (*list)(void *subject, const char *store, uint64_t since_ns, uint64_t until_ns,
			void *bytes, struct dart_error *error);
	/*
	 * Checks that the epoch has these bytes.  Returns 0, and sets @fd to a descriptor that the
	 * caller closes, -1 for an epoch in memory.  -ENOENT, also if it has other bytes; -ESTALE
	 * if the epoch has gone, or lies in the other place.
	 */
	int (*open)(void *subject, const struct dart_rpc_epoch_bytes *wanted, int *fd,
		    struct dart_error *error);
	/*
	 * Copies @size bytes from @offset after @wanted->offset; @fd: of open().  -ESTALE if the
	 * epoch has gone since, or another error of reading.
	 */
	int (*read)(void *subject, const struct dart_rpc_epoch_bytes *wanted, int fd,
		    uint32_t offset, void *bytes, size_t size, struct dart_error *error);
};

#endif /* EPOCH_SERVICE_H */

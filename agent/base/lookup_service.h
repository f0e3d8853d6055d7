/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What callers may do with lookup tables of switches, see <dart/rpc.h>: the room of these tables
 * implements it, and agent.c hands it to the sessions, which know who may call it.  All arguments
 * of a caller are hostile, but within the bounds of their messages.
 */
#ifndef LOOKUP_SERVICE_H
#define LOOKUP_SERVICE_H

#include <stdint.h>
#include <sys/types.h>

#include <libdart/error.h>
#include <libdart/rpc/message.h>

struct lookup_service {
	void *subject;
	/*
	 * Writes an answer of at most DART_RPC_LOOKUPS_LENGTH_MAX bytes.  Returns its length, or
	 * sets @error and returns -errno: -ENOENT if there is no such table, -ESTALE if it has
	 * another epoch.
	 */
	ssize_t (*list)(void *subject, const struct dart_rpc_lookups_wanted *wanted, void *bytes,
			struct dart_error *error);
	/*
	 * Makes the changes in their order, and writes a byte for each of them, enum
	 * dart_rpc_lookup_outcome.  Returns 0, or an error as above, or -EINVAL if a record breaks
	 * a rule; then no change is made.
	 */
	int (*change)(void *subject, const struct dart_rpc_lookup_changes *changes,
		      uint8_t *outcomes, struct dart_error *error);
};

#endif /* LOOKUP_SERVICE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The common part of the stores, or the lookup tables, of this host: each has a name and memory
 * that peers reach, which is kept for the next dartd if it is in no file, and readers that connect
 * to it by its name.
 */
#ifndef REMOTE_OBJECTS_H
#define REMOTE_OBJECTS_H

#include <netinet/in.h>

#include "agent/base/changes.h"
#include "agent/base/counts.h"
#include "kept_memory.h"
#include "listener.h"

/* Bytes of a name, with the NUL. */
#define REMOTE_OBJECT_NAME_MAX	40

struct remote_objects {
	const struct device *device;
	struct kept_memory kept;	/* memory that the last dartd left; has the noun of all */
	struct listener *listener;	/* open while objects are created or deleted */
	const struct changes *changes;
	struct memory_counts *counts;
};

/* Can a new object be called @name?  @is_taken: another one is. */
int remote_objects__check_name(const struct remote_objects *objects, const char *name,
			       bool is_taken, struct dart_error *error);
/* The same for the name in a request of a reader, hostile, of REMOTE_OBJECT_NAME_MAX bytes. */
int remote_objects__check_asked(const struct remote_objects *objects,
				const char *name, struct dart_error *error);

/* A memory region of @length bytes came, or with -1 went. */
void remote_objects__count(const struct remote_objects *objects, uint64_t length, int more);
/* Announces that a peer of @object, a @kind like "reporter", was "added" or the like. */
void remote_objects__announce_peer(const struct remote_objects *objects, const char *event,
				   const char *kind, struct in_addr address, const char *object);

#endif /* REMOTE_OBJECTS_H */

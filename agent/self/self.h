/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entry "dartd", about dartd itself.  Its values lie in one page of the region,
 * which dartd writes as a process writes a slice, at events only.
 */
#ifndef SELF_H
#define SELF_H

#include <linux/dart_zero.h>

#include <libdart/error.h>

#include "agent/base/counts.h"
#include "agent/region/region.h"
#include "agent/table/registry.h"

struct self {
	struct counts *counts;	/* written by the rooms that count */
	struct dart_zero_slice slice;
};

/* Allocates the counts; they stay until the region is about to be closed. */
int self__open(struct self *self, struct region *region, struct dart_error *error);
void self__close(struct self *self);

/* Adds the entry, which stays until the registry is closed. */
int self__publish(const struct self *self, struct registry *registry, struct dart_error *error);

#endif /* SELF_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A switch that looks a table up: the copy of the table's rows that only it and dartd
 * write, a view of that, and a queue pair.
 */
#ifndef REQUESTER_H
#define REQUESTER_H

#include <stdint.h>

#include <libdart/error.h>
#include <libdart/tea/tea_table.h>

#include "agent/rdma/remote_objects.h"
#include "agent/rdma/answering_qp.h"

struct requester {
	struct remote_peer peer;
	struct dart_tea_table *entries;	/* that it is attached to */
	struct remote_memory memory;
	struct memory_view view;
	struct answering_qp answering_qp;
	uint64_t renewals;	/* of the queue pair */
};

/* @entries outlives it, and repeats each change in its copy. */
int requester__new(const struct device *device, struct dart_tea_table *entries,
		   struct in_addr address, struct requester **requester, struct dart_error *error);
void requester__free(struct requester *requester);

/*
 * Replaces its queue pair, which a request of the wrong length put into the error state, with a
 * queue pair of another number and first PSN; its memory, key and address stay.
 */
int requester__renew(struct requester *requester, const struct device *device,
		     struct dart_error *error);

#endif /* REQUESTER_H */

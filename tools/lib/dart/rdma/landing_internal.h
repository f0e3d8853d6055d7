/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that READs land in, registered.  Private to the endpoint. */
#ifndef DART_LANDING_MEMBERS_H
#define DART_LANDING_MEMBERS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <libdart/rdma/landing.h>

struct dart_landing {
	LIST_ENTRY(dart_landing) place; /* among the landings of an endpoint */
	void *memory;
	size_t size;
	struct ibv_mr *mr;
	uint32_t lkey; /* of @mr: each READ needs it, and nothing else there */
	bool is_borrowed; /* the memory: from the caller, who frees it */
};

LIST_HEAD(dart_landings, dart_landing);

/*
 * Registers the @size bytes at @memory, or if that is NULL as many of its own, which are
 * zero and a whole number of pages.  Returns 0, -ENOMEM or an error of ibv_reg_mr().
 */
int dart_landing__register(struct dart_landings *landings, struct ibv_pd *pd, void *memory,
			   size_t size, struct dart_landing **landing);

#endif /* DART_LANDING_MEMBERS_H */

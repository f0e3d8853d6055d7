/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of network namespaces, as an eBPF program finds it in the kernel. */
#ifndef NAMESPACE_LIST_H
#define NAMESPACE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "programs.h"

struct namespace_list {
	bool is_watched;
	uint64_t seen; /* hash of the list that was last read or noticed */
	uint64_t due; /* ns, CLOCK_MONOTONIC: the next look is not before */
};

/*
 * Reads the inodes of all network namespaces; the caller frees @inodes.  @is_watched: from now on
 * namespace_list__has_changed() looks for changes.  -EAGAIN: the list changed during the read;
 * other errors are errors of gather_programs__keep().
 */
int namespace_list__read(struct namespace_list *list, struct gather_programs *programs,
			 bool is_watched, uint32_t **inodes, uint32_t *count);
/* Looks at most once a second.  Returns true once for each change. */
bool namespace_list__has_changed(struct namespace_list *list, struct gather_programs *programs);

#endif /* NAMESPACE_LIST_H */

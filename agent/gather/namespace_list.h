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
	/* For namespace_list__confirm(): the list, by inode, as of @time (CLOCK_BOOTTIME, ns). */
	struct gather_namespace *confirmed;
	uint32_t count;
	uint64_t time;
	struct dart_error why; /* of the last failure of namespace_list__read() */
};

void namespace_list__free(struct namespace_list *list);

/*
 * Reads the inodes of all network namespaces; the caller frees @inodes.  @is_watched: from now on
 * namespace_list__has_changed() looks for changes.  -EAGAIN: the list changed during the read;
 * other errors are errors of gather_programs__keep(), which @list->why then explains.
 */
int namespace_list__read(struct namespace_list *list, struct gather_programs *programs,
			 bool is_watched, uint32_t **inodes, uint32_t *count);
/*
 * Returns 0 if the namespace with this inode had not ended at @time (CLOCK_BOOTTIME, ns), which is
 * past: it is still in the kernel's list.  @identity: of the namespace as an earlier call stored
 * it; 0: the inode is known to belong to the right namespace now, and the call stores the identity.
 * -ENODEV: it ended; -EAGAIN: the list cannot be read now.
 */
int namespace_list__confirm(struct namespace_list *list, struct gather_programs *programs,
			    uint32_t inode, uint32_t *identity, uint64_t time);
/* Looks at most once a second.  Returns true once for each change. */
bool namespace_list__has_changed(struct namespace_list *list, struct gather_programs *programs);

#endif /* NAMESPACE_LIST_H */

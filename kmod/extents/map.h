/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_MAP_H
#define DART_ZERO_MAP_H

struct dart_extent;

/*
 * An extent over the values of the eBPF map of @fd, not yet placed, or ERR_PTR().  The caller has
 * checked capabilities.  Process context.
 */
struct dart_extent *dart_map_open(int fd);

#endif /* DART_ZERO_MAP_H */

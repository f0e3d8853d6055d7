/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding eBPF maps.  All return a descriptor that is open for reading, -1 if
 * there is none; why has been said.
 */
#ifndef MAP_H
#define MAP_H

int map__open_path(const char *path);
int map__open_id(const char *number);
/* The name must be that of one map only. */
int map__open_name(const char *name);

#endif /* MAP_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sizes of a lookup table: see <dart/tea.h> and <dart/tea_access.h>. */
#ifndef DART_TEA_GEOMETRY_H
#define DART_TEA_GEOMETRY_H

#include <stddef.h>
#include <stdint.h>

#include <dart/tea.h>

/* The parameters that all servers, switches and readers of a table share. */
struct dart_tea_geometry {
	uint32_t rows_log2;
	uint32_t cells;		/* of a bucket */
	uint32_t key_length;	/* bytes */
	uint32_t value_length;	/* bytes */
	uint32_t packet_length;	/* bytes of the longest packet */
};

/*
 * Returns 0, or -EINVAL if a table cannot have this geometry: a number is out of
 * its range, or a row and its scratchpad have more than 2^DART_TEA_ROW_LOG2_MAX bytes.
 */
int dart_tea_geometry__check(const struct dart_tea_geometry *geometry);

/* All that follows takes a geometry that passed the check. */

/* Bytes of a cell, S, and of a row without its scratchpad, R. */
size_t dart_tea_geometry__cell_length(const struct dart_tea_geometry *geometry);
size_t dart_tea_geometry__row_length(const struct dart_tea_geometry *geometry);
/* L: rows for switches are 2^L bytes apart. */
uint32_t dart_tea_geometry__row_log2(const struct dart_tea_geometry *geometry);
uint64_t dart_tea_geometry__rows(const struct dart_tea_geometry *geometry);

/* The server's own copy: bytes between rows, offset of the stash, bytes of all. */
size_t dart_tea_geometry__stride(const struct dart_tea_geometry *geometry);
uint64_t dart_tea_geometry__stash(const struct dart_tea_geometry *geometry);
uint64_t dart_tea_geometry__length(const struct dart_tea_geometry *geometry);
/* Places where an entry's window in the stash can begin, 2^s; cells of the stash. */
uint64_t dart_tea_geometry__stash_places(const struct dart_tea_geometry *geometry);
uint64_t dart_tea_geometry__stash_cells(const struct dart_tea_geometry *geometry);

/* A switch's copy: bytes of all. */
uint64_t dart_tea_geometry__view_length(const struct dart_tea_geometry *geometry);

#endif /* DART_TEA_GEOMETRY_H */

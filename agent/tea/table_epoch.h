/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Epochs of tables, 1 to DART_TEA_EPOCH_MAX: seconds of CLOCK_REALTIME, but behind each
 * epoch that this dartd knows of.  After DART_TEA_EPOCH_MAX, some 194 days, comes 1.
 */
#ifndef TABLE_EPOCH_H
#define TABLE_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

/* Is @a behind @b, by less than half of all epochs?  @b may be 0: none. */
bool table_epoch__is_behind(uint32_t a, uint32_t b);
/* The epoch at @now, s, behind @last, which may be 0. */
uint32_t table_epoch__next(uint32_t last, uint64_t now);

#endif /* TABLE_EPOCH_H */

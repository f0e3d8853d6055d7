/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies of values that writers change at the same time. */
#ifndef LIVE_H
#define LIVE_H

#include <libdart/table/table.h>

#include "exposure.h"

/*
 * Copies bytes from the first to the last, in this order for other processors as well, so
 * that sequences show torn rows, see <dart/control.h>; aligned integers are never torn.
 */
void live__load(uint8_t *to, uintptr_t from, size_t length);

/*
 * Copies the entry's copies, whose ranges are those of the exposure, to @copies, one after the
 * other: dart_entry__size() bytes, zero outside the ranges.  Aligned integers are never torn.
 */
void live__copy(const struct exposure *exposure, const struct dart_entry *entry, uint8_t *copies);

#endif /* LIVE_H */

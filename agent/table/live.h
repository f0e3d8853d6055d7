/* SPDX-License-Identifier: GPL-2.0-only */
/* Values that others change while they are being copied. */
#ifndef LIVE_H
#define LIVE_H

#include <libdart/table/table.h>

/*
 * Copies the entry's copies, whose ranges lie in our own address space, one
 * behind the other to @copies: dart_entry__size() bytes, zero where no range
 * is.  Aligned integers arrive whole.
 */
void live__copy(const struct dart_entry *entry, uint8_t *copies);

#endif /* LIVE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_QUARANTINE_H
#define DART_ZERO_QUARANTINE_H

struct dart_extent;

/*
 * Frees @extent of a region that is closed, at once if its memory is not reused
 * or not pinned, otherwise when the last pin is gone.  Process context.
 */
void dart_quarantine_add(struct dart_extent *extent);

/* When the module exits: its references ensure that no extent is left. */
void dart_quarantine_exit(void);

#endif /* DART_ZERO_QUARANTINE_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pages of the variables of a layout, and the objects of libdartzero that describe them. */
#ifndef PRELOAD_PAGES_H
#define PRELOAD_PAGES_H

#include "preload_layout.h"
#include "zero_internal.h"

/*
 * Sets the pieces and the objects, which wait for dartd, of @zero, whose other members are set: all
 * values of the layout that lie in pages which the program alone writes.  They refer to @layout.
 * Returns how many values it leaves out for another reason than that they lie behind pointers, with
 * the name of one in @example, or -errno with the sentence in @reason.
 */
int preload_pages__choose(const struct preload_layout *layout, struct dart_zero *zero,
			  const char **example, char reason[static PRELOAD_REASON_MAX]);

#endif /* PRELOAD_PAGES_H */

// SPDX-License-Identifier: GPL-2.0-only
#ifndef DART_TNA_CONSTANT_P4
#define DART_TNA_CONSTANT_P4

/* A constant in a list needs a width, which C constants do not have. */
#define PASTE(width, value)	width##w##value
#define WIDE(width, value)	PASTE(width, value)

#endif /* DART_TNA_CONSTANT_P4 */

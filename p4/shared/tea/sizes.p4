// SPDX-License-Identifier: GPL-2.0-only
/* Sizes of tables and registers of a switch with lookup tables. */
#ifndef DART_TEA_SIZES_P4
#define DART_TEA_SIZES_P4

#include <dart/tea.h>

/* Defaults for sizes that the network function does not define. */
#ifndef TEA_CELLS
#define TEA_CELLS		DART_TEA_CELLS
#endif
#ifndef TEA_CACHE_ENTRIES
#define TEA_CACHE_ENTRIES	1024	/* as TEA, section 5.1 */
#endif
#ifndef TEA_STASH_ENTRIES
#define TEA_STASH_ENTRIES	65536
#endif
#ifndef TEA_USE_BITS
#define TEA_USE_BITS		16	/* log2 of the cells of a register of stamps */
#endif
#define TEA_SERVERS		64	/* all numbers of 6 bits */
#define TEA_PORTS		512	/* all numbers of 9 bits */
#define TEA_OTHERWISE_ENTRIES	32
#define TEA_ROUTES		1024
#define TEA_HOSTS		1024

#define TEA_KEY_BITS		(8 * TEA_KEY_BYTES)
#define TEA_VALUE_BITS		(8 * TEA_VALUE_BYTES)
#define TEA_PAD_BYTES		(3 - (TEA_KEY_BYTES + TEA_VALUE_BYTES + 3) % 4)

/* S and R of <dart/tea.h>. */
#define TEA_CELL_BYTES		(4 + TEA_KEY_BYTES + TEA_VALUE_BYTES + \
				 TEA_PAD_BYTES)
#define TEA_ROW_BYTES		(12 + 2 * TEA_CELLS * TEA_CELL_BYTES)

#endif /* DART_TEA_SIZES_P4 */

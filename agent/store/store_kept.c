// SPDX-License-Identifier: GPL-2.0-only
/* The name by which the next dartd recognizes the memory of a store. */
#include <stdio.h>

#include <dart/store_access.h>

#include "store_kept.h"

_Static_assert(sizeof(STORE_KEPT_PREFIX) + DART_STORE_NAME_MAX + sizeof(",32,64,64,8") <
		       FD_STORE_NAME_MAX,
	       "the name fits");

void store_kept__name(const char *store, const struct dart_store_geometry *geometry,
		      char name[static FD_STORE_NAME_MAX])
{
	snprintf(name, FD_STORE_NAME_MAX, STORE_KEPT_PREFIX "%s,%d,%u,%u,%u", store,
		 __builtin_ctzll(geometry->slots), geometry->value_length, geometry->checksum_bits,
		 geometry->redundancy);
}

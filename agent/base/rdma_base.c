// SPDX-License-Identifier: GPL-2.0-only
/* Chooses random addresses for RDMA. */
#include <errno.h>
#include <sys/random.h>

#include "rdma_base.h"

/*
 * Addresses are in [2^61, 2^62).  Memory begins in the lower half, so that
 * even the largest store ends far below 2^62.
 */
#define BASE_MIN (UINT64_C(1) << 61)

int rdma_base__choose(uint64_t *base, struct dart_error *error)
{
	if (getrandom(base, sizeof(*base), 0) != sizeof(*base))
		return dart_error__set(error, EIO, "cannot get random numbers");
	*base = BASE_MIN + *base % (BASE_MIN / 2) / RDMA_BASE_ALIGN * RDMA_BASE_ALIGN;
	return 0;
}

bool rdma_base__is_valid(uint64_t base)
{
	return base >= BASE_MIN && base < BASE_MIN + BASE_MIN / 2 && base % RDMA_BASE_ALIGN == 0;
}

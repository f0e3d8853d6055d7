/* SPDX-License-Identifier: GPL-2.0-only */
/* The addresses at which peers see memory of dartd: hard to guess. */
#ifndef RDMA_BASE_H
#define RDMA_BASE_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

/* Of a huge page. */
#define RDMA_BASE_ALIGN (UINT64_C(2) << 20)

/* Bytes of the largest page of any architecture, huge ones aside. */
#define RDMA_BASE_PAGE_MAX (UINT64_C(64) << 10)

int rdma_base__choose(uint64_t *base, struct dart_error *error);
/* True if rdma_base__choose() can return this address. */
bool rdma_base__is_valid(uint64_t base);

#endif /* RDMA_BASE_H */

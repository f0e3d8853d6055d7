/* SPDX-License-Identifier: GPL-2.0-only */
/* The addresses at which the sides of RDMA see stores: hard to guess. */
#ifndef RDMA_BASE_H
#define RDMA_BASE_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

int store_base__choose(uint64_t *base, struct dart_error *error);
/* Can store_base__choose() have chosen it? */
bool store_base__is_valid(uint64_t base);

#endif /* RDMA_BASE_H */

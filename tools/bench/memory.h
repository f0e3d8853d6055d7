/* SPDX-License-Identifier: GPL-2.0-only */
/* A lot of memory. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeros, and no page that is not there yet; NULL if there is none. */
void *memory__new(size_t length, bool is_huge);
void memory__free(void *memory, size_t length);

/* How many bytes of it are huge pages; 0 if the kernel does not say. */
size_t memory__huge(const void *memory);
/* How much the machine has left, in bytes; 0 if it does not say. */
uint64_t memory__available(void);

#endif /* BENCH_MEMORY_H */

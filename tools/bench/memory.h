/* SPDX-License-Identifier: GPL-2.0-only */
/* Large memory and its pages. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed and populated; NULL if out of memory. */
void *memory__new(size_t length, bool is_huge);
void memory__free(void *memory, size_t length);

/* Bytes of it in huge pages; 0 if unknown. */
size_t memory__huge(const void *memory);
/* Available memory of the machine in bytes; 0 if unknown. */
uint64_t memory__available(void);

#endif /* BENCH_MEMORY_H */

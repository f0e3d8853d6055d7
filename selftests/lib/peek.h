/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads of addresses that may not be readable. */
#ifndef DART_TEST_PEEK_H
#define DART_TEST_PEEK_H

#include <stdbool.h>
#include <stdint.h>

/* Once in a process, before the first read. */
void peek_init(void);

/* The eight bytes at @address; false if they cannot be read. */
bool peek(const volatile char *address, uint64_t *value);

#endif /* DART_TEST_PEEK_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects and memory that a test may leave, as the kernel counts them. */
#ifndef DART_TEST_LEFTOVERS_H
#define DART_TEST_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>

/* Pages that are pinned in the whole machine. */
long leftovers__pinned_pages(void);

/* References to dart_zero, 0 if it is not loaded. */
long leftovers__module_references(void);

bool leftovers__map_exists(uint32_t id);

/* RDMA objects that processes hold; @kind: "mr", "qp", "pd", "cq" ... */
long leftovers__rdma(const char *kind);

/* KiB in use other than caches, and KiB of vmalloc. */
long leftovers__memory_kib(void);
long leftovers__vmalloc_kib(void);

#endif /* DART_TEST_LEFTOVERS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_SOURCE_H
#define DART_ZERO_SOURCE_H

#include <linux/types.h>

/* A per-CPU variable that the kernel updates anyway. */
struct dart_source {
	const char *symbol;
	const void __percpu *variable;
	size_t length;
};

/* NULL if there is no source @id (enum dart_zero_source). */
const struct dart_source *dart_source_find(u32 id);

#endif /* DART_ZERO_SOURCE_H */

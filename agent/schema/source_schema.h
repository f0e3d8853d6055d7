/* SPDX-License-Identifier: GPL-2.0-only */
/* The schema of a window, from the types of a kernel (BTF). */
#ifndef SOURCE_SCHEMA_H
#define SOURCE_SCHEMA_H

#include <bpf/btf.h>

#include <libdart/error.h>
#include <libdart/table/schema.h>
#include <linux/dart_zero.h>

#include "agent/region/source.h"

/*
 * The schema of @extent, a window on @source; the caller frees it.  Refuses a variable whose size
 * differs from the window's.
 */
int source_schema__from_btf(const struct source *source, const struct btf *btf,
			    const struct dart_zero_extent *extent, struct dart_schema **schema,
			    struct dart_error *error);

#endif /* SOURCE_SCHEMA_H */

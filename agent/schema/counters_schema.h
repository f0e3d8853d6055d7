/* SPDX-License-Identifier: GPL-2.0-only */
/* The schema of counters that a module registered, from its BTF. */
#ifndef COUNTERS_SCHEMA_H
#define COUNTERS_SCHEMA_H

#include <libdart/error.h>
#include <libdart/table/schema.h>
#include <linux/dart_zero.h>

int counters_schema__new(const struct dart_zero_extent *extent,
			 struct dart_schema **schema, struct dart_error *error);

#endif /* COUNTERS_SCHEMA_H */

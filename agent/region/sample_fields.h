/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of the samples in <linux/dart_zero_samples.h>. */
#ifndef SAMPLE_FIELDS_H
#define SAMPLE_FIELDS_H

#include <libdart/table/schema.h>

/* A name of NULL ends each list. */
extern const struct dart_field gathering_fields[];
extern const struct dart_field memory_fields[];
extern const struct dart_field load_fields[];

#endif /* SAMPLE_FIELDS_H */

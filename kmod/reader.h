/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_READER_H
#define DART_ZERO_READER_H

#include <linux/compiler.h>

struct dart_region;
struct dart_zero_reader;

/*
 * DART_ZERO_IOC_OPEN_READER: installs a file that maps and describes @region,
 * changes nothing in it, and holds it.  The caller holds the region's file.
 */
long dart_reader_open(struct dart_region *region, struct dart_zero_reader __user *user);

#endif /* DART_ZERO_READER_H */

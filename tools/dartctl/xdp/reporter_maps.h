/* SPDX-License-Identifier: GPL-2.0-only */
/* The reporter's maps as a program sees them: tags are for their BTF. */
#ifndef REPORTER_MAPS_H
#define REPORTER_MAPS_H

#include <linux/types.h>

#define DART_COUNTER
#define DART_ADDRESS
#define DART_UNIT(unit)
#define DART_COPIES_ARE_CPUS

#include "bpf/reporter.h"

#endif /* REPORTER_MAPS_H */

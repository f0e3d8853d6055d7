/* SPDX-License-Identifier: GPL-2.0-only */
/* The reporter's maps as a program sees them: tags are for their BTF. */
#ifndef MAPS_H
#define MAPS_H

#include <linux/types.h>

#define DART_COUNTER
#define DART_ADDRESS
#define DART_UNIT(unit)
#define DART_COPIES_ARE_CPUS

#include "bpf/xdp_reporter.h"

#endif /* MAPS_H */

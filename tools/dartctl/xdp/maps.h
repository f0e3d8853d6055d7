/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of the XDP program; the tags in these types are for BTF only. */
#ifndef MAPS_H
#define MAPS_H

#include <linux/bpf.h>

#define DART_COUNTER
#define DART_ADDRESS
#define DART_UNIT(unit)
#define DART_COPIES_ARE_CPUS

#include "bpf/xdp_reporter.h"

#endif /* MAPS_H */

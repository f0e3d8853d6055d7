/* SPDX-License-Identifier: GPL-2.0-only */
/* The way to gather without the module: memory of dartd, which its eBPF programs fill. */
#ifndef GATHER_WAY_H
#define GATHER_WAY_H

#include "agent/region/region_way.h"

extern const struct region_way programs_way;

#endif /* GATHER_WAY_H */

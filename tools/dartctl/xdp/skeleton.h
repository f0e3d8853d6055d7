/* SPDX-License-Identifier: GPL-2.0-only */
/* The skeleton of the XDP program, whose constants are of the types of its maps. */
#ifndef SKELETON_H
#define SKELETON_H

#include "maps.h"

#include <xdp_reporter.skel.h>

#endif /* SKELETON_H */

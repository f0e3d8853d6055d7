/* SPDX-License-Identifier: GPL-2.0-only */
/* The XDP program on an interface. */
#ifndef LINK_H
#define LINK_H

#include <stdint.h>

#include <libdart/error.h>

#include "skeleton.h"

/*
 * Attaches the program to interface @in, called @name; its reports leave through @out (both are
 * numbers).  Pins keep it attached.  Returns 0, or -errno with a sentence in @error and nothing
 * attached.
 */
int xdp_link__create(const char *name, uint32_t in, uint32_t out,
		     const struct xdp_reporter_bpf *object, struct dart_error *error);

/*
 * Detaches the program of interface @name at once, and removes the pins of its links; its maps
 * stay.  Without that, kernels up to Linux 6.12 run the program for some time after its last pin is
 * gone.  Returns 0 or -errno.
 */
int xdp_link__end(const char *name);
/* The mode of the XDP program of interface @number: "native" or "generic". */
const char *xdp_link__mode(uint32_t number);

#endif /* LINK_H */

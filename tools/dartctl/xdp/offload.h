/* SPDX-License-Identifier: GPL-2.0-only */
/* VLAN tags that the driver moves from the bytes of a frame to the description of the kernel. */
#ifndef XDP_OFFLOAD_H
#define XDP_OFFLOAD_H

#include <libdart/error.h>

/*
 * Makes the frames that arrive at @interface carry their VLAN tags in their bytes: turns off the
 * VLAN offload of its driver or, for a veth, of the other end, which sends these frames.  Needed
 * for generic XDP, where the kernel adds the tag of the description to the report that the program
 * makes of the frame.  Returns 0, or -errno with a sentence in @error.
 */
int xdp_offload__end(const char *interface, struct dart_error *error);

#endif /* XDP_OFFLOAD_H */

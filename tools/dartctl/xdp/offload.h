/* SPDX-License-Identifier: GPL-2.0-only */
/* VLAN tags that the driver moves from the bytes of a frame to the description of the kernel. */
#ifndef XDP_OFFLOAD_H
#define XDP_OFFLOAD_H

#include <net/if.h>
#include <stdint.h>

#include <libdart/error.h>

#define XDP_OFFLOAD_BLOCKS 8 /* of 32 features; no kernel has more than 64 */

/* Features that are on, by the bits of the running kernel. */
struct xdp_offload {
	char interface[IF_NAMESIZE];
	uint32_t number; /* of the interface */
	uint32_t blocks; /* of the running kernel, which takes no other number */
	uint32_t features[XDP_OFFLOAD_BLOCKS];
};

/*
 * Finds the VLAN offload of the frames that arrive at @interface: that of its driver or, for a veth,
 * of the other end, which sends these frames.  Without it they carry their VLAN tags in their bytes,
 * as generic XDP needs: there, the kernel adds the tag of the description to the report that the
 * program makes of the frame.  Returns 1, 0 if it is off, or -errno with a sentence in @error.
 */
int xdp_offload__find(const char *interface, struct xdp_offload *offload, struct dart_error *error);

/* Turns the features off.  Returns 0, or -errno with a sentence in @error. */
int xdp_offload__end(const struct xdp_offload *offload, struct dart_error *error);

/* Turns them on again, unless the interface is gone.  Returns as above. */
int xdp_offload__restore(const struct xdp_offload *offload, struct dart_error *error);

#endif /* XDP_OFFLOAD_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An Ethernet interface that frames leave through, no faster than told. */
#ifndef DART_PACKET_SOCKET_H
#define DART_PACKET_SOCKET_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/table/table.h>

#define DART_WIRE_FRAME_MAX	256	/* bytes */

struct dart_wire;

/*
 * @rate: frames/s, 0 for no limit.  Returns 0, or -errno with a sentence in
 * @why.
 */
int dart_wire__open(const char *interface, uint64_t rate,
		    struct dart_wire **wire, char why[DART_WHY_MAX]);
void dart_wire__close(struct dart_wire *wire);

const uint8_t *dart_wire__mac(const struct dart_wire *wire);
/* The first IPv4 address of the interface, 0.0.0.0 if it has none. */
struct in_addr dart_wire__address(const struct dart_wire *wire);

/*
 * Where the next frame is written, DART_WIRE_FRAME_MAX bytes, and that it has
 * been.
 * Returns 0, or -errno of earlier frames.
 */
uint8_t *dart_wire__next(struct dart_wire *wire);
int dart_wire__push(struct dart_wire *wire, size_t length);
/* Sends what has been pushed. */
int dart_wire__flush(struct dart_wire *wire);

/* Frames sent, and how often the interface had no room for one. */
uint64_t dart_wire__sent(const struct dart_wire *wire);
uint64_t dart_wire__refusals(const struct dart_wire *wire);

#endif /* DART_PACKET_SOCKET_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* An Ethernet interface that frames leave through, no faster than told. */
#ifndef REPORT_WIRE_H
#define REPORT_WIRE_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_FRAME_MAX	256	/* bytes */
#define WIRE_WHY_MAX	200

struct wire;

/*
 * @rate: frames/s, 0 for no limit.  Returns 0, or -errno with a sentence in
 * @why.
 */
int wire__open(const char *interface, uint64_t rate, struct wire **wire,
	       char why[WIRE_WHY_MAX]);
void wire__close(struct wire *wire);

const uint8_t *wire__mac(const struct wire *wire);
/* The first IPv4 address of the interface, 0.0.0.0 if it has none. */
struct in_addr wire__address(const struct wire *wire);

/*
 * Where the next frame is written, WIRE_FRAME_MAX bytes, and that it has been.
 * Returns 0, or -errno of earlier frames.
 */
uint8_t *wire__next(struct wire *wire);
int wire__push(struct wire *wire, size_t length);
/* Sends what has been pushed. */
int wire__flush(struct wire *wire);

/* Frames sent, and how often the interface had no room for one. */
uint64_t wire__sent(const struct wire *wire);
uint64_t wire__refusals(const struct wire *wire);

#endif /* REPORT_WIRE_H */

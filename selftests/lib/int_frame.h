/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames that an INT sink receives: INT-MD 2.1 over UDP, and postcards. */
#ifndef DART_TEST_INT_FRAME_H
#define DART_TEST_INT_FRAME_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INT_FRAME_MAX	2048
#define INT_PORT	5000
#define POSTCARD_PORT	5001

struct int_frame {
	/* source, destination, their ports, protocol: 13 or 37 bytes */
	const uint8_t *key;
	size_t key_length;
	const __be32 *path;	/* node IDs, the last hop first */
	uint32_t hops;
	uint32_t hop_words;	/* the node ID is the first */
	/*
	 * A UDP header for INT precedes the flow's own header (NPT 2).  If that is
	 * not UDP, it always does.
	 */
	bool is_before_l4;
	size_t payload;		/* bytes after all headers */
};

/* Returns the bytes of the frame. */
size_t int_frame__build(const struct int_frame *what, uint8_t frame[INT_FRAME_MAX]);

/* Sets the checksum of the IPv4 header after Ethernet, with its options. */
void int_frame__set_checksum(uint8_t *frame);

struct postcard {
	const uint8_t *key;	/* as above */
	size_t key_length;
	__be32 node;
	const __be32 *metadata;
	uint32_t words;
	bool has_ethernet;	/* else the inner packet begins with IP */
};

size_t postcard__build(const struct postcard *what, uint8_t frame[INT_FRAME_MAX]);

#endif /* DART_TEST_INT_FRAME_H */

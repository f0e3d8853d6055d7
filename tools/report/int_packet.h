/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets with INT-MD over UDP ("In-band Network Telemetry (INT) Dataplane
 * Specification", version 2.1, sections 5.7.2 and 5.8), in which hops insert
 * their node IDs: parsed to keys and paths, and built from them.
 */
#ifndef REPORT_INT_PACKET_H
#define REPORT_INT_PACKET_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include <libdart/report/flows.h>

#define INT_PACKET_KEY_MAX	37	/* bytes, of IPv6 */
#define INT_PACKET_HOPS_MAX	16	/* of longer paths, the last hops */
#define INT_PACKET_MAX		128	/* bytes, of int_packet__build() */

struct int_packet {
	/* source, destination, their ports, protocol; network order */
	uint8_t key[INT_PACKET_KEY_MAX];
	uint32_t key_length;
	uint32_t hops;
	/* the last hop first, then zeros */
	__be32 path[INT_PACKET_HOPS_MAX];
};

/*
 * Parses the Ethernet frame of @length bytes, with up to two tags of VLANs (802.1Q,
 * 802.1ad, and the types 0x9100, 0x9200 and 0x9300), which it skips.  Returns 0, -ENODATA
 * without INT-MD (UDP port @port), -E2BIG with more tags, -EBADMSG if INT-MD is unusable:
 * malformed, truncated, without node IDs, with missing hops, or after a damaged header of
 * IPv4.
 */
int int_packet__parse(const uint8_t *frame, size_t length, uint16_t port,
		      struct int_packet *packet);

/*
 * Finds the bytes of a datagram to UDP port @port in such a frame.  Returns 0, -ENODATA without it,
 * -E2BIG with more tags, -EBADMSG if it is truncated or follows a damaged header of IPv4.
 */
int int_packet__find_datagram(const uint8_t *frame, size_t length, uint16_t port,
			      const uint8_t **datagram, size_t *datagram_length);

/* Builds a packet of @flow, broadcast from @mac; returns its length. */
size_t int_packet__build(const struct dart_flow *flow, const uint8_t mac[6],
			 uint16_t port, uint8_t frame[INT_PACKET_MAX]);

#endif /* REPORT_INT_PACKET_H */

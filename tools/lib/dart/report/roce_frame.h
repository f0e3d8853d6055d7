/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report as the frame that the collector's network interface executes. */
#ifndef DART_ROCE_FRAME_H
#define DART_ROCE_FRAME_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <stdbool.h>

#include "collectors.h"

#define DART_ROCE_ICRC_LENGTH	4
#define DART_ROCE_PSN_MASK	0xffffff

/* The headers before the slot; see <dart/store.h> for the values. */
struct dart_roce_headers {
	struct ethhdr ethernet;
	struct iphdr ip;
	struct udphdr udp;
	struct {
		__u8 opcode;
		__u8 flags;	/* MigReq, pad count */
		__be16 partition;
		__be32 queue_pair;	/* FECN, BECN, 6 reserved, the number */
		__be32 psn;	/* AckReq, 7 reserved, the number */
	} __attribute__((packed)) bth;
	struct {
		__be64 address;
		__be32 rkey;
		__be32 length;
	} __attribute__((packed)) reth;
} __attribute__((packed));

#define DART_ROCE_IP_TTL	64
#define DART_ROCE_IP_DSCP_SHIFT	2
#define DART_ROCE_IP_DONT_FRAGMENT 0x4000
#define DART_ROCE_BTH_MIGREQ	0x40
#define DART_ROCE_BTH_PAD_SHIFT	4
#define DART_ROCE_BTH_PARTITION	0xffff
#define DART_ROCE_BTH_ACKREQ	0x80000000 /* beside the PSN */

/* Bytes of the longest frame; a slot of this length needs no pad. */
#define DART_ROCE_FRAME_MAX (sizeof(struct dart_roce_headers) + \
			     DART_STORE_SLOT_MAX + DART_ROCE_ICRC_LENGTH)

/* The differences between frames to a collector. */
struct dart_roce_transport {
	uint8_t opcode;
	uint8_t pad; /* bytes of the payload */
	bool wants_answer;
	uint32_t psn;
};

/*
 * Completes a frame of @length bytes to @collector, whose geometry does not matter: writes all
 * headers up to the BTH and, after the bytes that the caller has put there, the ICRC.
 */
void dart_roce_frame__wrap(const struct dart_collector *collector,
			   const uint8_t source_mac[ETH_ALEN], uint16_t source_port,
			   const struct dart_roce_transport *transport, size_t length,
			   uint8_t *frame);

/*
 * Completes a WRITE of @length bytes to @address in the memory of @collector, whose geometry does
 * not matter: the caller has put the bytes at @frame + sizeof(struct dart_roce_headers), and
 * there is room for a pad of 3 bytes and the ICRC after them.  Returns the bytes of the frame.
 */
size_t dart_roce_frame__complete(const struct dart_collector *collector,
				 const uint8_t source_mac[ETH_ALEN], uint16_t source_port,
				 uint64_t address, size_t length, uint32_t psn, uint8_t *frame);

/*
 * Builds the report of @value as @copy of the key at @place, and returns its
 * bytes.  @place is from a hash with the collector's checksum bits, at least as
 * many slots and a redundancy above @copy.
 */
size_t dart_roce_frame__build(const struct dart_collector *collector,
			      const uint8_t source_mac[ETH_ALEN],
			      const struct dart_store_place *place, uint32_t copy,
			      const void *value, uint32_t psn, uint8_t frame[DART_ROCE_FRAME_MAX]);

#define DART_ROCE_PROBE_LENGTH (sizeof(struct dart_roce_headers) + DART_ROCE_ICRC_LENGTH)

/* Builds a probe to a @collector with a reliable connection, and returns its bytes. */
size_t dart_roce_frame__probe(const struct dart_collector *collector,
			      const uint8_t source_mac[ETH_ALEN], uint32_t psn,
			      uint8_t frame[DART_ROCE_FRAME_MAX]);

enum dart_roce_answer_kind {
	DART_ROCE_ACKNOWLEDGED, /* all requests up to the PSN */
	DART_ROCE_OUT_OF_SEQUENCE, /* all requests before the PSN were executed, and no other */
	DART_ROCE_NOT_READY, /* nothing is known */
	DART_ROCE_REFUSED, /* the queue pair is in the error state */
};

struct dart_roce_answer {
	enum dart_roce_answer_kind kind;
	uint32_t psn;
};

/*
 * Reads an answer of @collector to its reporter from a frame of @length bytes, with Ethernet header
 * and ICRC, which may be hostile.  Returns 0, or -EINVAL for any other frame.
 */
int dart_roce_frame__read_answer(const struct dart_collector *collector, const uint8_t *frame,
				 size_t length, struct dart_roce_answer *answer);

/* The checksum of an IPv4 header without options whose checksum field is 0. */
__be16 dart_roce_frame__ip_checksum(const void *header);

/*
 * The ICRC of a frame of @length bytes, as it stands in the frame.  The length
 * includes the ICRC; the headers are Ethernet, IPv4 without options, UDP and
 * BTH.
 */
__le32 dart_roce_frame__icrc(const uint8_t *frame, size_t length);

#endif /* DART_ROCE_FRAME_H */

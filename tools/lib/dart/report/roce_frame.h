/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report as the frame that a collector's network interface executes. */
#ifndef DART_ROCE_FRAME_H
#define DART_ROCE_FRAME_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/types.h>
#include <linux/udp.h>

#include "collectors.h"

#define DART_ROCE_ICRC_LENGTH	4
#define DART_ROCE_PSN_MASK	0xffffff

/* What stands before the slot; see <dart/store.h> for the values. */
struct dart_roce_headers {
	struct ethhdr ethernet;
	struct iphdr ip;
	struct udphdr udp;
	struct {
		__u8 opcode;
		__u8 flags;	/* 4 times the pad count, MigReq */
		__be16 partition;
		__be32 queue_pair;	/* 8 bits that vary, the number */
		__be32 psn;	/* 8 bits that ask for something, the number */
	} __attribute__((packed)) bth;
	struct {
		__be64 address;
		__be32 rkey;
		__be32 length;
	} __attribute__((packed)) reth;
} __attribute__((packed));

#define DART_ROCE_BTH_MIGREQ	0x40
#define DART_ROCE_BTH_PAD_SHIFT	4
#define DART_ROCE_BTH_PARTITION	0xffff

/* Bytes of the longest frame; a slot of this length needs no pad. */
#define DART_ROCE_FRAME_MAX (sizeof(struct dart_roce_headers) + \
			     DART_STORE_SLOT_MAX + DART_ROCE_ICRC_LENGTH)

/*
 * Builds the report of @value as copy @copy of the key at @place, and returns
 * its bytes.  @place is of a hash with the collector's bits of checksums, at
 * least as many slots and a higher redundancy than @copy.
 */
size_t dart_roce_frame__build(const struct dart_collector *collector,
			      const uint8_t source_mac[ETH_ALEN],
			      const struct dart_store_place *place,
			      uint32_t copy, const void *value, uint32_t psn,
			      uint8_t frame[DART_ROCE_FRAME_MAX]);

/* The checksum of an IPv4 header without options, whose own field is 0. */
__be16 dart_roce_frame__ip_checksum(const void *header);

/*
 * The ICRC that belongs to the frame of @length bytes, ICRC and no more than
 * Ethernet, IPv4 without options, UDP and the BTH before it included; as it
 * stands in the frame.
 */
__le32 dart_roce_frame__icrc(const uint8_t *frame, size_t length);

struct dart_roce_report {
	uint8_t source_mac[ETH_ALEN];
	uint8_t mac[ETH_ALEN];
	struct in_addr reporter;
	struct in_addr ip;
	uint32_t share;
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint64_t address;	/* of the slot */
	const uint8_t *slot;	/* in the frame */
	size_t slot_length;
};

/*
 * Reads a frame back.  Returns 0, or -EBADMSG if any bit of it is not as
 * <dart/store.h> says.
 */
int dart_roce_frame__parse(const uint8_t *frame, size_t length,
			   struct dart_roce_report *report);

#endif /* DART_ROCE_FRAME_H */

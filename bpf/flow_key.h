/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the headers of a packet, one after the other, and makes the key of its
 * flow in a store.
 */
#ifndef FLOW_KEY_H
#define FLOW_KEY_H

#include <bpf/bpf_endian.h>

#include "dart_tags.h"
#include "xdp_reporter.h"

#define TELEMETRY_KEY_MAX	41	/* an IPv6 flow and a node ID */

/* BTF lacks macros: from linux/if_ether.h.  FRAGMENT: the MF flag and the offset. */
#define ETH_P_IP	0x0800
#define ETH_P_IPV6	0x86dd
#define FRAGMENT	0x3fff

#define TAG_8021Q	0x8100	/* types of tags of VLANs */
#define TAG_8021AD	0x88a8
#define TAG_QINQ1	0x9100
#define TAG_QINQ2	0x9200
#define TAG_QINQ3	0x9300
#define TAGS_MAX	2	/* as in 802.1ad */

/* greater than the bytes after the fixed part of any IPv4 header */
#define OPTIONS_MAX	64

enum telemetry_outcome {
	TELEMETRY_OK,
	/* reasons not to report, in the order of struct reporter */
	TELEMETRY_NONE,
	TELEMETRY_TRUNCATED,
	TELEMETRY_MALFORMED,
	TELEMETRY_INCOMPLETE,
	TELEMETRY_ANONYMOUS,
	TELEMETRY_DAMAGED,
	TELEMETRY_TAGGED,
	TELEMETRY_ROOMLESS,
};

/* The rest of a tag after its type. */
struct tag {
	__be16 control;		/* priority and VLAN */
	__be16 type;		/* type of the rest of the frame */
};

struct telemetry {
	__u8 key[TELEMETRY_KEY_MAX + 3];
	__u32 key_length;
	__be32 value[REPORTER_HOPS];
};

/* The part of the frame that has not been read yet. */
struct cursor {
	void *at;
	void *end;
	void *begin;		/* of the frame */
	struct xdp_md *context;	/* the same frame */
};

/* The fields of an IP header that the rest of the parser needs. */
struct inner {
	__u8 protocol;
	bool is_ipv6;
	__u32 room;	/* bytes after the IP header, according to it */
	const struct iphdr *ipv4;	/* NULL for IPv6 */
};

static __always_inline bool is_cut(const struct cursor *cursor, __u32 bytes)
{
	return cursor->at + bytes > cursor->end;
}

static __always_inline int read_ipv4(struct cursor *cursor, struct telemetry *telemetry,
				     struct inner *inner)
{
	const struct iphdr *ip = cursor->at;
	__u32 length, header;

	if (is_cut(cursor, sizeof(*ip)))
		return TELEMETRY_TRUNCATED;
	length = bpf_ntohs(ip->tot_len);
	header = ip->ihl * 4;
	if (ip->version != 4 || header < sizeof(*ip) || length < header)
		return TELEMETRY_MALFORMED;
	/* Only the first fragment contains ports, and INT may continue in the next one. */
	if (ip->frag_off & bpf_htons(FRAGMENT))
		return TELEMETRY_NONE;
	__builtin_memcpy(telemetry->key, &ip->saddr, 8);
	inner->protocol = ip->protocol;
	inner->is_ipv6 = false;
	inner->room = length - header;
	inner->ipv4 = ip;
	cursor->at += header;
	return TELEMETRY_OK;
}

/*
 * Checks the sum over an IPv4 header with its options: a damaged header could have the addresses,
 * the ports and the path of any flow.
 */
static __always_inline int check_ipv4(const struct cursor *cursor, const struct inner *inner)
{
	const struct iphdr *ip = inner->ipv4;
	const __u32 *words = (const void *)ip;
	__u32 length, i;
	__u64 sum;

	if (inner->is_ipv6)
		return TELEMETRY_OK;
	sum = (__u64)words[0] + words[1] + words[2] + words[3] + words[4];
	length = ip->ihl * 4 - sizeof(*ip);
	if (length) {
		__u32 options[OPTIONS_MAX / 4] = { };

		/*
		 * Read from a copy, because the verifier would walk the rest of the program for
		 * each length; and it must see the bounds of the length.  Before Linux 6.4 it
		 * learns nothing from a comparison with 0.
		 */
		barrier_var(length);
		length &= OPTIONS_MAX - 1;
		barrier_var(length);
		if (length < sizeof(*options) ||
		    bpf_xdp_load_bytes(cursor->context, (const void *)(ip + 1) - cursor->begin,
				       options, length))
			return TELEMETRY_TRUNCATED;
#pragma unroll
		for (i = 0; i < OPTIONS_MAX / 4; i++)
			sum += options[i];
	}
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff ? TELEMETRY_OK : TELEMETRY_DAMAGED;
}

static __always_inline int read_ipv6(struct cursor *cursor, struct telemetry *telemetry,
				     struct inner *inner)
{
	const struct ipv6hdr *ip = cursor->at;

	if (is_cut(cursor, sizeof(*ip)))
		return TELEMETRY_TRUNCATED;
	if (ip->version != 6)
		return TELEMETRY_MALFORMED;
	__builtin_memcpy(telemetry->key, &ip->saddr, 32);
	inner->protocol = ip->nexthdr;
	inner->is_ipv6 = true;
	inner->room = bpf_ntohs(ip->payload_len);
	cursor->at += sizeof(*ip);
	return TELEMETRY_OK;
}

static __always_inline bool is_tag(__be16 type)
{
	switch (type) {
	case bpf_htons(TAG_8021Q):
	case bpf_htons(TAG_8021AD):
	case bpf_htons(TAG_QINQ1):
	case bpf_htons(TAG_QINQ2):
	case bpf_htons(TAG_QINQ3):
		return true;
	}
	return false;
}

/* Skips tags of VLANs in the frame; drivers have removed all others. */
static __always_inline int read_ethernet(struct cursor *cursor, struct telemetry *telemetry,
					 struct inner *inner)
{
	const struct ethhdr *ethernet = cursor->at;
	const struct tag *tag;
	__be16 type;
	__u32 i;

	if (is_cut(cursor, sizeof(*ethernet)))
		return TELEMETRY_TRUNCATED;
	type = ethernet->h_proto;
	cursor->at += sizeof(*ethernet);
#pragma unroll
	for (i = 0; i < TAGS_MAX; i++) {
		if (!is_tag(type))
			break;
		tag = cursor->at;
		if (is_cut(cursor, sizeof(*tag)))
			return TELEMETRY_TRUNCATED;
		type = tag->type;
		cursor->at += sizeof(*tag);
	}
	if (is_tag(type))
		return TELEMETRY_TAGGED;
	switch (type) {
	case bpf_htons(ETH_P_IP):
		return read_ipv4(cursor, telemetry, inner);
	case bpf_htons(ETH_P_IPV6):
		return read_ipv6(cursor, telemetry, inner);
	}
	return TELEMETRY_NONE;
}

/* All protocols with ports place them at the start of their headers. */
static __always_inline int read_ports(const struct cursor *cursor, __u8 protocol, __be16 ports[2])
{
	switch (protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_DCCP:
	case IPPROTO_SCTP:
	case IPPROTO_UDPLITE:
		if (is_cut(cursor, 4))
			return TELEMETRY_TRUNCATED;
		ports[0] = ((const __be16 *)cursor->at)[0];
		ports[1] = ((const __be16 *)cursor->at)[1];
		return TELEMETRY_OK;
	}
	ports[0] = 0;
	ports[1] = 0;
	return TELEMETRY_OK;
}

/* Completes a key that already contains the addresses. */
static __always_inline void finish_key(struct telemetry *telemetry, bool is_ipv6,
				       const __be16 ports[2], __u8 protocol)
{
	if (is_ipv6) {
		__builtin_memcpy(telemetry->key + 32, ports, 4);
		telemetry->key[36] = protocol;
		telemetry->key_length = 37;
	} else {
		__builtin_memcpy(telemetry->key + 8, ports, 4);
		telemetry->key[12] = protocol;
		telemetry->key_length = 13;
	}
}

/* Reads @words words of metadata at the cursor, @stride words apart. */
static __always_inline int read_value(const struct cursor *cursor, struct telemetry *telemetry,
				      __u32 words, __u32 stride)
{
	const __be32 *word;
	__u32 i;

#pragma unroll
	for (i = 0; i < REPORTER_HOPS; i++) {
		telemetry->value[i] = 0;
		if (i >= words)
			continue;
		word = cursor->at + 4 * i * stride;
		if ((void *)(word + 1) > cursor->end)
			return TELEMETRY_TRUNCATED;
		telemetry->value[i] = *word;
	}
	return TELEMETRY_OK;
}

#endif /* FLOW_KEY_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames that carry telemetry, as the key and the value of a report.
 *
 * INT-MD over UDP ("In-band Network Telemetry (INT) Dataplane Specification",
 * version 2.1, sections 5.6.2 and 5.7): the headers of the packet that is
 * described, the UDP port of INT, then
 *
 *	shim	type (4 bits), NPT (2), reserved (2), words of what follows (8),
 *		the packet's own UDP port (NPT 1) or protocol (NPT 2) (16)
 *	MD	version (4), D, E, M, reserved (12), words of a hop (5),
 *		remaining hops (8); instructions (16), domain (16); of the
 *		domain: instructions (16), flags (16)
 *	stack	of each hop what the instructions say, the last one first; the
 *		node ID is the first instruction
 *
 * then the rest of the packet: payload (NPT 1), or its own UDP, TCP ... header.
 *
 * Postcards ("Telemetry Report Format Specification", version 2.0): UDP to a
 * port that was agreed on, then
 *
 *	group	version (4), hardware (6), sequence (22), node ID (32)
 *	report	type (4), inner type (4), words of the report (8), words of
 *		metadata (8), flags (8); instructions and domain as above
 *		(64), metadata, the beginning of the packet
 */
#ifndef TELEMETRY_H
#define TELEMETRY_H

#include <bpf/bpf_endian.h>

#include "reporter.h"

#define TELEMETRY_KEY_MAX	41	/* a flow of IPv6, and a node ID */

/* BTF has no macros: from linux/if_ether.h and linux/in.h. */
#define ETH_P_IP	0x0800
#define ETH_P_IPV6	0x86dd
#define FRAGMENT	0x3fff	/* of frag_off: more fragments, or an offset */

#define SHIM_INT_MD	1	/* types */
#define SHIM_BEHIND_UDP	1	/* next protocol types */
#define SHIM_BEFORE_L4	2
#define INT_VERSION	2
#define INT_LACKS_HOPS	0x06	/* E and M, in the first byte */
#define INT_WORDS	3	/* of the MD header */
#define INT_NODE_ID	0x8000	/* the first of the instructions */

struct int_shim {
	__u8 type_npt;
	__u8 words;
	__be16 original;
};

struct int_md {
	__u8 version_flags;
	__u8 reserved;
	__u8 hop;		/* 3 bits reserved, words of a hop */
	__u8 remaining;
	__be16 instructions;
	__be16 domain;
	__be16 domain_instructions;
	__be16 domain_flags;
};

struct report_group {
	__u8 version;		/* and bits of the hardware */
	__u8 sequence[3];
	__be32 node;
};

struct report_individual {
	__u8 types;
	__u8 words;
	__u8 metadata_words;
	__u8 flags;
	__be16 bits;
	__be16 domain;
	__be16 domain_bits;
	__be16 domain_status;
};

#define REPORT_VERSION	2
#define REPORT_INT	1	/* type */
#define REPORT_REST	0xff	/* words: all there is */
#define REPORT_FIXED	2	/* words, without the first */

enum report_inner {
	REPORT_INNER_ETHERNET = 3,
	REPORT_INNER_IPV4,
	REPORT_INNER_IPV6,
};

enum telemetry_outcome {
	TELEMETRY_OK,
	/* why it is not, in the order of struct reporter */
	TELEMETRY_NONE,
	TELEMETRY_TRUNCATED,
	TELEMETRY_MALFORMED,
	TELEMETRY_INCOMPLETE,
	TELEMETRY_ANONYMOUS,
};

struct telemetry {
	__u8 key[TELEMETRY_KEY_MAX + 3];
	__u32 key_length;
	__be32 value[REPORTER_HOPS];
};

/* What has not been looked at yet. */
struct cursor {
	void *at;
	void *end;
};

/* An IP header has been read: what is behind it, and where its key goes on. */
struct inner {
	__u8 protocol;
	bool is_ipv6;
};

static __always_inline bool is_cut(const struct cursor *cursor, __u32 bytes)
{
	return cursor->at + bytes > cursor->end;
}

static __always_inline int read_ipv4(struct cursor *cursor,
				     struct telemetry *telemetry,
				     struct inner *inner)
{
	const struct iphdr *ip = cursor->at;

	if (is_cut(cursor, sizeof(*ip)))
		return TELEMETRY_TRUNCATED;
	if (ip->version != 4 || ip->ihl < 5)
		return TELEMETRY_MALFORMED;
	/* Ports are in the first fragment, INT may go on in the next one. */
	if (ip->frag_off & bpf_htons(FRAGMENT))
		return TELEMETRY_NONE;
	__builtin_memcpy(telemetry->key, &ip->saddr, 8);
	inner->protocol = ip->protocol;
	inner->is_ipv6 = false;
	cursor->at += ip->ihl * 4;
	return TELEMETRY_OK;
}

static __always_inline int read_ipv6(struct cursor *cursor,
				     struct telemetry *telemetry,
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
	cursor->at += sizeof(*ip);
	return TELEMETRY_OK;
}

static __always_inline int read_ethernet(struct cursor *cursor,
					 struct telemetry *telemetry,
					 struct inner *inner)
{
	const struct ethhdr *ethernet = cursor->at;

	if (is_cut(cursor, sizeof(*ethernet)))
		return TELEMETRY_TRUNCATED;
	cursor->at += sizeof(*ethernet);
	switch (ethernet->h_proto) {
	case bpf_htons(ETH_P_IP):
		return read_ipv4(cursor, telemetry, inner);
	case bpf_htons(ETH_P_IPV6):
		return read_ipv6(cursor, telemetry, inner);
	}
	return TELEMETRY_NONE;
}

/* The ports are the first thing in a header, where a protocol has any. */
static __always_inline int read_ports(const struct cursor *cursor,
				      __u8 protocol, __be16 ports[2])
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
	ports[0] = ports[1] = 0;
	return TELEMETRY_OK;
}

/* Completes the key: addresses are there. */
static __always_inline void finish_key(struct telemetry *telemetry,
				       bool is_ipv6, const __be16 ports[2],
				       __u8 protocol)
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

/* The words of metadata at the cursor, each @stride words behind the other. */
static __always_inline int read_value(const struct cursor *cursor,
				      struct telemetry *telemetry,
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

/* The cursor is behind the UDP header; @room: bytes that it says follow. */
static __always_inline int read_int(struct cursor *cursor,
				    const struct udphdr *udp, __u32 room,
				    const struct inner *inner,
				    struct telemetry *telemetry)
{
	const struct int_shim *shim = cursor->at;
	const struct int_md *md = (void *)(shim + 1);
	__u32 words, hop, npt;
	__be16 ports[2];
	__u8 protocol;
	int ret;

	if (is_cut(cursor, sizeof(*shim) + sizeof(*md)))
		return TELEMETRY_TRUNCATED;
	words = shim->words;
	hop = md->hop & 0x1f;
	npt = shim->type_npt >> 2 & 3;
	if (shim->type_npt >> 4 != SHIM_INT_MD ||
	    (npt != SHIM_BEHIND_UDP && npt != SHIM_BEFORE_L4) ||
	    md->version_flags >> 4 != INT_VERSION || words < INT_WORDS ||
	    sizeof(*shim) + words * 4 > room)
		return TELEMETRY_MALFORMED;
	words -= INT_WORDS;
	if (!(md->instructions & bpf_htons(INT_NODE_ID)) || !words)
		return TELEMETRY_ANONYMOUS;
	if (!hop || words % hop)
		return TELEMETRY_MALFORMED;
	if (md->version_flags & INT_LACKS_HOPS)
		return TELEMETRY_INCOMPLETE;

	cursor->at = (void *)(md + 1);
	if (is_cut(cursor, words * 4))
		return TELEMETRY_TRUNCATED;
	ret = read_value(cursor, telemetry, words / hop, hop);
	if (ret)
		return ret;

	cursor->at += words * 4;
	if (npt == SHIM_BEHIND_UDP) {
		protocol = IPPROTO_UDP;
		ports[0] = udp->source;
		ports[1] = shim->original;
	} else {
		protocol = bpf_ntohs(shim->original);
		ret = read_ports(cursor, protocol, ports);
		if (ret)
			return ret;
	}
	finish_key(telemetry, inner->is_ipv6, ports, protocol);
	return TELEMETRY_OK;
}

static __always_inline int read_postcard(struct cursor *cursor, __u32 room,
					 struct telemetry *telemetry)
{
	const struct report_group *group = cursor->at;
	const struct report_individual *report = (void *)(group + 1);
	__u32 words, metadata;
	struct inner inner;
	__be16 ports[2];
	int ret;

	if (is_cut(cursor, sizeof(*group) + sizeof(*report)))
		return TELEMETRY_TRUNCATED;
	words = report->words;
	metadata = report->metadata_words;
	if (group->version >> 4 != REPORT_VERSION ||
	    report->types >> 4 != REPORT_INT)
		return TELEMETRY_MALFORMED;
	/* Not several of them: a frame becomes one report. */
	if (words == REPORT_REST)
		words = (room - sizeof(*group) - 4) / 4;
	else if (sizeof(*group) + 4 + words * 4 != room)
		return TELEMETRY_MALFORMED;
	if (words < REPORT_FIXED + metadata)
		return TELEMETRY_MALFORMED;

	cursor->at = (void *)(report + 1);
	ret = read_value(cursor, telemetry, metadata, 1);
	if (ret)
		return ret;
	cursor->at += metadata * 4;

	switch (report->types & 0xf) {
	case REPORT_INNER_ETHERNET:
		ret = read_ethernet(cursor, telemetry, &inner);
		break;
	case REPORT_INNER_IPV4:
		ret = read_ipv4(cursor, telemetry, &inner);
		break;
	case REPORT_INNER_IPV6:
		ret = read_ipv6(cursor, telemetry, &inner);
		break;
	default:
		ret = TELEMETRY_NONE;
	}
	/* It describes no packet of a flow. */
	if (ret == TELEMETRY_NONE)
		ret = TELEMETRY_ANONYMOUS;
	if (!ret)
		ret = read_ports(cursor, inner.protocol, ports);
	if (ret)
		return ret;
	finish_key(telemetry, inner.is_ipv6, ports, inner.protocol);
	if (inner.is_ipv6) {
		__builtin_memcpy(telemetry->key + 37, &group->node, 4);
		telemetry->key_length = 41;
	} else {
		__builtin_memcpy(telemetry->key + 13, &group->node, 4);
		telemetry->key_length = 17;
	}
	return TELEMETRY_OK;
}

/*
 * @int_port, @report_port: what tells telemetry, in network order; 0 never
 * does.
 */
static __always_inline int telemetry__read(struct cursor *cursor,
					   __be16 int_port, __be16 report_port,
					   struct telemetry *telemetry)
{
	const struct udphdr *udp;
	struct inner inner;
	__u32 room;
	int ret;

	/* Whatever is wrong so far, INT has no part in it. */
	ret = read_ethernet(cursor, telemetry, &inner);
	if (ret || inner.protocol != IPPROTO_UDP)
		return TELEMETRY_NONE;
	udp = cursor->at;
	if (is_cut(cursor, sizeof(*udp)) || !udp->dest)
		return TELEMETRY_NONE;
	if (udp->dest != int_port && udp->dest != report_port)
		return TELEMETRY_NONE;

	room = bpf_ntohs(udp->len);
	if (room < sizeof(*udp))
		return TELEMETRY_MALFORMED;
	room -= sizeof(*udp);
	cursor->at = (void *)(udp + 1);
	if (udp->dest == int_port)
		return read_int(cursor, udp, room, &inner, telemetry);
	return read_postcard(cursor, room, telemetry);
}

#endif /* TELEMETRY_H */

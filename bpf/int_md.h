/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * INT-MD over UDP ("In-band Network Telemetry (INT) Dataplane Specification",
 * version 2.1, sections 5.7.2 and 5.8): the headers of the described packet, the
 * UDP port of INT, then
 *
 *	shim	type (4 bits), NPT (2), reserved (2), words that follow (8),
 *		the packet's own UDP port (NPT 1) or protocol (NPT 2) (16)
 *	MD	version (4), D, E, M, reserved (12), words of a hop (5),
 *		remaining hops (8); instructions (16), domain (16); of the
 *		domain: instructions (16), flags (16)
 *	stack	for each hop, the last one first, the metadata that the
 *		instructions select; the node ID is the first instruction
 *
 * then the rest of the packet: payload (NPT 1), or its own UDP, TCP ... header.
 */
#ifndef INT_MD_H
#define INT_MD_H

#include "flow_key.h"

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

/* The cursor is after @udp; @room bytes follow, according to @udp. */
static __always_inline int read_int(struct cursor *cursor, const struct udphdr *udp, __u32 room,
				    const struct inner *inner, struct telemetry *telemetry)
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

#endif /* INT_MD_H */

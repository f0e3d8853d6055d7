/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Postcards ("Telemetry Report Format Specification", version 2.0): UDP to a
 * configured port, then
 *
 *	group	version (4 bits), hardware (6), sequence (22), node ID (32)
 *	report	type (4), inner type (4), words of the report (8), words of
 *		metadata (8), flags (8); instructions and domain as in INT
 *		(64), metadata, the beginning of the packet
 */
#ifndef POSTCARD_H
#define POSTCARD_H

#include "flow_key.h"

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
#define REPORT_REST	0xff	/* words: up to the end of the datagram */
#define REPORT_FIXED	2	/* words, without the first */

enum report_inner {
	REPORT_INNER_ETHERNET = 3,
	REPORT_INNER_IPV4,
	REPORT_INNER_IPV6,
};

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
	if (group->version >> 4 != REPORT_VERSION || report->types >> 4 != REPORT_INT)
		return TELEMETRY_MALFORMED;
	/* The frame may be longer than the datagram says. */
	if (room < sizeof(*group) + sizeof(*report))
		return TELEMETRY_MALFORMED;
	/* Exactly one report, because a frame becomes one WRITE. */
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
	/* The packet in the report belongs to no flow. */
	if (ret == TELEMETRY_NONE)
		ret = TELEMETRY_ANONYMOUS;
	if (!ret)
		ret = check_ipv4(cursor, &inner);
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

#endif /* POSTCARD_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the key and the value of a report from a frame that carries telemetry. */
#ifndef TELEMETRY_H
#define TELEMETRY_H

#include "int_md.h"
#include "postcard.h"

/* @int_port, @report_port: UDP ports of telemetry, in network order; 0: none. */
static __always_inline int telemetry__read(struct cursor *cursor, __be16 int_port,
					   __be16 report_port, struct telemetry *telemetry)
{
	const struct udphdr *udp;
	struct inner inner;
	__u32 room;
	int ret;

	/* A frame with an error up to here is not telemetry. */
	ret = read_ethernet(cursor, telemetry, &inner);
	if (ret == TELEMETRY_TAGGED)
		return ret;
	if (ret || inner.protocol != IPPROTO_UDP)
		return TELEMETRY_NONE;
	udp = cursor->at;
	if (is_cut(cursor, sizeof(*udp)) || !udp->dest)
		return TELEMETRY_NONE;
	if (udp->dest != int_port && udp->dest != report_port)
		return TELEMETRY_NONE;
	ret = check_ipv4(cursor, &inner);
	if (ret)
		return ret;

	room = bpf_ntohs(udp->len);
	if (room < sizeof(*udp) || room > inner.room)
		return TELEMETRY_MALFORMED;
	room -= sizeof(*udp);
	cursor->at = (void *)(udp + 1);
	if (udp->dest == int_port)
		return read_int(cursor, udp, room, &inner, telemetry);
	return read_postcard(cursor, room, telemetry);
}

#endif /* TELEMETRY_H */

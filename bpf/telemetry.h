/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the key and the value of a report from a frame that carries telemetry. */
#ifndef TELEMETRY_H
#define TELEMETRY_H

#include "int_md.h"
#include "postcard.h"

/* A datagram with telemetry: the cursor is after its header, and @room bytes follow. */
struct datagram {
	struct inner inner;
	const struct udphdr *udp;
	__u32 room;
};

/* @first_port, @second_port: UDP ports of telemetry, in network order; 0: none. */
static __always_inline int read_datagram(struct cursor *cursor, __be16 first_port,
					 __be16 second_port, struct telemetry *telemetry,
					 struct datagram *datagram)
{
	const struct udphdr *udp;
	int ret;

	/* A frame with an error up to here is not telemetry. */
	ret = read_ethernet(cursor, telemetry, &datagram->inner);
	if (ret == TELEMETRY_TAGGED)
		return ret;
	if (ret || datagram->inner.protocol != IPPROTO_UDP)
		return TELEMETRY_NONE;
	udp = cursor->at;
	if (is_cut(cursor, sizeof(*udp)) || !udp->dest)
		return TELEMETRY_NONE;
	if (udp->dest != first_port && udp->dest != second_port)
		return TELEMETRY_NONE;
	ret = check_ipv4(cursor, &datagram->inner);
	if (ret)
		return ret;

	datagram->udp = udp;
	datagram->room = bpf_ntohs(udp->len);
	if (datagram->room < sizeof(*udp) || datagram->room > datagram->inner.room)
		return TELEMETRY_MALFORMED;
	datagram->room -= sizeof(*udp);
	cursor->at = (void *)(udp + 1);
	return TELEMETRY_OK;
}

static __always_inline int telemetry__read(struct cursor *cursor, __be16 int_port,
					   __be16 report_port, struct telemetry *telemetry)
{
	struct datagram datagram;
	int ret = read_datagram(cursor, int_port, report_port, telemetry, &datagram);

	if (ret)
		return ret;
	if (datagram.udp->dest == int_port)
		return read_int(cursor, datagram.udp, datagram.room, &datagram.inner, telemetry);
	return read_postcard(cursor, datagram.room, telemetry);
}

#endif /* TELEMETRY_H */

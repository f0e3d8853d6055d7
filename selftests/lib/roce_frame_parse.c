// SPDX-License-Identifier: GPL-2.0-only
/* Parses the RoCEv2 frame of a report and checks every bit of it. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "roce_frame_parse.h"

/* Checks the members that are the same in all reports. */
static bool headers__are_valid(const struct dart_roce_headers *headers, size_t length)
{
	const size_t payload_length = length - sizeof(*headers) - DART_ROCE_ICRC_LENGTH;
	const uint32_t slot_length = be32toh(headers->reth.length);
	const uint8_t pad = -slot_length % 4;
	struct iphdr ip = headers->ip;

	ip.check = 0;
	return headers->ethernet.h_proto == htobe16(ETH_P_IP) &&
	       ip.version == 4 && ip.ihl == sizeof(ip) / 4 && !ip.tos &&
	       ip.tot_len == htobe16(length - sizeof(headers->ethernet)) &&
	       !ip.id && ip.frag_off == htobe16(DART_ROCE_IP_DONT_FRAGMENT) &&
	       ip.ttl == DART_ROCE_IP_TTL && ip.protocol == IPPROTO_UDP &&
	       headers->ip.check == dart_roce_frame__ip_checksum(&ip) &&
	       headers->udp.dest == htobe16(DART_STORE_UDP_PORT) &&
	       headers->udp.len == htobe16(length - sizeof(headers->ethernet) - sizeof(ip)) &&
	       !headers->udp.check &&
	       (headers->bth.opcode == DART_STORE_BTH_OPCODE ||
		headers->bth.opcode == DART_STORE_BTH_RELIABLE) &&
	       headers->bth.flags == (DART_ROCE_BTH_MIGREQ | pad << DART_ROCE_BTH_PAD_SHIFT) &&
	       headers->bth.partition == htobe16(DART_ROCE_BTH_PARTITION) &&
	       slot_length <= payload_length && slot_length + pad == payload_length;
}

int roce_frame__parse(const uint8_t *frame, size_t length, struct roce_report *report)
{
	struct dart_roce_headers headers;
	uint32_t share, pad;
	__le32 icrc;

	if (length < sizeof(headers) + sizeof(icrc) || length > DART_ROCE_FRAME_MAX)
		return -EBADMSG;
	memcpy(&headers, frame, sizeof(headers));
	if (!headers__are_valid(&headers, length))
		return -EBADMSG;

	memcpy(report->mac, headers.ethernet.h_dest, ETH_ALEN);
	memcpy(report->source_mac, headers.ethernet.h_source, ETH_ALEN);
	report->reporter.s_addr = headers.ip.saddr;
	report->ip.s_addr = headers.ip.daddr;
	report->qpn = be32toh(headers.bth.queue_pair);
	report->psn = be32toh(headers.bth.psn);
	/* Over a reliable connection reports of some reporters ask. */
	if (headers.bth.opcode == DART_STORE_BTH_RELIABLE)
		report->psn &= ~DART_ROCE_BTH_ACKREQ;
	report->address = be64toh(headers.reth.address);
	report->rkey = be32toh(headers.reth.rkey);
	report->slot_length = be32toh(headers.reth.length);
	report->slot = frame + sizeof(headers);
	share = be16toh(headers.udp.source) - DART_STORE_UDP_SOURCE_BASE;
	if (share >= DART_STORE_SHARES || report->qpn > DART_ROCE_PSN_MASK ||
	    report->psn > DART_ROCE_PSN_MASK)
		return -EBADMSG;
	report->share = share;

	for (pad = sizeof(headers) + report->slot_length; pad < length - sizeof(icrc); pad++)
		if (frame[pad])
			return -EBADMSG;
	icrc = dart_roce_frame__icrc(frame, length);
	return memcmp(frame + length - sizeof(icrc), &icrc, sizeof(icrc)) ? -EBADMSG : 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Builds the RoCEv2 frame of a report. */
#include <endian.h>
#include <string.h>
#include <zlib.h>

#include <libdart/store/store_query.h>

#include "roce_frame.h"

__be16 dart_roce_frame__ip_checksum(const void *header)
{
	uint16_t words[sizeof(struct iphdr) / sizeof(uint16_t)];
	uint32_t sum = 0;
	size_t i;

	memcpy(words, header, sizeof(words));
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		sum += words[i];
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

/* Eight bytes 0xff stand for the local route header, which RoCE lacks. */
__le32 dart_roce_frame__icrc(const uint8_t *frame, size_t length)
{
	const size_t end = offsetof(struct dart_roce_headers, reth);
	const size_t start = offsetof(struct dart_roce_headers, ip) - 8;
	struct dart_roce_headers masked;
	uint32_t crc;

	memcpy(&masked, frame, end);
	memset((uint8_t *)&masked + start, 0xff, 8);
	masked.ip.tos = 0xff;
	masked.ip.ttl = 0xff;
	masked.ip.check = 0xffff;
	masked.udp.check = 0xffff;
	masked.bth.queue_pair |= htobe32(0xff000000);
	crc = crc32(0, (uint8_t *)&masked + start, end - start);
	crc = crc32(crc, frame + end, length - end - DART_ROCE_ICRC_LENGTH);
	return htole32(crc);
}

void dart_roce_frame__wrap(const struct dart_collector *collector,
			   const uint8_t source_mac[ETH_ALEN], uint16_t source_port,
			   const struct dart_roce_transport *transport, size_t length, uint8_t *frame)
{
	struct dart_roce_headers headers = {
		.ethernet.h_proto = htobe16(ETH_P_IP),
		.ip = {
			.version = 4,
			.ihl = sizeof(headers.ip) / 4,
			.tos = collector->dscp << DART_ROCE_IP_DSCP_SHIFT,
			.tot_len = htobe16(length - sizeof(headers.ethernet)),
			.frag_off = htobe16(DART_ROCE_IP_DONT_FRAGMENT),
			.ttl = DART_ROCE_IP_TTL,
			.protocol = IPPROTO_UDP,
			.saddr = collector->reporter.s_addr,
			.daddr = collector->ip.s_addr,
		},
		.udp = {
			.source = htobe16(source_port),
			.dest = htobe16(DART_STORE_UDP_PORT),
			.len = htobe16(length - sizeof(headers.ethernet) -
				       sizeof(headers.ip)),
		},
		.bth = {
			.opcode = transport->opcode,
			.flags = DART_ROCE_BTH_MIGREQ |
				 transport->pad << DART_ROCE_BTH_PAD_SHIFT,
			.partition = htobe16(DART_ROCE_BTH_PARTITION),
			.queue_pair = htobe32(collector->qpn),
			.psn = htobe32((transport->psn & DART_ROCE_PSN_MASK) |
				       (transport->wants_answer ? DART_ROCE_BTH_ACKREQ : 0)),
		},
	};
	__le32 icrc;

	memcpy(headers.ethernet.h_dest, collector->mac, ETH_ALEN);
	memcpy(headers.ethernet.h_source, source_mac, ETH_ALEN);
	headers.ip.check = dart_roce_frame__ip_checksum(&headers.ip);
	memcpy(frame, &headers, offsetof(struct dart_roce_headers, reth));
	icrc = dart_roce_frame__icrc(frame, length);
	memcpy(frame + length - sizeof(icrc), &icrc, sizeof(icrc));
}

size_t dart_roce_frame__complete(const struct dart_collector *collector,
				 const uint8_t source_mac[ETH_ALEN], uint16_t source_port,
				 uint64_t address, size_t payload, uint32_t psn, uint8_t *frame)
{
	const struct dart_roce_transport transport = {
		.opcode = DART_STORE_BTH_OPCODE,
		.pad = -payload % 4,
		.psn = psn,
	};
	const size_t length = sizeof(struct dart_roce_headers) + payload + transport.pad +
			      DART_ROCE_ICRC_LENGTH;
	struct dart_roce_headers headers = {
		.reth = {
			.address = htobe64(address),
			.rkey = htobe32(collector->rkey),
			.length = htobe32(payload),
		},
	};

	memcpy(frame + offsetof(struct dart_roce_headers, reth), &headers.reth,
	       sizeof(headers.reth));
	memset(frame + sizeof(headers) + payload, 0, transport.pad);
	dart_roce_frame__wrap(collector, source_mac, source_port, &transport, length, frame);
	return length;
}

size_t dart_roce_frame__build(const struct dart_collector *collector,
			      const uint8_t source_mac[ETH_ALEN],
			      const struct dart_store_place *place, uint32_t copy,
			      const void *value, uint32_t psn, uint8_t frame[DART_ROCE_FRAME_MAX])
{
	const struct dart_store_geometry *geometry = &collector->geometry;
	const size_t slot_length = dart_store_geometry__slot_length(geometry);
	const uint64_t slot = place->slots[copy] & (geometry->slots - 1);

	dart_store__fill(geometry, place, value, frame + sizeof(struct dart_roce_headers));
	return dart_roce_frame__complete(collector, source_mac,
					 DART_STORE_UDP_SOURCE_BASE + place->share,
					 collector->base + slot * slot_length, slot_length, psn,
					 frame);
}

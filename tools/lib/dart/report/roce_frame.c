// SPDX-License-Identifier: LGPL-2.1-or-later
/* Builds the RoCEv2 frame of a report, and reads the answers of a collector. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include <dart/ledger.h>
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
		.opcode = collector->is_reliable ? DART_STORE_BTH_RELIABLE : DART_STORE_BTH_OPCODE,
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

/* Networks keep the order of frames with the same ports, which a reliable connection needs. */
static uint16_t port_of(const struct dart_collector *collector, uint32_t share)
{
	return DART_STORE_UDP_SOURCE_BASE +
	       (collector->is_reliable ? collector->qpn % DART_STORE_SHARES : share);
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
					 port_of(collector, place->share),
					 collector->base + slot * slot_length, slot_length, psn,
					 frame);
}

size_t dart_roce_frame__probe(const struct dart_collector *collector,
			      const uint8_t source_mac[ETH_ALEN], uint32_t psn,
			      uint8_t frame[DART_ROCE_FRAME_MAX])
{
	const struct dart_roce_transport transport = {
		.opcode = DART_STORE_BTH_RELIABLE,
		.wants_answer = true,
		.psn = psn,
	};
	const struct dart_roce_headers headers = {
		.reth = {
			.address = htobe64(collector->base),
			.rkey = htobe32(collector->rkey),
		},
	};

	memcpy(frame + offsetof(struct dart_roce_headers, reth), &headers.reth,
	       sizeof(headers.reth));
	dart_roce_frame__wrap(collector, source_mac, port_of(collector, 0), &transport,
			      DART_ROCE_PROBE_LENGTH, frame);
	return DART_ROCE_PROBE_LENGTH;
}

/* ---- answers */

#define TRANSPORT_END offsetof(struct dart_roce_headers, reth)

/* The header after the BTH of an answer. */
struct answer_header {
	uint8_t syndrome;
	uint8_t messages[3];
	__be64 before; /* not in acknowledgements of other requests */
} __attribute__((packed));

#define SYNDROME_KIND_SHIFT 5
#define SYNDROME_CODE 0x1f
#define KIND_ACK 0
#define KIND_NOT_READY 1
#define KIND_NAK 3
#define NAK_SEQUENCE 0

/* Bytes of an answer's frame, 0 if it is none. */
static size_t length_of(const struct dart_roce_headers *headers)
{
	switch (headers->bth.opcode) {
	case DART_STORE_BTH_ACKNOWLEDGE:
		return TRANSPORT_END + offsetof(struct answer_header, before) +
		       DART_ROCE_ICRC_LENGTH;
	case DART_LEDGER_BTH_ANSWER:
		return TRANSPORT_END + sizeof(struct answer_header) + DART_ROCE_ICRC_LENGTH;
	default:
		return 0;
	}
}

static bool is_from(const struct dart_collector *collector, const struct dart_roce_headers *headers)
{
	return headers->ethernet.h_proto == htobe16(ETH_P_IP) && headers->ip.version == 4 &&
	       headers->ip.ihl == sizeof(headers->ip) / 4 && headers->ip.protocol == IPPROTO_UDP &&
	       headers->ip.saddr == collector->ip.s_addr &&
	       headers->ip.daddr == collector->reporter.s_addr &&
	       headers->udp.dest == htobe16(DART_STORE_UDP_PORT) &&
	       (be32toh(headers->bth.queue_pair) & DART_ROCE_PSN_MASK) == collector->qpn;
}

static int read_syndrome(uint8_t syndrome, enum dart_roce_answer_kind *kind)
{
	switch (syndrome >> SYNDROME_KIND_SHIFT) {
	case KIND_ACK:
		*kind = DART_ROCE_ACKNOWLEDGED;
		return 0;
	case KIND_NOT_READY:
		*kind = DART_ROCE_NOT_READY;
		return 0;
	case KIND_NAK:
		*kind = (syndrome & SYNDROME_CODE) == NAK_SEQUENCE ? DART_ROCE_OUT_OF_SEQUENCE :
								     DART_ROCE_REFUSED;
		return 0;
	default:
		return -EINVAL;
	}
}

int dart_roce_frame__read_answer(const struct dart_collector *collector, const uint8_t *frame,
				 size_t length, struct dart_roce_answer *answer)
{
	struct dart_roce_headers headers;
	__le32 icrc;
	size_t whole;

	if (length < TRANSPORT_END)
		return -EINVAL;
	memcpy(&headers, frame, TRANSPORT_END);
	whole = length_of(&headers);
	/* Ethernet may have padded the frame. */
	if (!whole || length < whole || !is_from(collector, &headers) ||
	    be16toh(headers.ip.tot_len) != whole - sizeof(headers.ethernet))
		return -EINVAL;
	memcpy(&icrc, frame + whole - sizeof(icrc), sizeof(icrc));
	if (icrc != dart_roce_frame__icrc(frame, whole))
		return -EINVAL;
	answer->psn = be32toh(headers.bth.psn) & DART_ROCE_PSN_MASK;
	return read_syndrome(frame[TRANSPORT_END], &answer->kind);
}

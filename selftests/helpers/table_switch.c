// SPDX-License-Identifier: GPL-2.0-only
/*
 * table_switch INTERFACE ADDRESS SERVER MAC QPN RKEY TO PSN: plays a switch at ADDRESS that sends
 * one RDMA WRITE Only of 4 bytes, 0, to the reliable connected queue pair QPN of SERVER, whose
 * MAC address is MAC.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <error.h>
#include <net/ethernet.h>
#include <netinet/ether.h>
#include <stdlib.h>
#include <string.h>

#include <dart/tea.h>
#include <libdart/report/packet_socket.h>
#include <libdart/report/roce_frame.h>

#define RC_WRITE_ONLY	0x0a
#define ACK_REQUEST	0x80000000
#define LENGTH		4

struct frame {
	struct dart_roce_headers headers;
	uint8_t payload[LENGTH];
	__le32 icrc;
} __attribute__((packed));

static size_t build(struct frame *frame, const uint8_t *source, char *argv[])
{
	struct dart_roce_headers *headers = &frame->headers;
	const struct ether_addr *mac = ether_aton(argv[4]);

	*frame = (struct frame){
		.headers = {
			.ethernet.h_proto = htobe16(ETH_P_IP),
			.ip = {
				.version = 4,
				.ihl = sizeof(headers->ip) / 4,
				.tot_len = htobe16(sizeof(*frame) -
						   sizeof(headers->ethernet)),
				.frag_off = htobe16(DART_ROCE_IP_DONT_FRAGMENT),
				.ttl = DART_ROCE_IP_TTL,
				.protocol = IPPROTO_UDP,
				.saddr = inet_addr(argv[2]),
				.daddr = inet_addr(argv[3]),
			},
			.udp = {
				.source = htobe16(DART_TEA_UDP_SOURCE),
				.dest = htobe16(DART_TEA_UDP_PORT),
				.len = htobe16(sizeof(*frame) -
					       sizeof(headers->ethernet) -
					       sizeof(headers->ip)),
			},
			.bth = {
				.opcode = RC_WRITE_ONLY,
				.flags = DART_ROCE_BTH_MIGREQ,
				.partition = htobe16(DART_ROCE_BTH_PARTITION),
				.queue_pair = htobe32(strtoul(argv[5], NULL, 0)),
				.psn = htobe32(ACK_REQUEST |
					       strtoul(argv[8], NULL, 0)),
			},
			.reth = {
				.address = htobe64(strtoull(argv[7], NULL, 0)),
				.rkey = htobe32(strtoul(argv[6], NULL, 0)),
				.length = htobe32(LENGTH),
			},
		},
	};
	if (!mac)
		error(2, 0, "not a MAC address: %s", argv[4]);
	memcpy(headers->ethernet.h_dest, mac, ETH_ALEN);
	memcpy(headers->ethernet.h_source, source, ETH_ALEN);
	headers->ip.check = dart_roce_frame__ip_checksum(&headers->ip);
	frame->icrc = dart_roce_frame__icrc((uint8_t *)frame, sizeof(*frame));
	return sizeof(*frame);
}

int main(int argc, char *argv[])
{
	struct dart_packet_socket *socket;
	struct dart_error reason;
	struct frame frame;
	size_t length;

	if (argc != 9)
		error(2, 0, "usage: table_switch INTERFACE ADDRESS SERVER MAC QPN RKEY TO PSN");
	if (dart_packet_socket__open(argv[1], 0, &socket, &reason))
		error(1, 0, "%s", reason.text);
	length = build(&frame, dart_packet_socket__mac(socket), argv);
	memcpy(dart_packet_socket__next(socket), &frame, length);
	if (dart_packet_socket__push(socket, length) || dart_packet_socket__flush(socket))
		error(1, 0, "cannot send");
	dart_packet_socket__close(socket);
	return EXIT_SUCCESS;
}

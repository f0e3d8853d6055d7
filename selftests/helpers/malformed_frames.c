// SPDX-License-Identifier: GPL-2.0-only
/*
 * malformed_frames INTERFACE COLLECTORS KIND COUNT [TAG]: sends reports with one flaw
 * each, and then a good report.
 *
 * The good report is always copy 0 of the same key, with a value that names the kind
 * and the tag.  Prints the offset of its slot in the store and its bytes, for
 * store_sum.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>
#include <libdart/random.h>
#include <libdart/report/report_builder.h>
#include <libdart/report/packet_socket.h>

#include "selftests/lib/roce_frame_parse.h"

#define RATE		20000	/* frames/s: soft-RoCE keeps up */
#define PAYLOAD_MAX	128	/* bytes that are added to a frame at most */
#define END_KEY		"end"

struct frame {
	union {
		uint8_t bytes[DART_PACKET_SOCKET_FRAME_MAX];
		struct dart_roce_headers headers;
	};
	size_t length;
};

struct session {
	struct dart_collectors collectors;
	const struct dart_collector *collector;
	struct dart_report_builder *builder;
	struct dart_packet_socket *socket;
	struct dart_random random;
	uint8_t value[DART_STORE_VALUE_MAX];	/* of the good report */
};

static uint32_t below(struct session *session, uint32_t bound)
{
	return dart_random__below(&session->random, bound);
}

/* Never 0; half of the numbers are below 65. */
static uint32_t difference(struct session *session)
{
	return 1 + below(session, below(session, 2) ? UINT32_MAX : 64);
}

/* Shows that frames of the other kinds are free of a second flaw. */
static void spoil_nothing(struct session *session, struct frame *frame)
{
}

static void spoil_opcode(struct session *session, struct frame *frame)
{
	frame->headers.bth.opcode += 1 + below(session, UINT8_MAX);
}

/*
 * Changes the length of the payload, or the length in the RETH. With a payload the
 * latter is never 0: soft-RoCE refuses that, too, but with a warning in the log.
 */
static void spoil_length(struct session *session, struct frame *frame)
{
	const uint32_t length = be32toh(frame->headers.reth.length);
	const size_t rest = sizeof(frame->headers) + DART_ROCE_ICRC_LENGTH;
	uint32_t other;

	if (below(session, 2)) {
		do
			other = length ^ difference(session);
		while (!other);
		frame->headers.reth.length = htobe32(other);
		return;
	}
	do
		other = below(session, PAYLOAD_MAX / 4) * 4;
	while (other == length);
	frame->length = rest + other;
}

static void spoil_rkey(struct session *session, struct frame *frame)
{
	frame->headers.reth.rkey ^= htobe32(difference(session) << (below(session, 2) ? 8 : 0));
	if (be32toh(frame->headers.reth.rkey) == session->collector->rkey)
		frame->headers.reth.rkey = ~frame->headers.reth.rkey;
}

static void spoil_psn(struct session *session, struct frame *frame)
{
	frame->headers.bth.psn = htobe32(dart_random__next(&session->random) & DART_ROCE_PSN_MASK);
}

static void spoil_address(struct session *session, struct frame *frame)
{
	const struct dart_collector *collector = session->collector;
	const uint64_t length = dart_store_geometry__length(&collector->geometry);
	const uint64_t slot = be32toh(frame->headers.reth.length);
	uint64_t address;

	switch (below(session, 4)) {
	case 0:		/* begins before the store */
		address = collector->base - 1 - below(session, 2 * slot);
		break;
	case 1:		/* ends beyond the store */
		address = collector->base + length - below(session, slot);
		break;
	case 2:		/* an offset instead of an address */
		address = be64toh(frame->headers.reth.address) -
			  collector->base;
		break;
	default:
		do
			address = dart_random__next(&session->random);
		while (address + slot - collector->base < length + slot);
	}
	frame->headers.reth.address = htobe64(address);
}

static void spoil_source(struct session *session, struct frame *frame)
{
	frame->headers.ip.saddr ^= htobe32(1 + below(session, UINT8_MAX));
}

static void spoil_queue_pair(struct session *session, struct frame *frame)
{
	const uint32_t mask = DART_ROCE_PSN_MASK;
	uint32_t other = session->collector->qpn ^ difference(session);

	if (!((other ^ session->collector->qpn) & mask))
		other ^= 1;
	frame->headers.bth.queue_pair = htobe32(other & mask);
}

static void spoil_partition(struct session *session, struct frame *frame)
{
	/* The highest bit of a P_Key is not part of its value. */
	frame->headers.bth.partition ^= htobe16(1 + below(session, 0x7fff));
}

static void spoil_icrc(struct session *session, struct frame *frame)
{
	uint8_t *icrc = frame->bytes + frame->length - DART_ROCE_ICRC_LENGTH;

	icrc[below(session, DART_ROCE_ICRC_LENGTH)] ^= 1 + below(session, UINT8_MAX);
}

static const struct kind {
	const char *name;
	void (*spoil)(struct session *session, struct frame *frame);
	bool after_icrc;
	bool is_taken;		/* accepted: carries the key of the good report */
} kinds[] = {
	{ .name = "none" },
	{ .name = "nothing", .spoil = spoil_nothing },
	{ .name = "opcode", .spoil = spoil_opcode },
	{ .name = "length", .spoil = spoil_length },
	{ .name = "rkey", .spoil = spoil_rkey },
	{ .name = "psn", .spoil = spoil_psn, .is_taken = true },
	{ .name = "icrc", .spoil = spoil_icrc, .after_icrc = true },
	{ .name = "address", .spoil = spoil_address },
	{ .name = "source", .spoil = spoil_source },
	{ .name = "queue-pair", .spoil = spoil_queue_pair },
	{ .name = "partition", .spoil = spoil_partition },
};

static const struct kind *kind__find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* Sets lengths and checksums. */
static void frame__finish(struct frame *frame)
{
	struct dart_roce_headers *headers = &frame->headers;
	const size_t ip_length = frame->length - sizeof(headers->ethernet);
	__le32 icrc;

	headers->ip.tot_len = htobe16(ip_length);
	headers->udp.len = htobe16(ip_length - sizeof(headers->ip));
	headers->ip.check = 0;
	headers->ip.check = dart_roce_frame__ip_checksum(&headers->ip);
	icrc = dart_roce_frame__icrc(frame->bytes, frame->length);
	memcpy(frame->bytes + frame->length - sizeof(icrc), &icrc, sizeof(icrc));
}

static int send_spoilt(struct session *session, const struct kind *kind)
{
	uint64_t key = dart_random__next(&session->random);
	uint8_t value[DART_STORE_VALUE_MAX];
	struct dart_store_place place;
	struct frame frame = { .length = 0 };

	memset(value, key, sizeof(value));
	if (kind->is_taken)
		dart_report_builder__find(session->builder, END_KEY, strlen(END_KEY), &place);
	else
		dart_report_builder__find(session->builder, &key, sizeof(key), &place);
	frame.length = dart_report_builder__report(session->builder, &place, 0, value, frame.bytes);
	if (!kind->after_icrc)
		kind->spoil(session, &frame);
	frame__finish(&frame);
	if (kind->after_icrc)
		kind->spoil(session, &frame);
	memcpy(dart_packet_socket__next(session->socket), frame.bytes, frame.length);
	return dart_packet_socket__push(session->socket, frame.length);
}

static int send_good(struct session *session)
{
	uint8_t *frame = dart_packet_socket__next(session->socket);
	struct roce_report report;
	struct dart_store_place place;
	size_t length, i;

	dart_report_builder__find(session->builder, END_KEY, strlen(END_KEY), &place);
	length = dart_report_builder__report(session->builder, &place, 0, session->value, frame);
	if (roce_frame__parse(frame, length, &report))
		return -EBADMSG;
	printf("%" PRIu64 " ", report.address - session->collector->base);
	for (i = 0; i < report.slot_length; i++)
		printf("%02x", report.slot[i]);
	putchar('\n');
	length = dart_packet_socket__push(session->socket, length);
	return length ? (int)length : dart_packet_socket__flush(session->socket);
}

static int fail(const char *reason)
{
	fprintf(stderr, "malformed_frames: %s\n", reason);
	return EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	struct session session = { .random = dart_random__of(1) };
	struct dart_error error;
	const struct kind *kind;
	long count;
	int ret;

	kind = argc < 5 || argc > 6 ? NULL : kind__find(argv[3]);
	if (!kind) {
		fputs("usage: malformed_frames INTERFACE COLLECTORS KIND COUNT [TAG]\n", stderr);
		return EXIT_FAILURE;
	}
	count = atol(argv[4]);
	snprintf((char *)session.value, sizeof(session.value), "after %s %s",
		 kind->name, argc == 6 ? argv[5] : "");
	if (dart_packet_socket__open(argv[1], RATE, &session.socket, &error) ||
	    dart_collectors__load((const char *const *)&argv[2], 1,
				  dart_packet_socket__address(session.socket),
				  &session.collectors, &error))
		return fail(error.text);
	session.collector = session.collectors.list;
	ret = dart_report_builder__new(&session.collectors, dart_packet_socket__mac(session.socket),
				       1, &session.builder);
	while (!ret && kind->spoil && count--)
		ret = send_spoilt(&session, kind);
	if (!ret)
		ret = send_good(&session);
	return ret ? fail(strerror(-ret)) : EXIT_SUCCESS;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Packets with INT-MD: built by this project, built by others, and malformed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>

#include "selftests/unit/unit.h"
#include "tools/report/int_packet.h"

#define PORT	5000
#define UDP	(14 + 20)	/* offset of its header */
#define SHIM	(UDP + 8)
#define STACK	(SHIM + 4 + 12)

static const uint8_t mac[] = { 2, 0, 0, 0, 0, 9 };

static size_t build(uint32_t hops, uint8_t frame[INT_PACKET_MAX])
{
	struct dart_flow flow = {
		.key = { 10, 0, 0, 1, 10, 0, 0, 2, 0x12, 0x34, 0x56, 0x78, 17 },
		.hops = hops,
	};
	uint32_t hop;

	for (hop = 0; hop < hops; hop++)
		flow.path[hop] = hop + 1;
	return int_packet__build(&flow, mac, PORT, frame);
}

static void test_read_back(void **state)
{
	uint8_t frame[INT_PACKET_MAX];
	struct int_packet packet;
	uint32_t hops, hop;
	size_t length;

	for (hops = 1; hops <= DART_FLOW_HOPS_MAX; hops++) {
		length = build(hops, frame);
		assert_true(length <= sizeof(frame));
		assert_int_equal(int_packet__parse(frame, length, PORT, &packet), 0);
		assert_int_equal(packet.key_length, 13);
		assert_memory_equal(packet.key, "\x0a\0\0\1\x0a\0\0\2\x12\x34\x56\x78\x11", 13);
		assert_int_equal(packet.hops, hops);
		for (hop = 0; hop < hops; hop++)
			assert_int_equal(packet.path[hop], hop + 1);
	}
}

/* INT in front of the packet's TCP header; two words for each hop. */
static void test_before_tcp(void **state)
{
	uint8_t frame[INT_PACKET_MAX];
	struct int_packet packet;
	size_t length = build(4, frame);

	frame[SHIM] = 1 << 4 | 2 << 2;
	memcpy(frame + SHIM + 2, "\0\6", 2);
	frame[SHIM + 4 + 2] = 2;
	memcpy(frame + length, "\xab\xcd\xef\x01", 4);
	frame[UDP + 5] += 4;
	assert_int_equal(int_packet__parse(frame, length + 4, PORT, &packet), 0);
	assert_memory_equal(packet.key + 8, "\xab\xcd\xef\x01\6", 5);
	assert_int_equal(packet.hops, 2);
	assert_int_equal(packet.path[0], 1);
	assert_int_equal(packet.path[1], 3);
	assert_int_equal(int_packet__parse(frame, length + 3, PORT, &packet), -EBADMSG);
}

static void test_ipv6(void **state)
{
	uint8_t frame[INT_PACKET_MAX + 20] = { 0 };
	struct int_packet packet;
	size_t length = build(1, frame);
	int i;

	memmove(frame + UDP + 20, frame + UDP, length - UDP);
	memcpy(frame + 12, "\x86\xdd\x60\0\0\0\0\0\x11\x40", 10);
	for (i = 0; i < 32; i++)
		frame[22 + i] = i + 1;
	assert_int_equal(int_packet__parse(frame, length + 20, PORT, &packet), 0);
	assert_int_equal(packet.key_length, 37);
	for (i = 0; i < 32; i++)
		assert_int_equal(packet.key[i], i + 1);
	assert_memory_equal(packet.key + 32, "\x12\x34\x56\x78\x11", 5);
}

static void test_refused(void **state)
{
	static const struct {
		size_t offset;
		uint8_t byte;
		int error;
	} changes[] = {
		{ 12, 9, -ENODATA },		/* not IP */
		{ 14, 0x65, -ENODATA },		/* version 6 */
		{ 14, 0x44, -ENODATA },		/* a header too short */
		{ 20, 0x20, -ENODATA },		/* a fragment */
		{ 23, 6, -ENODATA },		/* TCP */
		{ UDP + 2, 0, -ENODATA },	/* another port */
		{ 25, 1, -EBADMSG },		/* the checksum of IP */
		{ 27, 9, -EBADMSG },		/* the source */
		{ UDP + 5, 8, -EBADMSG },	/* UDP without payload */
		{ SHIM, 2 << 4 | 1 << 2, -EBADMSG }, /* another type */
		{ SHIM, 1 << 4, -EBADMSG },	/* unknown next protocol */
		{ SHIM + 1, 2, -EBADMSG },	/* header cut short */
		{ SHIM + 1, 3, -EBADMSG },	/* no stack */
		{ SHIM + 1, 7, -EBADMSG },	/* longer than UDP */
		{ SHIM + 4, 0x10, -EBADMSG },	/* version 1 */
		{ SHIM + 4, 0x24, -EBADMSG },	/* too many hops */
		{ SHIM + 4, 0x22, -EBADMSG },	/* no room for a hop */
		{ SHIM + 6, 0, -EBADMSG },	/* hops of no words */
		{ SHIM + 6, 2, -EBADMSG },	/* one hop and a half */
		{ SHIM + 8, 0x40, -EBADMSG },	/* no node IDs */
	};
	uint8_t frame[INT_PACKET_MAX];
	struct int_packet packet;
	size_t length, i;

	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		length = build(3, frame);
		frame[changes[i].offset] = changes[i].byte;
		assert_int_equal(int_packet__parse(frame, length, PORT, &packet), changes[i].error);
	}
}

/* Options count for the checksum. */
static void test_options(void **state)
{
	static const uint8_t nops[4] = { 1, 1, 1, 1 };
	uint8_t frame[INT_PACKET_MAX + sizeof(nops)];
	struct int_packet packet;
	size_t length = build(3, frame) + sizeof(nops);
	uint32_t sum;

	memmove(frame + UDP + sizeof(nops), frame + UDP, length - UDP - sizeof(nops));
	memcpy(frame + UDP, nops, sizeof(nops));
	frame[14]++;
	/* RFC 1624: subtract the sum of the added bytes. */
	sum = (frame[24] << 8 | frame[25]) + (uint16_t)~0x0100 + 2 * (uint16_t)~0x0101;
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	frame[24] = sum >> 8;
	frame[25] = sum;
	assert_int_equal(int_packet__parse(frame, length, PORT, &packet), 0);
	frame[UDP + 3] = 0;
	assert_int_equal(int_packet__parse(frame, length, PORT, &packet), -EBADMSG);
}

/* Adds a tag after the Ethernet addresses; returns the new length. */
static size_t add_tag(uint8_t *frame, size_t length, uint16_t type, uint16_t control)
{
	const uint8_t tag[] = { type >> 8, type, control >> 8, control };

	memmove(frame + 12 + sizeof(tag), frame + 12, length - 12);
	memcpy(frame + 12, tag, sizeof(tag));
	return length + sizeof(tag);
}

/* Types of tags, the innermost first; 0 ends them. */
static const uint16_t tags[][3] = {
	{ 0x8100 },		/* of one VLAN */
	{ 0x88a8 },
	{ 0x8100, 0x88a8 },	/* 802.1ad */
	{ 0x8100, 0x9100 },	/* before 802.1ad */
	{ 0x8100, 0x9200 },
	{ 0x8100, 0x9300 },
	{ 0x8100, 0x8100 },
};

static size_t build_tagged(const uint16_t *types, uint32_t count, uint16_t control, uint8_t *frame)
{
	size_t length = build(3, frame);
	uint32_t i;

	for (i = 0; i < count && types[i]; i++)
		length = add_tag(frame, length, types[i], control);
	return length;
}

static void test_tagged(void **state)
{
	/* A VLAN; a priority alone; all bits. */
	static const uint16_t controls[] = { 7, 0xa000, 0xffff };
	uint8_t frame[INT_PACKET_MAX + 8];
	struct int_packet packet;
	size_t length, i, j, cut;

	for (i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		for (j = 0; j < sizeof(controls) / sizeof(*controls); j++) {
			length = build_tagged(tags[i], 2, controls[j], frame);
			assert_int_equal(int_packet__parse(frame, length, PORT, &packet), 0);
			assert_int_equal(packet.key_length, 13);
			assert_memory_equal(packet.key + 8, "\x12\x34\x56\x78\x11", 5);
			assert_int_equal(packet.hops, 3);
		}
		for (cut = 0; cut < length; cut++)
			assert_int_not_equal(int_packet__parse(frame, cut, PORT, &packet), 0);
	}
}

static void test_many_tags(void **state)
{
	static const uint16_t three[] = { 0x8100, 0x8100, 0x88a8 };
	uint8_t frame[INT_PACKET_MAX + 12];
	struct int_packet packet;
	size_t length = build_tagged(three, 3, 7, frame);

	assert_int_equal(int_packet__parse(frame, length, PORT, &packet), -E2BIG);
	/* ARP follows two tags. */
	frame[20] = 0x08;
	frame[21] = 0x06;
	assert_int_equal(int_packet__parse(frame, length, PORT, &packet), -ENODATA);
}

/* The buffer is exactly as large as the packet. */
static void test_any_bytes(void **state)
{
	struct dart_random random = dart_random__of(1);
	uint8_t frame[INT_PACKET_MAX], *part;
	size_t length = build(5, frame), cut, i;
	struct int_packet packet;

	for (cut = 0; cut < length; cut++) {
		part = malloc(cut + !cut);
		memcpy(part, frame, cut);
		assert_int_not_equal(int_packet__parse(part, cut, PORT, &packet), 0);
		free(part);
	}
	for (i = 0; i < 200000; i++) {
		cut = dart_random__below(&random, length) + 1;
		part = malloc(cut);
		memcpy(part, frame, cut);
		part[dart_random__below(&random, cut)] = dart_random__next(&random);
		part[dart_random__below(&random, cut)] = dart_random__next(&random);
		int_packet__parse(part, cut, PORT, &packet);
		free(part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a packet that was built is parsed to the same flow key and path, for each number of hops",
		     test_read_back),
		TEST("INT in front of TCP, with several words for each hop, is parsed to the inner flow and switch IDs",
		     test_before_tcp),
		TEST("an IPv6 packet with INT is parsed to a key with both IPv6 addresses",
		     test_ipv6),
		TEST("a packet without INT gives ENODATA, and one with a malformed INT header, or a wrong checksum of IPv4, EBADMSG",
		     test_refused),
		TEST("a packet with options of IPv4 is parsed, and one with a wrong option gives EBADMSG",
		     test_options),
		TEST("a packet with one or two tags of 802.1Q, 802.1ad or their forerunners, or of a priority, is parsed as without",
		     test_tagged),
		TEST("a packet with three tags gives E2BIG", test_many_tags),
		TEST("a packet cut anywhere is refused, and random bytes are never read beyond their end",
		     test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

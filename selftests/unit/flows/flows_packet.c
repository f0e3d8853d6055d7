// SPDX-License-Identifier: GPL-2.0-only
/* Packets are read and rewritten; checksums are compared with ones computed over all bytes. */
#include <netinet/in.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/flows/packet/packet.h"

#define ROUNDS 20000
#define FRAME_MAX 200
#define IP 14

static const uint8_t next_hop[PACKET_MAC_LENGTH] = { 2, 0, 0, 0, 0, 9 };

static uint32_t sum_of(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < length; i++)
		sum += i & 1 ? bytes[i] : bytes[i] << 8;
	return sum;
}

static uint16_t checksum_of(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void put16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = value >> 8;
	bytes[1] = value;
}

static uint16_t get16(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static size_t checksum_place(uint8_t protocol)
{
	return protocol == IPPROTO_TCP ? 16 : protocol == IPPROTO_UDP ? 6 : 2;
}

/* Writes both checksums of the packet anew, as a sender does. */
static void write_checksums(uint8_t *frame, size_t length)
{
	const size_t header = 4 * (frame[IP] & 15);
	uint8_t *transport = frame + IP + header;
	const size_t rest = frame + length - transport;
	uint8_t *checksum = transport + checksum_place(frame[IP + 9]);
	uint32_t sum = 0;

	put16(frame + IP + 10, 0);
	put16(frame + IP + 10, checksum_of(sum_of(frame + IP, header)));
	put16(checksum, 0);
	if (frame[IP + 9] != IPPROTO_ICMP)
		sum = sum_of(frame + IP + 12, 8) + frame[IP + 9] + rest;
	put16(checksum, checksum_of(sum + sum_of(transport, rest)));
	if (frame[IP + 9] == IPPROTO_UDP && !get16(checksum))
		put16(checksum, 0xffff);
}

/* A random packet with a payload and, at times, IPv4 options; returns the length of the frame. */
static size_t make(uint8_t *frame, uint64_t *state, uint8_t protocol)
{
	const size_t options = 4 * random__below(state, 3);
	const size_t length = IP + 20 + options + 20 + random__below(state, 60);
	size_t i;

	for (i = 0; i < length; i++)
		frame[i] = random__below(state, 256);
	put16(frame + 12, 0x0800);
	memset(frame + IP + 20, 1, options);
	frame[IP] = 0x45 + options / 4;
	put16(frame + IP + 2, length - IP);
	put16(frame + IP + 6, 0x4000);
	frame[IP + 8] = 2 + random__below(state, 254);
	frame[IP + 9] = protocol;
	if (protocol == IPPROTO_ICMP) {
		frame[IP + 20 + options] = random__below(state, 2) ? 8 : 0;
		frame[IP + 20 + options + 1] = 0;
	}
	write_checksums(frame, length);
	return length;
}

static struct end random_end(uint64_t *state)
{
	return (struct end){ random__below(state, 1 << 16) << 16 | random__below(state, 1 << 16),
			     random__below(state, 1 << 16) };
}

/* Both checksums are those that a sender would have written. */
static void assert_right(const uint8_t *frame, size_t length)
{
	uint8_t fresh[FRAME_MAX];

	memcpy(fresh, frame, length);
	write_checksums(fresh, length);
	assert_memory_equal(fresh, frame, length);
}

static void rewrite(uint64_t *state, uint8_t protocol)
{
	uint8_t frame[FRAME_MAX], before[FRAME_MAX];
	const size_t length = make(frame, state, protocol);
	const struct end end = random_end(state);
	struct packet packet;
	bool is_source;

	memcpy(before, frame, length);
	assert_int_equal(packet__read(&packet, frame, length + 4), PACKET_GOOD);
	assert_int_equal(packet.length, length);
	/* Of an echo only one end has a port. */
	is_source = protocol == IPPROTO_ICMP ? !packet.is_reply : random__below(state, 2);
	if (is_source)
		packet__set_source(&packet, &end);
	else
		packet__set_destination(&packet, &end);
	packet__route(&packet, next_hop);
	assert_right(frame, length);
	assert_memory_equal(frame, next_hop, sizeof(next_hop));
	assert_memory_equal(frame + 6, before, 6);
	assert_int_equal(frame[IP + 8], before[IP + 8] - 1);

	assert_int_equal(packet__read(&packet, frame, length),
			 frame[IP + 8] > 1 ? PACKET_GOOD : PACKET_EXPIRED);
	if (frame[IP + 8] > 1)
		assert_true(end__equal(is_source ? &packet.source : &packet.destination, &end));
}

static void test_rewritten_checksums(void **state)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP };
	uint64_t random = 1;
	int i;

	for (i = 0; i < ROUNDS; i++)
		rewrite(&random, protocols[i % 3]);
}

/* The example of RFC 1624, section 4: 0x5555 becomes 0x3285, and the checksum 0xdd2f becomes 0. */
static void test_rfc_1624(void **state)
{
	uint8_t frame[FRAME_MAX] = {};
	struct packet packet;
	struct end source;
	uint64_t random = 7;
	size_t length;

	length = make(frame, &random, IPPROTO_TCP);
	put16(frame + IP + 12, 0x5555);
	write_checksums(frame, length);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	/* The header with this checksum would be 0x2285 short of it. */
	put16(frame + IP + 10, 0xdd2f);
	source = packet.source;
	source.address = 0x32850000 | (source.address & 0xffff);
	packet__set_source(&packet, &source);
	assert_int_equal(get16(frame + IP + 10), 0);
}

static void test_udp_without_checksum(void **state)
{
	const struct end end = { 0xcb007101, 5000 };
	uint8_t frame[FRAME_MAX];
	struct packet packet;
	uint64_t random = 3;
	size_t length, place;

	length = make(frame, &random, IPPROTO_UDP);
	place = IP + 4 * (frame[IP] & 15) + 6;
	put16(frame + place, 0);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	packet__set_source(&packet, &end);
	packet__complete(&packet);
	assert_int_equal(get16(frame + place), 0);
}

static void test_wrong_stays_wrong(void **state)
{
	const struct end end = { 0xcb007101, 5000 };
	uint8_t frame[FRAME_MAX], fresh[FRAME_MAX];
	struct packet packet;
	uint64_t random = 4;
	size_t length;

	length = make(frame, &random, IPPROTO_TCP);
	frame[length - 1] ^= 1;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	packet__set_source(&packet, &end);
	memcpy(fresh, frame, length);
	write_checksums(fresh, length);
	assert_memory_not_equal(fresh, frame, length);
}

/* As Linux leaves a packet for its adapter: the sum of the pseudo-header. */
static void test_partial_checksums(void **state)
{
	uint8_t frame[FRAME_MAX];
	struct packet packet;
	uint64_t random = 5;
	size_t length;
	int i;

	for (i = 0; i < 1000; i++) {
		length = make(frame, &random, i & 1 ? IPPROTO_TCP : IPPROTO_UDP);
		assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
		put16(packet.transport + checksum_place(packet.protocol), 0x1234);
		packet__complete(&packet);
		assert_right(frame, length);
	}
}

static void test_flaws(void **state)
{
	uint8_t frame[FRAME_MAX], good[FRAME_MAX];
	struct packet packet;
	uint64_t random = 6;
	size_t length, cut;

	length = make(good, &random, IPPROTO_TCP);
	for (cut = 0; cut < length; cut++)
		assert_int_not_equal(packet__read(&packet, good, cut), PACKET_GOOD);
	assert_int_equal(packet__read(&packet, good, length), PACKET_GOOD);

#define CHANGED(place, value, flaw)                                           \
	do {                                                                  \
		memcpy(frame, good, length);                                  \
		put16(frame + (place), value);                                \
		if ((place) >= IP)                                            \
			write_checksums(frame, length);                       \
		assert_int_equal(packet__read(&packet, frame, length), flaw); \
	} while (0)
	CHANGED(12, 0x86dd, PACKET_OTHER);
	CHANGED(12, 0x8100, PACKET_OTHER);
	CHANGED(IP + 6, 0x0001, PACKET_CUT);
	CHANGED(IP + 6, 0x0003, PACKET_FRAGMENT);
	CHANGED(IP + 8, 0x0106, PACKET_EXPIRED);
	CHANGED(IP + 8, 0x0006, PACKET_EXPIRED);
	CHANGED(IP + 2, length - IP + 1, PACKET_CUT);
	CHANGED(IP + 2, 30, PACKET_CUT);
	memcpy(frame, good, length);
	frame[IP + 9] = 47;
	put16(frame + IP + 10, 0);
	put16(frame + IP + 10, checksum_of(sum_of(frame + IP, 4 * (frame[IP] & 15))));
	assert_int_equal(packet__read(&packet, frame, length), PACKET_OTHER);
	memcpy(frame, good, length);
	frame[IP + 11] ^= 1;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_DAMAGED);
}

/* A random packet of TCP, which is read. */
static struct packet segment_of(uint8_t *frame, uint64_t *random, uint8_t flags)
{
	struct packet packet;
	size_t length = make(frame, random, IPPROTO_TCP);
	uint8_t *tcp = frame + IP + 4 * (frame[IP] & 15);

	tcp[12] = 5 << 4;
	tcp[13] = flags;
	put16(frame + IP + 12, 0x0a00);
	put16(frame + IP + 16, 0xc633);
	write_checksums(frame, length);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	return packet;
}

static void test_sound(void **state)
{
	uint8_t frame[FRAME_MAX];
	struct packet packet;
	uint64_t random = 7;
	size_t length;
	int i;

	for (i = 0; i < 1000; i++) {
		packet = segment_of(frame, &random, SEGMENT_ACK);
		assert_true(packet__is_sound(&packet));
		packet.transport[random__below(&random, 20)] ^= 1;
		assert_false(packet__is_sound(&packet));
	}
	packet = segment_of(frame, &random, SEGMENT_ACK);
	packet.transport[12] = 4 << 4;
	packet__complete(&packet);
	assert_false(packet__is_sound(&packet));
	packet.transport[12] = 0xf0;
	packet.length = packet.transport + 59 - frame;
	packet__complete(&packet);
	assert_false(packet__is_sound(&packet));

	length = make(frame, &random, IPPROTO_UDP);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	put16(packet.transport + 4, frame + length - packet.transport);
	put16(packet.transport + 6, 0);
	assert_true(packet__is_sound(&packet));
	put16(packet.transport + 4, frame + length - packet.transport + 1);
	assert_false(packet__is_sound(&packet));
	put16(packet.transport + 4, 7);
	assert_false(packet__is_sound(&packet));
}

static void test_resets(void **state)
{
	uint8_t frame[FRAME_MAX], answer[PACKET_ANSWER_MAX];
	struct packet packet, refused;
	struct segment segment, reset;
	uint64_t random = 8;

	/* RFC 9293, section 3.10.7.1: to a SYN, to an ACK, and never to a RST. */
	packet = segment_of(frame, &random, SEGMENT_SYN);
	segment = packet__segment(&packet);
	refused = packet;
	assert_true(packet__refuse(&packet, answer));
	assert_int_equal(packet.length, IP + 40);
	assert_right(answer, packet.length);
	assert_int_equal(packet__read(&packet, answer, packet.length), PACKET_GOOD);
	assert_true(packet__is_sound(&packet));
	assert_true(end__equal(&packet.source, &refused.destination));
	assert_true(end__equal(&packet.destination, &refused.source));
	reset = packet__segment(&packet);
	assert_int_equal(reset.flags, SEGMENT_RST | SEGMENT_ACK);
	assert_int_equal(reset.sequence, 0);
	assert_int_equal(reset.acknowledgement, (uint32_t)(segment.sequence + segment.length + 1));

	packet = segment_of(frame, &random, SEGMENT_ACK | SEGMENT_FIN);
	segment = packet__segment(&packet);
	assert_true(packet__refuse(&packet, answer));
	reset = packet__segment(&packet);
	assert_int_equal(reset.flags, SEGMENT_RST);
	assert_int_equal(reset.sequence, segment.acknowledgement);

	packet = segment_of(frame, &random, SEGMENT_RST);
	assert_false(packet__refuse(&packet, answer));
	packet = segment_of(frame, &random, SEGMENT_SYN);
	packet.source.address = 0xe0000001;
	assert_false(packet__refuse(&packet, answer));
}

static void test_errors(void **state)
{
	uint8_t frame[FRAME_MAX], answer[PACKET_ANSWER_MAX], again[PACKET_ANSWER_MAX];
	struct packet packet, refused, error;
	uint64_t random = 9;
	size_t length;

	do {
		length = make(frame, &random, IPPROTO_UDP);
		put16(frame + IP + 12, 0x0a00);
		put16(frame + IP + 16, 0xc633);
		write_checksums(frame, length);
		assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	} while (packet.protocol != IPPROTO_UDP);
	refused = packet;
	assert_true(packet__refuse(&packet, answer));
	assert_right(answer, packet.length);
	assert_int_equal(packet__read(&error, answer, packet.length), PACKET_GOOD);
	assert_true(error.is_error && packet__is_sound(&error));
	assert_int_equal(error.source.address, refused.destination.address);
	assert_int_equal(error.destination.address, refused.source.address);
	assert_int_equal(error.quoted_protocol, IPPROTO_UDP);
	assert_true(end__equal(&error.quoted_source, &refused.source));
	assert_true(end__equal(&error.quoted_destination, &refused.destination));
	/* No error about an error. */
	assert_false(packet__refuse(&error, again));
	/* A quoted header that is cut, or damaged. */
	answer[IP + 20 + 8 + 10] ^= 1;
	assert_int_equal(packet__read(&error, answer, packet.length), PACKET_DAMAGED);
	put16(answer + IP + 2, 20 + 8 + 20 + 7);
	write_checksums(answer, IP + 20 + 8 + 20 + 7);
	assert_int_equal(packet__read(&error, answer, IP + 20 + 8 + 20 + 7), PACKET_CUT);
}

/* RFC 1812, sections 4.3.2.7 and 5.3.1. */
static void test_time_exceeded(void **state)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, 47 };
	uint8_t frame[FRAME_MAX], answer[PACKET_ANSWER_MAX], again[PACKET_ANSWER_MAX];
	const uint32_t own = 0xcb007101;
	struct packet packet, error;
	uint64_t random = 10;
	size_t length, i;

	for (i = 0; i < sizeof(protocols); i++) {
		length = make(frame, &random, protocols[i]);
		put16(frame + IP + 12, 0x0a00);
		put16(frame + IP + 16, 0xc633);
		frame[IP + 8] = i & 1;
		write_checksums(frame, length);
		assert_int_equal(packet__read(&packet, frame, length), PACKET_EXPIRED);
		error = packet;
		assert_true(packet__expire(&error, own, answer));
		assert_right(answer, error.length);
		assert_memory_equal(answer, frame + 6, 6);
		assert_memory_equal(answer + 6, frame, 6);
		assert_int_equal(error.source.address, own);
		assert_int_equal(error.destination.address, packet.source.address);
		assert_int_equal(get16(answer + IP + 20), 11 << 8);
		assert_memory_equal(answer + IP + 28, frame + IP, length - IP);
		/* No error about an error, without an address, or to or about many hosts. */
		if (protocols[i] != 47) {
			answer[IP + 8] = 1;
			write_checksums(answer, error.length);
			assert_int_equal(packet__read(&error, answer, error.length),
					 PACKET_EXPIRED);
			assert_false(packet__expire(&error, own, again));
		}
		error = packet;
		assert_false(packet__expire(&error, 0, answer));
		error.source.address = 0xe0000001;
		assert_false(packet__expire(&error, own, answer));
		error = packet;
		error.destination.address = 0xffffffff;
		assert_false(packet__expire(&error, own, answer));
	}
	/* A message of ICMP that may be an error. */
	length = make(frame, &random, IPPROTO_ICMP);
	put16(frame + IP + 12, 0x0a00);
	put16(frame + IP + 16, 0xc633);
	frame[IP + 8] = 1;
	frame[IP + 4 * (frame[IP] & 15)] = 5;
	write_checksums(frame, length);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_EXPIRED);
	assert_false(packet__expire(&packet, own, answer));
}

/* RFC 1191, section 4. */
static void test_too_long(void **state)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP };
	uint8_t frame[FRAME_MAX], answer[PACKET_ANSWER_MAX], again[PACKET_ANSWER_MAX];
	const uint32_t own = 0xcb007101;
	struct packet packet, error;
	uint64_t random = 13;
	size_t length, i;

	for (i = 0; i < sizeof(protocols); i++) {
		length = make(frame, &random, protocols[i]);
		put16(frame + IP + 12, 0x0a00);
		put16(frame + IP + 16, 0xc633);
		put16(frame + IP + 6, 0);
		write_checksums(frame, length);
		assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
		/* It may be fragmented. */
		assert_false(packet__tell_mtu(&packet, own, 1400, answer));
		put16(frame + IP + 6, 0x4000);
		write_checksums(frame, length);
		assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
		error = packet;
		assert_true(packet__tell_mtu(&error, own, 1400, answer));
		assert_right(answer, error.length);
		assert_memory_equal(answer, frame + 6, 6);
		assert_memory_equal(answer + 6, frame, 6);
		assert_int_equal(error.source.address, own);
		assert_int_equal(error.destination.address, packet.source.address);
		assert_int_equal(get16(answer + IP + 20), 3 << 8 | 4);
		assert_int_equal(get16(answer + IP + 24), 0);
		assert_int_equal(get16(answer + IP + 26), 1400);
		assert_memory_equal(answer + IP + 28, frame + IP, length - IP);
		/* No error about an error, or without an address. */
		assert_int_equal(packet__read(&error, answer, error.length), PACKET_GOOD);
		assert_false(packet__tell_mtu(&error, own, 1400, again));
		assert_false(packet__tell_mtu(&packet, 0, 1400, answer));
	}
}

/* An error about a random packet, which it quotes in part; returns the length of the frame. */
static size_t quote(uint8_t *frame, const uint8_t *quoted, size_t length)
{
	memset(frame, 0, IP + 20 + 8);
	put16(frame + 12, 0x0800);
	frame[IP] = 0x45;
	put16(frame + IP + 2, 20 + 8 + length);
	frame[IP + 8] = 64;
	frame[IP + 9] = IPPROTO_ICMP;
	put16(frame + IP + 20, 3 << 8 | 4);
	put16(frame + IP + 26, 1400); /* MTU */
	memcpy(frame + IP + 28, quoted + IP, length);
	write_checksums(frame, IP + 28 + length);
	return IP + 28 + length;
}

static void rewrite_quoted(uint64_t *random, uint8_t protocol)
{
	const struct end source = random_end(random), destination = random_end(random);
	uint8_t frame[2 * FRAME_MAX], quoted[FRAME_MAX];
	const size_t whole = make(quoted, random, protocol) - IP;
	const size_t header = 4 * (quoted[IP] & 15);
	const bool is_cut = random__below(random, 2);
	const size_t length = is_cut ? header + 8 + random__below(random, whole - header - 7) :
				       whole;
	size_t frame_length = quote(frame, quoted, length);
	struct packet packet, again;

	assert_int_equal(packet__read(&packet, frame, frame_length), PACKET_GOOD);
	assert_true(packet.is_error);
	packet__set_quoted_source(&packet, &source);
	packet__set_quoted_destination(&packet, &destination);
	packet__set_source(&packet, &source);
	packet__set_destination(&packet, &destination);
	assert_int_equal(get16(frame + IP + 26), 1400);
	assert_true(packet__is_sound(&packet));
	assert_int_equal(packet__read(&again, frame, frame_length), PACKET_GOOD);
	assert_int_equal(again.source.address, source.address);
	assert_int_equal(again.destination.address, destination.address);
	assert_int_equal(again.quoted_source.address, source.address);
	assert_int_equal(again.quoted_destination.address, destination.address);
	if (protocol != IPPROTO_ICMP) {
		assert_int_equal(again.quoted_source.port, source.port);
		assert_int_equal(again.quoted_destination.port, destination.port);
	} else {
		assert_int_equal(again.quoted_source.port ?: again.quoted_destination.port,
				 quoted[IP + header] ? source.port : destination.port);
	}
	if (length < whole)
		return;
	memcpy(quoted + IP, frame + IP + 28, length);
	assert_right(quoted, IP + length);
}

static void test_quoted(void **state)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP };
	uint64_t random = 12;
	int i;

	for (i = 0; i < ROUNDS; i++)
		rewrite_quoted(&random, protocols[i % 3]);
}

static enum packet_flaw with_options(const uint8_t options[static 12])
{
	uint8_t frame[IP + 20 + 12 + 20] = {};
	struct packet packet;

	put16(frame + 12, 0x0800);
	frame[IP] = 0x48;
	put16(frame + IP + 2, sizeof(frame) - IP);
	frame[IP + 8] = 64;
	frame[IP + 9] = IPPROTO_UDP;
	memcpy(frame + IP + 20, options, 12);
	put16(frame + IP + 32 + 4, 20);
	write_checksums(frame, sizeof(frame));
	return packet__read(&packet, frame, sizeof(frame));
}

static void test_source_routes(void **state)
{
	static const uint8_t good[][12] = {
		{ 1, 1, 1, 1, 0, 131 }, /* no option comes after the last one */
		{ 7, 11, 4, 137, 131, 137, 131 }, /* these are addresses of a recorded route */
		{ 148, 4, 0, 0 },
		{ 7, 0, 131, 7 }, /* malformed */
		{ 7, 255, 131 },
		{ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7 },
	};
	static const uint8_t routes[][12] = {
		{ 131, 7, 4, 10, 0, 0, 9 },
		{ 137, 7, 4, 10, 0, 0, 9 },
		{ 1, 1, 1, 131, 7, 4, 10, 0, 0, 9 },
		{ 148, 4, 0, 0, 131, 7, 4, 10, 0, 0, 9 },
		{ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 131 },
	};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(with_options(good[i]), PACKET_GOOD);
	for (i = 0; i < sizeof(routes) / sizeof(*routes); i++)
		assert_int_equal(with_options(routes[i]), PACKET_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("checksums of rewritten packets are those of fresh ones",
		     test_rewritten_checksums),
		TEST("the example of RFC 1624 gives 0, not 0xffff", test_rfc_1624),
		TEST("UDP without a checksum stays without one", test_udp_without_checksum),
		TEST("a wrong checksum stays wrong", test_wrong_stays_wrong),
		TEST("checksums that the sender left to its adapter are computed",
		     test_partial_checksums),
		TEST("what cannot be translated is told by its flaw", test_flaws),
		TEST("a packet whose sender chooses its way is of no flow", test_source_routes),
		TEST("a damaged segment or datagram is not sound", test_sound),
		TEST("a segment is refused by RST", test_resets),
		TEST("a packet that an error quotes gets other ends", test_quoted),
		TEST("an expired packet is answered, unless it is an error", test_time_exceeded),
		TEST("a packet that is too long is answered, unless it may be fragmented",
		     test_too_long),
		TEST("a datagram is refused by an ICMP error, which is read again", test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

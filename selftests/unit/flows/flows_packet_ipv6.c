// SPDX-License-Identifier: GPL-2.0-only
/* Packets of IPv6, and frames with tags: read, rewritten and answered. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/flows/packet/fragments.h"
#include "tools/flows/packet/packet.h"

#define ROUNDS 5000
#define FRAME_MAX 1600
#define IP 14
#define NEXT (IP + 6)
#define TRANSPORT (IP + 40)

static const uint8_t next_hop[PACKET_MAC_LENGTH] = { 2, 0, 0, 0, 0, 9 };
static struct end source, destination; /* [2001:db8:1::9]:4000 and [2001:db8:2::1]:80 */
static address_t own;

static int set_ends(void **state)
{
	return end__parse("[2001:db8:1::9]:4000", &source) &&
			       end__parse("[2001:db8:2::1]:80", &destination) &&
			       address__parse("2001:db8::1", &own) ?
		       0 :
		       -1;
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

/* Of a packet whose only header is that of IPv6; 0xffff: its checksum is right (RFC 8200, 8.1). */
static uint16_t sum_of(const uint8_t *ip)
{
	const size_t length = get16(ip + 4);
	uint32_t sum = length + ip[6];
	size_t i;

	for (i = 8; i < 40 + length; i++)
		sum += i & 1 ? ip[i] : ip[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* A packet with @extra bytes of headers, which are zero, and 20 + @data bytes after them. */
static size_t make(uint8_t *frame, uint8_t protocol, size_t extra, size_t data)
{
	uint8_t *transport = frame + TRANSPORT + extra;
	size_t i;

	memset(frame, 0, TRANSPORT + extra + 20);
	frame[5] = 1;
	frame[11] = 0xa;
	put16(frame + 12, 0x86dd);
	frame[IP] = 0x60;
	put16(frame + IP + 4, extra + 20 + data);
	frame[NEXT] = protocol;
	frame[IP + 7] = 64;
	address__put(frame + IP + 8, 16, source.address);
	address__put(frame + IP + 24, 16, destination.address);
	for (i = 0; i < data; i++)
		transport[20 + i] = i;
	if (protocol == IPPROTO_ICMPV6) {
		transport[0] = 128;
		put16(transport + 4, source.port);
	} else {
		put16(transport, source.port);
		put16(transport + 2, destination.port);
		put16(transport + 4, 20 + data); /* of UDP */
		transport[12] = 5 << 4; /* of TCP */
	}
	return TRANSPORT + extra + 20 + data;
}

static void read_good(struct packet *packet, uint8_t *frame, size_t length)
{
	assert_int_equal(packet__read(packet, frame, length), PACKET_GOOD);
	packet__complete(packet);
	assert_true(packet__is_sound(packet));
}

static void test_read(void **state)
{
	uint8_t frame[FRAME_MAX];
	struct packet packet;
	size_t length;

	length = make(frame, IPPROTO_TCP, 0, 0);
	read_good(&packet, frame, length + 6);
	assert_true(packet.is_ipv6);
	assert_int_equal(packet.length, length);
	assert_true(end__equal(&packet.source, &source));
	assert_true(end__equal(&packet.destination, &destination));
	assert_int_equal(sum_of(frame + IP), 0xffff);
	frame[TRANSPORT + 7] ^= 1;
	assert_false(packet__is_sound(&packet));
	/* UDP without a checksum does not exist. */
	length = make(frame, IPPROTO_UDP, 0, 8);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	assert_false(packet__is_sound(&packet));
	read_good(&packet, frame, length);
	length = make(frame, IPPROTO_ICMPV6, 0, 8);
	read_good(&packet, frame, length);
	assert_int_equal(packet.protocol, IPPROTO_ICMP);
	assert_int_equal(packet.source.port, source.port);
	assert_int_equal(packet.destination.port, 0);
	assert_int_equal(sum_of(frame + IP), 0xffff);
}

static enum packet_flaw read_with(const char *text, bool is_source)
{
	uint8_t frame[FRAME_MAX];
	const size_t length = make(frame, IPPROTO_TCP, 0, 0);
	struct packet packet;
	struct in6_addr address;

	assert_int_equal(inet_pton(AF_INET6, text, &address), 1);
	memcpy(frame + IP + (is_source ? 8 : 24), &address, 16);
	return packet__read(&packet, frame, length);
}

static void test_addresses(void **state)
{
	static const char *const texts[] = { "::",	"::1",	   "::10.0.0.1", "::ffff:10.0.0.1",
					     "fe80::1", "febf::1", "ff02::1",	 "ff0e::1" };
	size_t i;

	assert_int_equal(read_with("fec0::1", true), PACKET_GOOD);
	assert_int_equal(read_with("64:ff9b::a00:1", true), PACKET_GOOD);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(read_with(texts[i], true), PACKET_OTHER);
		assert_int_equal(read_with(texts[i], false), PACKET_OTHER);
	}
}

static void test_flaws(void **state)
{
	uint8_t frame[FRAME_MAX];
	const size_t length = make(frame, IPPROTO_TCP, 0, 0);
	struct packet packet;
	size_t i;

	for (i = 0; i < length; i++)
		assert_int_equal(packet__read(&packet, frame, i), PACKET_CUT);
	put16(frame + IP + 4, 19);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_CUT);
	put16(frame + IP + 4, 20);
	frame[IP] = 0x40;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_OTHER);
	frame[IP] = 0x60;
	/* These numbers are of IPv4, and unknown; a neighbour is solicited on the link only. */
	frame[NEXT] = IPPROTO_ICMP;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_OTHER);
	frame[NEXT] = IPPROTO_ESP;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_OTHER);
	frame[NEXT] = IPPROTO_ICMPV6;
	frame[TRANSPORT] = 135;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_OTHER);
	frame[NEXT] = IPPROTO_TCP;
	frame[IP + 7] = 1;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_EXPIRED);
}

static void test_headers(void **state)
{
	static const uint8_t kinds[] = { IPPROTO_HOPOPTS, IPPROTO_DSTOPTS, IPPROTO_ROUTING };
	uint8_t frame[FRAME_MAX];
	struct packet packet;
	size_t length, i;

	/* 16 bytes of hop-by-hop options, then 8 bytes of options and of a route that is done. */
	length = make(frame, IPPROTO_TCP, 32, 0);
	for (i = 0; i < 3; i++)
		frame[i ? TRANSPORT + 16 + 8 * (i - 1) - (i == 1 ? 16 : 0) : NEXT] = kinds[i];
	frame[TRANSPORT + 1] = 1;
	frame[TRANSPORT + 16] = IPPROTO_ROUTING;
	frame[TRANSPORT + 24] = IPPROTO_TCP;
	read_good(&packet, frame, length);
	assert_ptr_equal(packet.transport, frame + TRANSPORT + 32);
	assert_int_equal(packet.source.port, source.port);
	frame[TRANSPORT + 24 + 3] = 1; /* a node is left */
	assert_int_equal(packet__read(&packet, frame, length), PACKET_OTHER);
	frame[TRANSPORT + 24 + 3] = 0;
	frame[TRANSPORT + 16 + 1] = 20; /* longer than the packet */
	assert_int_equal(packet__read(&packet, frame, length), PACKET_CUT);
	frame[TRANSPORT + 16 + 1] = 0;
	frame[TRANSPORT] = IPPROTO_HOPOPTS; /* not the first header */
	assert_int_equal(packet__read(&packet, frame, length), PACKET_OTHER);

	/* Eight headers, and one more. */
	for (i = 8; i < 10; i++) {
		length = make(frame, IPPROTO_TCP, 8 * i, 0);
		memset(frame + TRANSPORT, 0, 8 * i);
		frame[NEXT] = IPPROTO_DSTOPTS;
		for (size_t at = 0; at < i; at++)
			frame[TRANSPORT + 8 * at] = at + 1 < i ? IPPROTO_DSTOPTS : IPPROTO_TCP;
		assert_int_equal(packet__read(&packet, frame, length),
				 i == 8 ? PACKET_GOOD : PACKET_OTHER);
	}
}

/* A fragment at this offset, of 8 bytes each. */
static size_t make_fragment(uint8_t *frame, uint16_t offset, bool has_more)
{
	const size_t length = make(frame, IPPROTO_UDP, 8, 12);

	frame[NEXT] = IPPROTO_FRAGMENT;
	frame[TRANSPORT] = IPPROTO_UDP;
	put16(frame + TRANSPORT + 2, offset << 3 | has_more);
	put16(frame + TRANSPORT + 4, 0xcafe);
	put16(frame + TRANSPORT + 6, 7);
	return length;
}

static void test_fragments(void **state)
{
	struct fragments *fragments = fragments__new();
	struct fragments_key key;
	uint8_t frame[FRAME_MAX];
	struct packet packet;
	size_t length;

	length = make_fragment(frame, 0, false);
	read_good(&packet, frame, length);
	assert_false(packet.is_fragment);
	length = make_fragment(frame, 0, true);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	assert_true(packet.is_fragment && packet__is_sound(&packet));
	assert_int_equal(packet.identification, 0xcafe0007);
	assert_int_equal(packet.source.port, source.port);
	key = fragments__key(&packet);
	fragments__pass(fragments, &key, &packet, 1);

	length = make_fragment(frame, 4, false);
	/* Each fragment names the header after it, and only the first one counts. */
	frame[TRANSPORT] = IPPROTO_DSTOPTS;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_FRAGMENT);
	assert_true(fragments__follow(fragments, &packet, 2));
	assert_true(packet.source.address == source.address);
	frame[TRANSPORT + 7] = 8;
	assert_int_equal(packet__read(&packet, frame, length), PACKET_FRAGMENT);
	assert_false(fragments__follow(fragments, &packet, 2));

	length = make_fragment(frame, 1, true);
	frame[TRANSPORT] = IPPROTO_TCP; /* within the header that was judged */
	assert_int_equal(packet__read(&packet, frame, length), PACKET_CUT);
	length = make_fragment(frame, 0, true);
	put16(frame + IP + 4, 8 + 31); /* not a multiple of 8 */
	assert_int_equal(packet__read(&packet, frame, length), PACKET_CUT);
	length = make_fragment(frame, 8191, false);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_CUT);
	fragments__free(fragments);
}

static void test_rewritten(void **state)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6 };
	uint8_t frame[FRAME_MAX];
	struct packet packet, again;
	uint64_t random = 3;
	struct end end;
	size_t length;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		length = make(frame, protocols[i % 3], 0, random__below(&random, 40));
		read_good(&packet, frame, length);
		end = source;
		end.address ^= (address_t)random__below(&random, 1 << 30) << 30 |
			       random__below(&random, 1 << 30);
		end.port = random__below(&random, 1 << 16);
		packet__set_source(&packet, &end);
		packet__route(&packet, next_hop);
		assert_int_equal(sum_of(frame + IP), 0xffff);
		assert_int_equal(frame[IP + 7], 63);
		assert_memory_equal(frame, next_hop, sizeof(next_hop));
		assert_int_equal(packet__read(&again, frame, length), PACKET_GOOD);
		assert_true(end__equal(&again.source, &end));
	}
}

static void test_refused(void **state)
{
	uint8_t frame[FRAME_MAX], answer[PACKET_ANSWER_MAX], again[PACKET_ANSWER_MAX];
	struct packet packet, error;
	size_t length;

	length = make(frame, IPPROTO_TCP, 0, 0);
	frame[TRANSPORT + 13] = SEGMENT_SYN;
	read_good(&packet, frame, length);
	assert_true(packet__refuse(&packet, answer));
	assert_int_equal(sum_of(answer + IP), 0xffff);
	assert_int_equal(packet__read(&error, answer, packet.length), PACKET_GOOD);
	assert_int_equal(packet__flags(&error), SEGMENT_RST | SEGMENT_ACK);
	assert_true(end__equal(&error.source, &destination));
	assert_true(end__equal(&error.destination, &source));

	/* "Administratively prohibited", with as much of the packet as 1,280 bytes take. */
	length = make(frame, IPPROTO_UDP, 0, 1400);
	read_good(&packet, frame, length);
	assert_true(packet__refuse(&packet, answer));
	assert_int_equal(packet.length, IP + 1280);
	assert_int_equal(sum_of(answer + IP), 0xffff);
	assert_int_equal(get16(answer + TRANSPORT), 0x0101);
	assert_memory_equal(answer + TRANSPORT + 8, frame + IP, 1280 - 48);
	assert_int_equal(packet__read(&error, answer, packet.length), PACKET_GOOD);
	assert_true(error.is_error && packet__is_sound(&error));
	assert_true(end__equal(&error.quoted_source, &source));
	assert_true(end__equal(&error.quoted_destination, &destination));
	assert_false(packet__refuse(&error, again));
}

static void test_errors(void **state)
{
	uint8_t frame[FRAME_MAX], answer[PACKET_ANSWER_MAX];
	const struct end other = { own + 77, 9 };
	struct packet packet, error;
	size_t length;

	length = make(frame, IPPROTO_TCP, 0, 1300);
	read_good(&packet, frame, length);
	error = packet;
	assert_false(packet__tell_mtu(&error, 0, 1280, answer));
	assert_false(packet__tell_mtu(&error, 0x0a000001, 1280, answer));
	assert_true(packet__tell_mtu(&error, own, 1280, answer));
	assert_int_equal(get16(answer + TRANSPORT), 0x0200);
	assert_int_equal(get16(answer + TRANSPORT + 4), 0);
	assert_int_equal(get16(answer + TRANSPORT + 6), 1280);
	assert_true(error.source.address == own);
	error = packet;
	assert_true(packet__expire(&error, own, answer));
	assert_int_equal(get16(answer + TRANSPORT), 0x0300);
	assert_int_equal(sum_of(answer + IP), 0xffff);
	/* The packet that it quotes gets other ends. */
	assert_int_equal(packet__read(&error, answer, error.length), PACKET_GOOD);
	packet__set_quoted_source(&error, &other);
	packet__set_quoted_destination(&error, &destination);
	assert_int_equal(sum_of(answer + IP), 0xffff);
	assert_int_equal(packet__read(&packet, answer, error.length), PACKET_GOOD);
	assert_true(end__equal(&packet.quoted_source, &other));
	assert_int_equal(packet.quoted_protocol, IPPROTO_TCP);
	/* A quoted packet that is cut, and a quoted error. */
	put16(answer + IP + 4, 8 + 40 + 7);
	assert_int_equal(packet__read(&packet, answer, error.length), PACKET_CUT);
	put16(answer + IP + 4, 8 + 40 + 8);
	answer[TRANSPORT + 8 + 6] = IPPROTO_ICMPV6;
	answer[TRANSPORT + 8 + 40] = 1;
	assert_int_equal(packet__read(&packet, answer, error.length), PACKET_OTHER);
}

/* Makes place for tags after the addresses of Ethernet. */
static size_t tag(uint8_t *frame, size_t length, unsigned int count)
{
	unsigned int i;

	memmove(frame + 12 + 4 * count, frame + 12, length - 12);
	for (i = 0; i < count; i++) {
		put16(frame + 12 + 4 * i, i + 1 < count ? 0x88a8 : 0x8100);
		put16(frame + 14 + 4 * i, 0x6000 | (100 + i));
	}
	return length + 4 * count;
}

static void test_tags(void **state)
{
	uint8_t frame[FRAME_MAX], answer[PACKET_ANSWER_MAX], tags[8];
	struct packet packet;
	unsigned int count;
	size_t length;

	for (count = 1; count <= 2; count++) {
		length = tag(frame, make(frame, IPPROTO_UDP, 0, 1400), count);
		memcpy(tags, frame + 12, 4 * count);
		read_good(&packet, frame, length);
		assert_true(end__equal(&packet.source, &source));
		packet__route(&packet, next_hop);
		assert_memory_equal(frame + 12, tags, 4 * count);
		assert_memory_equal(frame, next_hop, sizeof(next_hop));
		assert_true(packet__refuse(&packet, answer));
		assert_int_equal(packet.length, IP + 4 * count + 1280);
		assert_memory_equal(answer + 12, tags, 4 * count);
		assert_int_equal(get16(answer + 12 + 4 * count), 0x86dd);
		assert_int_equal(sum_of(answer + IP + 4 * count), 0xffff);
		assert_int_equal(packet__read(&packet, answer, packet.length), PACKET_GOOD);
	}
	for (length = 12; length < IP + 8; length++)
		assert_int_equal(packet__read(&packet, frame, length), PACKET_CUT);
	length = tag(frame, make(frame, IPPROTO_UDP, 0, 8), 3);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_OTHER);
}

static void test_texts(void **state)
{
	static const char *const wrong[] = {
		"",
		"2001:db8::1:80",
		"[2001:db8::1]",
		"[2001:db8::1]80",
		"[10.0.0.1]:80",
		"[::1]:80",
		"[::ffff:10.0.0.1]:80",
		"10.0.0.1:65536",
		"[2001:db8::1]:-1",
		"[]:1",
	};
	char text[END_TEXT];
	struct end end;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(end__parse(wrong[i], &end));
	assert_string_equal(end__print(&source, text), "[2001:db8:1::9]:4000");
	assert_true(end__parse("10.0.0.1:80", &end) && end.address == 0x0a000001);
	assert_string_equal(end__print(&end, text), "10.0.0.1:80");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("packets of IPv6 are read, and their checksums compared", test_read),
		TEST("addresses that no router forwards are refused", test_addresses),
		TEST("a packet that cannot be judged is told by its flaw", test_flaws),
		TEST("further headers are passed over, a source route is not", test_headers),
		TEST("fragments follow their first one", test_fragments),
		TEST("checksums of rewritten packets equal checksums that are computed anew", test_rewritten),
		TEST("a packet is refused by RST, or by an error of ICMPv6", test_refused),
		TEST("errors tell MTU and expiry, and are read again", test_errors),
		TEST("frames with tags are answered and routed with them", test_tags),
		TEST("ends are written with brackets", test_texts),
	};

	return cmocka_run_group_tests(tests, set_ends, NULL);
}

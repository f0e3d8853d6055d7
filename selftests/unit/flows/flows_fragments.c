// SPDX-License-Identifier: GPL-2.0-only
/* Fragments follow their first one, for a bounded time and in a bounded number. */
#include <netinet/in.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/flows/packet/fragments.h"

#define IP 14
#define HOST 0x0a000001 /* 10.0.0.1 */
#define REMOTE 0xc6336401 /* 198.51.100.1 */
#define POOL 0xcb007101 /* 203.0.113.1 */
#define LENGTH 24 /* bytes after the IPv4 header */
#define MORE 0x2000
#define SECOND 1000000000ULL

static uint32_t host = HOST; /* that sends */

static void put16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = value >> 8;
	bytes[1] = value;
}

static uint32_t header_sum(const uint8_t *frame)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < 20; i += 2)
		sum += frame[IP + i] << 8 | frame[IP + i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Reads a fragment from the host to REMOTE; @word: its offset and whether more follow. */
static enum packet_flaw read_fragment(struct packet *packet, uint8_t *frame, uint16_t word,
				      uint16_t identification, uint8_t protocol)
{
	memset(frame, 0, IP + 20 + LENGTH);
	put16(frame + 12, 0x0800);
	frame[IP] = 0x45;
	put16(frame + IP + 2, 20 + LENGTH);
	put16(frame + IP + 4, identification);
	put16(frame + IP + 6, word);
	frame[IP + 8] = 64;
	frame[IP + 9] = protocol;
	put16(frame + IP + 12, host >> 16);
	put16(frame + IP + 14, host & 0xffff);
	put16(frame + IP + 16, REMOTE >> 16);
	put16(frame + IP + 18, REMOTE & 0xffff);
	put16(frame + IP + 10, ~header_sum(frame));
	return packet__read(packet, frame, IP + 20 + LENGTH);
}

/* The first fragment of a datagram passes, and leaves with the source POOL. */
static void pass(struct fragments *fragments, uint16_t identification, uint64_t now)
{
	struct fragments_key key;
	struct packet packet;
	uint8_t frame[100];

	assert_int_equal(read_fragment(&packet, frame, MORE, identification, IPPROTO_UDP),
			 PACKET_GOOD);
	assert_true(packet.is_fragment);
	key = fragments__key(&packet);
	packet__set_source(&packet, &(struct end){ POOL, 9 });
	fragments__pass(fragments, &key, &packet, now);
}

static bool follows(struct fragments *fragments, uint16_t identification, uint8_t protocol,
		    uint64_t now)
{
	struct packet packet;
	uint8_t frame[100];
	bool is_known;

	assert_int_equal(read_fragment(&packet, frame, MORE | 3, identification, protocol),
			 PACKET_FRAGMENT);
	is_known = fragments__follow(fragments, &packet, now);
	assert_int_equal(packet.source.address, is_known ? POOL : host);
	assert_int_equal(packet.destination.address, REMOTE);
	assert_int_equal(header_sum(frame), 0xffff);
	assert_int_equal(frame[IP + 12], is_known ? POOL >> 24 : host >> 24);
	return is_known;
}

static void test_followers(void **state)
{
	struct fragments *fragments = fragments__new();
	const struct fragments_key key = { HOST, REMOTE, 7, IPPROTO_UDP };

	assert_false(follows(fragments, 7, IPPROTO_UDP, SECOND));
	pass(fragments, 7, SECOND);
	assert_true(follows(fragments, 7, IPPROTO_UDP, SECOND));
	assert_true(follows(fragments, 7, IPPROTO_UDP, SECOND + FRAGMENTS_FIRST_NS - 1));
	assert_false(follows(fragments, 8, IPPROTO_UDP, SECOND));
	assert_false(follows(fragments, 7, IPPROTO_TCP, SECOND));
	assert_false(follows(fragments, 7, IPPROTO_UDP, SECOND + FRAGMENTS_FIRST_NS));
	/* The next datagram with this identification is refused. */
	fragments__stop(fragments, &key);
	assert_false(follows(fragments, 7, IPPROTO_UDP, SECOND));
	pass(fragments, 7, SECOND);
	fragments__stop_all(fragments);
	assert_false(follows(fragments, 7, IPPROTO_UDP, SECOND));
	fragments__free(fragments);
}

static void test_many_datagrams(void **state)
{
	struct fragments *fragments = fragments__new();
	unsigned int i, known = 0;

	for (i = 0; i < 60000; i++) {
		pass(fragments, i, SECOND + i);
		assert_true(follows(fragments, i, IPPROTO_UDP, SECOND + i));
	}
	for (i = 0; i < 60000; i++)
		known += follows(fragments, i, IPPROTO_UDP, SECOND + 60000);
	assert_in_range(known, FRAGMENTS_FIRSTS / 2, FRAGMENTS_FIRSTS);
	fragments__free(fragments);
}

static void test_one_source_of_many(void **state)
{
	struct fragments *fragments = fragments__new();
	const unsigned int others = 500;
	unsigned int i, known = 0;

	for (i = 0; i < others; i++) {
		host = HOST + i;
		pass(fragments, 7, SECOND);
	}
	host = HOST - 1;
	for (i = 0; i < 65536; i++)
		pass(fragments, i, SECOND + 1 + i);
	for (i = 0; i < others; i++) {
		host = HOST + i;
		known += follows(fragments, 7, IPPROTO_UDP, 2 * SECOND);
	}
	host = HOST;
	/* A set that is full of others loses one of them: two on average, and the seed is random. */
	assert_in_range(known, others - others / 20, others);
	fragments__free(fragments);
}

static unsigned int left;

static void leave(void *subject, struct packet *packet)
{
	assert_int_equal(packet->source.address, POOL);
	assert_int_equal(header_sum(packet->frame), 0xffff);
	left++;
}

static bool hold(struct fragments *fragments, uint16_t identification, uint64_t now)
{
	struct packet packet;
	uint8_t frame[100];
	bool is_held;

	assert_int_equal(read_fragment(&packet, frame, 3, identification, IPPROTO_UDP),
			 PACKET_FRAGMENT);
	is_held = fragments__hold(fragments, &packet, now);
	memset(frame, 0xff, sizeof(frame)); /* the next packet comes */
	return is_held;
}

static void test_early_fragments(void **state)
{
	struct fragments *fragments = fragments__new();
	unsigned int i;

	/* Of this host, and then of others. */
	for (i = 0; i < FRAGMENTS_HELD_OF_SOURCE; i++)
		assert_true(hold(fragments, i / 2, SECOND));
	assert_false(hold(fragments, 1, SECOND));
	for (; i < FRAGMENTS_HELD; i++) {
		host = HOST + 1 + i / FRAGMENTS_HELD_OF_SOURCE;
		assert_true(hold(fragments, i / 2, SECOND));
	}
	host = HOST + 100;
	assert_false(hold(fragments, 1, SECOND));
	host = HOST;
	assert_int_equal(fragments__release(fragments, SECOND, leave, NULL), 0);
	assert_int_equal(left, 0);
	pass(fragments, 1, SECOND);
	assert_int_equal(fragments__release(fragments, SECOND, leave, NULL), 0);
	assert_int_equal(left, 2);
	assert_true(hold(fragments, 99, 2 * SECOND));
	assert_int_equal(fragments__release(fragments, SECOND + FRAGMENTS_HELD_NS, leave, NULL),
			 FRAGMENTS_HELD - 2);
	assert_int_equal(fragments__release(fragments, 2 * SECOND + FRAGMENTS_HELD_NS, leave, NULL),
			 1);
	assert_int_equal(left, 2);
	assert_true(hold(fragments, 5, SECOND));
	fragments__free(fragments);
}

/* Fragments that would replace what was judged, or make a packet of more than 65,535 bytes. */
static void test_hostile_fragments(void **state)
{
	uint8_t frame[100], answer[PACKET_ANSWER_MAX];
	struct packet packet;

	assert_int_equal(read_fragment(&packet, frame, 1, 7, IPPROTO_TCP), PACKET_CUT);
	assert_int_equal(read_fragment(&packet, frame, MORE | 2, 7, IPPROTO_TCP), PACKET_CUT);
	assert_int_equal(read_fragment(&packet, frame, 3, 7, IPPROTO_TCP), PACKET_FRAGMENT);
	assert_int_equal(read_fragment(&packet, frame, 1, 7, IPPROTO_UDP), PACKET_FRAGMENT);
	assert_int_equal(read_fragment(&packet, frame, 0x1fff, 7, IPPROTO_UDP), PACKET_CUT);
	assert_int_equal(read_fragment(&packet, frame, 8188, 7, IPPROTO_UDP), PACKET_FRAGMENT);
	assert_int_equal(read_fragment(&packet, frame, 8189, 7, IPPROTO_UDP), PACKET_CUT);
	/* The last one may end anywhere, the others only after a multiple of 8 bytes. */
	put16(frame + IP + 2, 20 + LENGTH - 1);
	put16(frame + IP + 6, 3);
	put16(frame + IP + 10, 0);
	put16(frame + IP + 10, ~header_sum(frame));
	assert_int_equal(packet__read(&packet, frame, IP + 20 + LENGTH), PACKET_FRAGMENT);
	put16(frame + IP + 6, MORE | 3);
	put16(frame + IP + 10, 0);
	put16(frame + IP + 10, ~header_sum(frame));
	assert_int_equal(packet__read(&packet, frame, IP + 20 + LENGTH), PACKET_CUT);
	/* A later one that expires is not answered. */
	read_fragment(&packet, frame, 3, 7, IPPROTO_UDP);
	frame[IP + 8] = 1;
	put16(frame + IP + 10, 0);
	put16(frame + IP + 10, ~header_sum(frame));
	assert_int_equal(packet__read(&packet, frame, IP + 20 + LENGTH), PACKET_EXPIRED);
	assert_false(packet__expire(&packet, POOL, answer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a fragment gets the addresses of its first one, for some time",
		     test_followers),
		TEST("of many datagrams, the latest ones are known", test_many_datagrams),
		TEST("a source of many forgets its own", test_one_source_of_many),
		TEST("a bounded number waits for first ones, of each source and for a bounded time",
		     test_early_fragments),
		TEST("fragments that replace headers, or are too long, are cut",
		     test_hostile_fragments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

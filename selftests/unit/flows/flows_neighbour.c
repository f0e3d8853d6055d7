// SPDX-License-Identifier: GPL-2.0-only
/* Requests for Ethernet addresses, and answers, byte by byte. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/flows/packet/neighbour.h"

#define ARP 0x0806
#define IPV6 0x86dd

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };

/* 10.0.0.2 asks for 10.0.0.1. */
static const uint8_t arp[28] = {
	0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 10, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1,
};

/* 2001:db8:1::2 asks for 2001:db8:1::1, with its own address as an option. */
static const uint8_t solicitation[72] = {
	0x60, 0, 0, 0, 0,   32, 58,   255,  0x20, 1, 0x0d, 0xb8, 0,    1, 0,	0,    0, 0,
	0,    0, 0, 0, 0,   2,	0xff, 2,    0,	  0, 0,	   0,	 0,    0, 0,	0,    0, 1,
	0xff, 0, 0, 1, 135, 0,	0x17, 0x41, 0,	  0, 0,	   0,	 0x20, 1, 0x0d, 0xb8, 0, 1,
	0,    0, 0, 0, 0,   0,	0,    0,    0,	  1, 1,	   1,	 2,    0, 0,	0,    0, 10,
};

static uint32_t sum_of(const uint8_t *ip, size_t length)
{
	uint32_t sum = length + 58;
	size_t i;

	for (i = 8; i < 40 + length; i++)
		sum += i & 1 ? ip[i] : ip[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void write_checksum(uint8_t *ip)
{
	uint32_t sum;

	ip[42] = ip[43] = 0;
	sum = ~sum_of(ip, ip[5]) & 0xffff;
	ip[42] = sum >> 8;
	ip[43] = sum;
}

static void test_arp(void **state)
{
	static const uint8_t wanted[28] = {
		0,  1, 8, 0, 6, 4, 0, 2, 2, 0,	0,  0, 0, 1,
		10, 0, 0, 1, 2, 0, 0, 0, 0, 10, 10, 0, 0, 2,
	};
	uint8_t bytes[46] = {}, answer[NEIGHBOUR_ANSWER_MAX];
	struct neighbour_request request;
	size_t i;

	/* A frame has 46 bytes at least. */
	memcpy(bytes, arp, sizeof(arp));
	assert_true(neighbour__read(&request, ARP, bytes, sizeof(bytes)));
	assert_int_equal(request.wanted, 0x0a000001);
	assert_int_equal(neighbour__answer(&request, mac, answer), sizeof(wanted));
	assert_memory_equal(answer, wanted, sizeof(wanted));
	assert_false(neighbour__read(&request, ARP, answer, sizeof(wanted)));
	assert_false(neighbour__read(&request, IPV6, bytes, sizeof(bytes)));
	for (i = 0; i < sizeof(arp); i++)
		assert_false(neighbour__read(&request, ARP, bytes, i));
	for (i = 0; i < 8; i++) {
		bytes[i] ^= 4;
		assert_false(neighbour__read(&request, ARP, bytes, sizeof(bytes)));
		bytes[i] ^= 4;
	}
}

static void test_solicitation(void **state)
{
	uint8_t bytes[80] = {}, answer[NEIGHBOUR_ANSWER_MAX];
	struct neighbour_request request;
	address_t wanted;
	size_t i;

	memcpy(bytes, solicitation, sizeof(solicitation));
	write_checksum(bytes);
	assert_true(address__parse("2001:db8:1::1", &wanted));
	assert_true(neighbour__read(&request, IPV6, bytes, sizeof(bytes)));
	assert_true(request.wanted == wanted);
	assert_int_equal(neighbour__answer(&request, mac, answer), 72);
	assert_int_equal(sum_of(answer, 32), 0xffff);
	assert_int_equal(answer[7], 255);
	assert_memory_equal(answer + 8, bytes + 48, 16);
	assert_memory_equal(answer + 24, bytes + 8, 16);
	/* From a router, asked for, and it replaces what the host knew. */
	assert_memory_equal(answer + 44, ((uint8_t[]){ 0xe0, 0, 0, 0 }), 4);
	assert_memory_equal(answer + 48, bytes + 48, 16);
	assert_memory_equal(answer + 64, ((uint8_t[]){ 2, 1, 2, 0, 0, 0, 0, 1 }), 8);
	assert_false(neighbour__read(&request, IPV6, answer, 72));
	for (i = 0; i < sizeof(solicitation); i++)
		assert_false(neighbour__read(&request, IPV6, bytes, i));
	/* From another link, of another kind, and damaged. */
	bytes[7] = 254;
	assert_false(neighbour__read(&request, IPV6, bytes, sizeof(bytes)));
	bytes[7] = 255;
	bytes[41] = 1;
	write_checksum(bytes);
	assert_false(neighbour__read(&request, IPV6, bytes, sizeof(bytes)));
	bytes[41] = 0;
	write_checksum(bytes);
	bytes[63] ^= 1;
	assert_false(neighbour__read(&request, IPV6, bytes, sizeof(bytes)));
}

/* A host without an address asks whether this one is free (RFC 4862). */
static void test_probe(void **state)
{
	uint8_t bytes[72], answer[NEIGHBOUR_ANSWER_MAX];
	struct neighbour_request request;

	memcpy(bytes, solicitation, sizeof(solicitation));
	memset(bytes + 8, 0, 16);
	write_checksum(bytes);
	assert_true(neighbour__read(&request, IPV6, bytes, sizeof(bytes)));
	assert_int_equal(neighbour__answer(&request, mac, answer), 72);
	assert_memory_equal(answer + 24,
			    ((uint8_t[]){ 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 }), 16);
	assert_int_equal(answer[44], 0xa0);
	assert_int_equal(sum_of(answer, 32), 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a request of ARP gets a reply", test_arp),
		TEST("a neighbour solicitation gets an advertisement", test_solicitation),
		TEST("a host that probes an address learns that it is taken", test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

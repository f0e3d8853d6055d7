// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that are taken while one host, or strangers with forged addresses, send many more than
 * the rate allows: those of others are, and without others all of the rate is used.
 */
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/flows/packet/shares.h"

#define SECOND_NS 1000000000ULL
#define RATE 20000
#define SECONDS 5
#define STEP_NS 100000 /* of time */
#define STEPS (SECONDS * SECOND_NS / STEP_NS)
#define FLOOD 50 /* frames in a step: 25 times the rate */
#define HOSTS 400
#define PAUSE 3 /* steps for each packet of the others */
#define REMOTE 0xc6336401 /* 198.51.100.1 */
#define HOST 0x0a000001 /* the first one */
#define OTHERS 0x0b000001
#define FLOODER 0x0a0a0a0a

enum family { IPV4, IPV6, TAGGED, FAMILIES };

static uint64_t random_state = 36;

static uint32_t next_random(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random_state >> 32;
}

static void put32(uint8_t *bytes, uint32_t value)
{
	bytes[0] = value >> 24;
	bytes[1] = value >> 16;
	bytes[2] = value >> 8;
	bytes[3] = value;
}

/* Hosts of IPv6 have networks of their own. */
static bool send(struct shares *shares, enum family family, uint32_t source, uint32_t destination,
		 uint64_t now)
{
	uint8_t frame[100] = { [12] = 0x08 };
	size_t ip = 14;

	if (family == TAGGED) {
		memcpy(frame + 12, "\x88\xa8\0\1\x81\0\0\2\x08", 9);
		ip += 8;
	}
	if (family == IPV6) {
		memcpy(frame + 12, "\x86\xdd", 2);
		memcpy(frame + ip + 8, "\x20\x01\x0d\xb8", 4);
		put32(frame + ip + 12, source);
		put32(frame + ip + 20, next_random());
		memcpy(frame + ip + 24, "\x20\x01\x0d\xb9", 4);
		put32(frame + ip + 28, destination);
	} else {
		put32(frame + ip + 12, source);
		put32(frame + ip + 16, destination);
	}
	return shares__take(shares, frame, sizeof(frame), RATE, now);
}

static bool send_arp(struct shares *shares, uint32_t sender, uint64_t now)
{
	uint8_t frame[42] = { [12] = 0x08, [13] = 0x06 };

	put32(frame + 8, sender);
	return shares__take(shares, frame, sizeof(frame), RATE, now);
}

struct taken {
	unsigned int flood, others, offered; /* offered by the others */
};

/* Who floods: @source and @destination, 0: another one in each packet. */
static struct taken run(enum family family, uint32_t source, uint32_t destination, bool has_others,
			bool others_ask_remote)
{
	struct shares *shares = shares__new();
	struct taken taken = {};
	uint64_t step, now = 1000 * SECOND_NS;
	uint32_t i;

	assert_non_null(shares);
	for (step = 0; step < STEPS; step++, now += STEP_NS) {
		for (i = 0; i < FLOOD; i++)
			taken.flood += send(shares, family, source ?: next_random() | 1U << 31,
					    destination ?: next_random() | 1U << 31, now);
		if (!has_others || step % PAUSE)
			continue;
		taken.offered++;
		taken.others += send(shares, family, HOST + next_random() % HOSTS,
				     others_ask_remote ? REMOTE : OTHERS + next_random() % HOSTS,
				     now);
	}
	shares__free(shares);
	return taken;
}

static void check_others(const char *what, struct taken taken)
{
	print_message("# %s: %u of %u packets of others, %u of the flood\n", what, taken.others,
		      taken.offered, taken.flood);
	assert_true(taken.offered > 1000);
	/* Two hosts may have the places of the flood. */
	assert_true(taken.others >= taken.offered / 100 * 99);
	/* It gets what is left. */
	assert_true(taken.flood + taken.others >= RATE * SECONDS);
}

static void test_one_source(void **state)
{
	int family;

	for (family = 0; family < FAMILIES; family++) {
		check_others("one source", run(family, FLOODER, 0, true, false));
		check_others("one source, to where all others send",
			     run(family, FLOODER, REMOTE, true, true));
	}
}

static void test_forged_sources(void **state)
{
	int family;

	for (family = 0; family < FAMILIES; family++)
		check_others("forged sources to one host", run(family, 0, REMOTE, true, false));
}

static void test_alone(void **state)
{
	const struct taken taken = run(IPV4, FLOODER, REMOTE, false, false);

	/* And a tenth of a second's at first, less what the last step had no time for. */
	assert_in_range(taken.flood, RATE * SECONDS + RATE / 10 - 10,
			RATE * SECONDS + RATE / 5 + 1);
}

static void test_neighbours(void **state)
{
	struct shares *shares = shares__new();
	uint64_t step, now = 1000 * SECOND_NS;
	unsigned int taken = 0, i;

	for (step = 0; step < STEPS; step++, now += STEP_NS) {
		for (i = 0; i < FLOOD; i++)
			send_arp(shares, FLOODER, now);
		taken += send(shares, IPV4, HOST + step % HOSTS, REMOTE + step % HOSTS, now);
	}
	shares__free(shares);
	assert_true(taken >= STEPS / 100 * 99);
}

/* Frames that end anywhere are counted as well. */
static void test_cut(void **state)
{
	struct shares *shares = shares__new();
	size_t length;

	for (length = 0; length <= 42; length++) {
		uint8_t *frame = calloc(1, length ?: 1);

		if (length > 13)
			memcpy(frame + 12, length % 2 ? "\x08\0" : "\x86\xdd", 2);
		assert_true(shares__take(shares, frame, length, RATE, SECOND_NS));
		free(frame);
	}
	shares__free(shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a source that floods leaves others their packets", test_one_source),
		TEST("so do forged sources that flood one host", test_forged_sources),
		TEST("without others it gets the whole rate", test_alone),
		TEST("requests of neighbours leave packets their rate", test_neighbours),
		TEST("frames that end anywhere are taken", test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Ports as bits: see ports.h. */
#include "ports.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define WORD_BITS 64
#define WORDS (65536 / WORD_BITS)
#define EVEN_BITS 0x5555555555555555ULL

struct address_ports {
	uint64_t words[POLICY_CLASSES][WORDS]; /* 1: taken */
};

struct ports {
	const struct policy *policy;
	uint64_t taken[POLICY_CLASSES];
	uint64_t random; /* state of a generator */
	/* NULL until a port of the address is taken */
	struct address_ports *addresses[];
};

struct ports *ports__new(const struct policy *policy)
{
	struct ports *ports;

	ports = calloc(1, sizeof(*ports) + policy->address_count * sizeof(ports->addresses[0]));
	if (!ports)
		return NULL;
	ports->policy = policy;
	if (getrandom(&ports->random, sizeof(ports->random), 0) == sizeof(ports->random))
		return ports;
	free(ports);
	return NULL;
}

void ports__free(struct ports *ports)
{
	size_t i;

	if (!ports)
		return;
	for (i = 0; i < ports->policy->address_count; i++)
		free(ports->addresses[i]);
	free(ports);
}

/* Ports need not be secret, but a stranger should not know the next one from the last. */
static uint32_t next_random(struct ports *ports)
{
	uint64_t mixed = ports->random += 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
	return mixed >> 32;
}

static uint64_t *words_of(struct ports *ports, enum policy_class kind, size_t address)
{
	struct address_ports **place = &ports->addresses[address];

	if (!*place)
		*place = calloc(1, sizeof(**place));
	return *place ? (*place)->words[kind] : NULL;
}

static void set(struct ports *ports, enum policy_class kind, uint64_t *words, uint16_t port)
{
	words[port / WORD_BITS] |= 1ULL << port % WORD_BITS;
	ports->taken[kind]++;
}

int ports__take(struct ports *ports, enum policy_class kind, const struct end *end)
{
	const struct policy_address *address = policy__find_address(ports->policy, end->address);
	uint64_t *words;

	if (!address)
		return -ENOENT;
	words = words_of(ports, kind, address - ports->policy->addresses);
	if (!words)
		return -ENOENT;
	if (words[end->port / WORD_BITS] & 1ULL << end->port % WORD_BITS)
		return -EEXIST;
	set(ports, kind, words, end->port);
	return 0;
}

/* The first free port from @from to @to of those with a bit in @parity; -1: none. */
static int find_free(const uint64_t *words, uint32_t from, uint32_t to, uint64_t parity)
{
	uint64_t free_bits;
	uint32_t port = from;

	while (port <= to) {
		free_bits = ~words[port / WORD_BITS] & parity & ~0ULL << port % WORD_BITS;
		if (free_bits) {
			port = port / WORD_BITS * WORD_BITS + __builtin_ctzll(free_bits);
			return port <= to ? (int)port : -1;
		}
		port = (port / WORD_BITS + 1) * WORD_BITS;
	}
	return -1;
}

int ports__allocate(struct ports *ports, enum policy_class kind, size_t address, uint16_t like)
{
	const struct policy_address *range = &ports->policy->addresses[address];
	uint64_t *words = words_of(ports, kind, address);
	const uint64_t parity = like & 1 ? ~EVEN_BITS : EVEN_BITS;
	uint32_t start;
	int port;

	if (!words)
		return -ENOSPC;
	start = range->first + next_random(ports) % (range->last - range->first + 1U);
	port = find_free(words, start, range->last, parity);
	if (port < 0)
		port = find_free(words, range->first, start, parity);
	if (port < 0)
		port = find_free(words, start, range->last, ~parity);
	if (port < 0)
		port = find_free(words, range->first, start, ~parity);
	if (port < 0)
		return -ENOSPC;
	set(ports, kind, words, port);
	return port;
}

void ports__release(struct ports *ports, enum policy_class kind, const struct end *end)
{
	const struct policy_address *address = policy__find_address(ports->policy, end->address);
	uint64_t *words;

	if (!address)
		return;
	words = words_of(ports, kind, address - ports->policy->addresses);
	if (!words)
		return;
	words[end->port / WORD_BITS] &= ~(1ULL << end->port % WORD_BITS);
	ports->taken[kind]--;
}

uint64_t ports__taken(const struct ports *ports, enum policy_class kind)
{
	return ports->taken[kind];
}

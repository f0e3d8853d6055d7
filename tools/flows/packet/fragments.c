// SPDX-License-Identifier: GPL-2.0-only
/* First fragments that passed, and later ones that wait: see fragments.h. */
#include "fragments.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#define WAYS 4
#define SETS (FRAGMENTS_FIRSTS / WAYS)

struct first {
	struct fragments_key key;
	address_t source, destination; /* that it left with */
	uint64_t since_ns;
	bool is_used;
};

struct held {
	struct packet packet; /* its frame is a copy; NULL: free */
	uint64_t since_ns;
};

struct fragments {
	uint64_t seed; /* strangers choose the keys */
	struct first firsts[SETS][WAYS];
	struct held held[FRAGMENTS_HELD];
	unsigned int held_count;
};

struct fragments *fragments__new(void)
{
	struct fragments *fragments = calloc(1, sizeof(*fragments));

	if (!fragments)
		return NULL;
	if (getrandom(&fragments->seed, sizeof(fragments->seed), 0) == sizeof(fragments->seed))
		return fragments;
	free(fragments);
	return NULL;
}

static void drop(struct fragments *fragments, struct held *held)
{
	free(held->packet.frame);
	held->packet.frame = NULL;
	fragments->held_count--;
}

void fragments__free(struct fragments *fragments)
{
	size_t i;

	if (!fragments)
		return;
	for (i = 0; i < FRAGMENTS_HELD; i++)
		free(fragments->held[i].packet.frame);
	free(fragments);
}

struct fragments_key fragments__key(const struct packet *packet)
{
	return (struct fragments_key){
		.source = packet->source.address,
		.destination = packet->destination.address,
		.identification = packet->identification,
		.protocol = packet->is_ipv6 ? 0 : packet->protocol,
	};
}

/* ---- first fragments */

static const struct first *set_of(const struct fragments *fragments,
				  const struct fragments_key *key)
{
	const address_t words[] = { key->source, key->destination,
				    (uint64_t)key->identification << 8 | key->protocol };

	return fragments->firsts[XXH3_64bits_withSeed(words, sizeof(words), fragments->seed) % SETS];
}

static bool has_key(const struct first *first, const struct fragments_key *key)
{
	return first->is_used && first->key.source == key->source &&
	       first->key.destination == key->destination &&
	       first->key.identification == key->identification &&
	       first->key.protocol == key->protocol;
}

void fragments__stop(struct fragments *fragments, const struct fragments_key *key)
{
	struct first *set = (struct first *)set_of(fragments, key);
	int i;

	for (i = 0; i < WAYS; i++)
		if (has_key(&set[i], key))
			set[i].is_used = false;
}

void fragments__stop_all(struct fragments *fragments)
{
	memset(fragments->firsts, 0, sizeof(fragments->firsts));
}

static bool is_of_source(address_t address, const struct fragments_key *key)
{
	return address__network(address) == address__network(key->source);
}

/*
 * In turn: a free place, the oldest one of this source, or the oldest one of all.  So a source that
 * sends many has one place of a set, if others use it.
 */
static struct first *place_for(struct first *set, const struct fragments_key *key)
{
	struct first *own = NULL, *oldest = set;
	int i;

	for (i = 0; i < WAYS; i++) {
		if (!set[i].is_used)
			return &set[i];
		if (set[i].since_ns < oldest->since_ns)
			oldest = &set[i];
		if (is_of_source(set[i].key.source, key) &&
		    (!own || set[i].since_ns < own->since_ns))
			own = &set[i];
	}
	return own ?: oldest;
}

void fragments__pass(struct fragments *fragments, const struct fragments_key *key,
		     const struct packet *packet, uint64_t now_ns)
{
	struct first *place;

	/* The place of this key is free then. */
	fragments__stop(fragments, key);
	place = place_for((struct first *)set_of(fragments, key), key);
	*place = (struct first){
		.key = *key,
		.source = packet->source.address,
		.destination = packet->destination.address,
		.since_ns = now_ns,
		.is_used = true,
	};
}

bool fragments__follow(const struct fragments *fragments, struct packet *packet, uint64_t now_ns)
{
	const struct fragments_key key = fragments__key(packet);
	const struct first *set = set_of(fragments, &key);
	int i;

	for (i = 0; i < WAYS; i++) {
		if (!has_key(&set[i], &key) || now_ns - set[i].since_ns >= FRAGMENTS_FIRST_NS)
			continue;
		packet__set_addresses(packet, set[i].source, set[i].destination);
		return true;
	}
	return false;
}

/* ---- later fragments that wait */

static unsigned int held_of_source(const struct fragments *fragments, const struct packet *packet)
{
	const struct fragments_key key = fragments__key(packet);
	unsigned int count = 0, i;

	for (i = 0; i < FRAGMENTS_HELD; i++)
		count += fragments->held[i].packet.frame &&
			 is_of_source(fragments->held[i].packet.source.address, &key);
	return count;
}

bool fragments__hold(struct fragments *fragments, const struct packet *packet, uint64_t now_ns)
{
	struct held *held = fragments->held;
	uint8_t *frame;

	if (fragments->held_count == FRAGMENTS_HELD ||
	    held_of_source(fragments, packet) >= FRAGMENTS_HELD_OF_SOURCE)
		return false;
	frame = malloc(packet->length);
	if (!frame)
		return false;
	while (held->packet.frame)
		held++;
	memcpy(frame, packet->frame, packet->length);
	held->packet = *packet;
	held->packet.frame = frame;
	held->packet.ip = frame + (packet->ip - packet->frame);
	held->packet.transport = frame + (packet->transport - packet->frame);
	held->since_ns = now_ns;
	fragments->held_count++;
	return true;
}

unsigned int fragments__release(struct fragments *fragments, uint64_t now_ns,
				void (*leave)(void *subject, struct packet *packet), void *subject)
{
	unsigned int lost = 0;
	struct held *held;

	for (held = fragments->held;
	     fragments->held_count && held < fragments->held + FRAGMENTS_HELD; held++) {
		if (!held->packet.frame)
			continue;
		if (fragments__follow(fragments, &held->packet, now_ns)) {
			leave(subject, &held->packet);
			drop(fragments, held);
		} else if (now_ns - held->since_ns >= FRAGMENTS_HELD_NS) {
			lost++;
			drop(fragments, held);
		}
	}
	return lost;
}

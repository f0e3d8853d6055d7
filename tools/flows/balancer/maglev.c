// SPDX-License-Identifier: GPL-2.0-only
/* Fills tables of places: see maglev.h. */
#include "maglev.h"

#include <xxhash.h>

#define NOBODY UINT16_MAX

/* The order in which a server wants the places: one after the other, by steps of @skip. */
struct preference {
	uint32_t next, skip;
	uint32_t credit; /* for turns: its weight in each round */
};

static struct preference preference_of(const struct maglev_server *server)
{
	const uint64_t identity = server->identity;

	return (struct preference){
		.next = XXH3_64bits_withSeed(&identity, sizeof(identity), 1) % MAGLEV_PLACES,
		.skip = XXH3_64bits_withSeed(&identity, sizeof(identity), 2) % (MAGLEV_PLACES - 1) +
			1,
	};
}

/* The next place of the server's order that nobody has.  There is one. */
static uint32_t next_free(const uint16_t *places, struct preference *preference)
{
	uint32_t place;

	do {
		place = preference->next;
		preference->next = (place + preference->skip) % MAGLEV_PLACES;
	} while (places[place] != NOBODY);
	return place;
}

static uint32_t largest_weight(const struct maglev_server *servers, size_t count)
{
	uint32_t largest = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (servers[i].weight > largest)
			largest = servers[i].weight;
	return largest;
}

bool maglev__fill(uint16_t places[static MAGLEV_PLACES], const struct maglev_server *servers,
		  size_t count)
{
	struct preference preferences[MAGLEV_SERVERS_MAX];
	const uint32_t price = largest_weight(servers, count); /* of a turn */
	uint32_t filled = 0, place;
	size_t i;

	if (!price || count > MAGLEV_SERVERS_MAX)
		return false;
	for (place = 0; place < MAGLEV_PLACES; place++)
		places[place] = NOBODY;
	for (i = 0; i < count; i++)
		preferences[i] = preference_of(&servers[i]);
	/* In each round the heaviest server takes a place, and others take one by their weight. */
	for (;;)
		for (i = 0; i < count; i++) {
			preferences[i].credit += servers[i].weight;
			if (preferences[i].credit < price)
				continue;
			preferences[i].credit -= price;
			places[next_free(places, &preferences[i])] = i;
			if (++filled == MAGLEV_PLACES)
				return true;
		}
}

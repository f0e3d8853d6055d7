// SPDX-License-Identifier: GPL-2.0-only
/* Lookups at the servers of a table, see readers.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/clock.h>

#include "readers.h"

#define PAUSE_MS 5000 /* before a server that failed is asked again */
#define BATCH 256 /* keys */

struct place {
	struct in_addr ip;
	uint32_t epoch;
	struct dart_tea_reader *reader; /* NULL until it is needed */
	int64_t asks_at; /* earliest time of the next try: ms of CLOCK_MONOTONIC */
	struct dart_error reason; /* why the last try failed */
};

struct readers {
	const struct dart_tea_tables *tables;
	struct dart_tea_hash *hash;
	struct place places[DART_TEA_SERVERS_MAX]; /* in the order of the servers */
	uint32_t place_count;
};

struct readers *readers__new(void)
{
	return calloc(1, sizeof(struct readers));
}

static void close_places(struct place *places, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		dart_tea_reader__close(places[i].reader);
}

void readers__free(struct readers *readers)
{
	if (!readers)
		return;
	close_places(readers->places, readers->place_count);
	dart_tea_hash__free(readers->hash);
	free(readers);
}

/* Moves an existing connection to the same server to @place. */
static void keep(struct readers *readers, struct place *place)
{
	struct place *old;
	uint32_t i;

	for (i = 0; i < readers->place_count; i++) {
		old = &readers->places[i];
		if (old->ip.s_addr != place->ip.s_addr || old->epoch != place->epoch)
			continue;
		place->reader = old->reader;
		place->asks_at = old->asks_at;
		place->reason = old->reason;
		old->reader = NULL;
	}
}

int readers__set_tables(struct readers *readers, const struct dart_tea_tables *tables)
{
	struct place places[DART_TEA_SERVERS_MAX] = { { .epoch = 0 } };
	struct dart_tea_hash *hash;
	uint32_t i;
	int ret;

	ret = dart_tea_hash__new(&tables->geometry, &hash);
	if (ret)
		return ret;
	for (i = 0; i < tables->server_count; i++) {
		places[i].ip = tables->servers[i].ip;
		places[i].epoch = tables->servers[i].epoch;
		keep(readers, &places[i]);
	}
	close_places(readers->places, readers->place_count);
	memcpy(readers->places, places, sizeof(places));
	readers->place_count = tables->server_count;
	dart_tea_hash__free(readers->hash);
	readers->hash = hash;
	readers->tables = tables;
	return 0;
}

/* ---- one server */

/* Closes the connection; until the next try, lookups report the same reason. */
static void give_up(struct place *place, const char *name, const char *reason,
		    struct dart_error *error)
{
	char address[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &place->ip, address, sizeof(address));
	dart_error__set(&place->reason, EHOSTUNREACH,
			"server %s cannot be asked for table '%s': %s", address, name, reason);
	*error = place->reason;
	dart_tea_reader__close(place->reader);
	place->reader = NULL;
	place->asks_at = dart_clock__ms(CLOCK_MONOTONIC) + PAUSE_MS;
}

/* Does the server hold the table of the export? */
static bool is_right(const struct readers *readers, const struct dart_tea_reader *reader)
{
	return !memcmp(dart_tea_reader__geometry(reader), &readers->tables->geometry,
		       sizeof(readers->tables->geometry));
}

/* Connects unless there is a connection.  Returns whether the server can be asked. */
static bool open_place(const struct readers *readers, struct place *place, struct dart_error *error)
{
	const char *name = readers->tables->name;
	char address[INET_ADDRSTRLEN];
	struct dart_error reason;

	if (place->reader)
		return true;
	if (place->asks_at > dart_clock__ms(CLOCK_MONOTONIC)) {
		*error = place->reason;
		return false;
	}
	inet_ntop(AF_INET, &place->ip, address, sizeof(address));
	if (dart_tea_reader__open(address, DART_CONTROL_PORT, name, &place->reader, &reason)) {
		place->reader = NULL;
		give_up(place, name, reason.text, error);
		return false;
	}
	if (is_right(readers, place->reader))
		return true;
	give_up(place, name, "it has another geometry", error);
	return false;
}

/* A batch for one server; @indexes: positions of its keys among all keys. */
struct batch {
	size_t count;
	size_t indexes[BATCH];
	uint8_t keys[BATCH * DART_TEA_KEY_MAX];
	struct dart_tea_answer answers[BATCH];
};

/* Asks, and copies the answers to their indexes.  Returns false if the server failed. */
static bool ask(const struct readers *readers, struct place *place, struct batch *batch,
		struct dart_tea_answer *answers, struct dart_error *error)
{
	struct dart_error reason;
	size_t i;

	if (batch->count && dart_tea__lookup_batch(place->reader, batch->keys, batch->count,
						   batch->answers, &reason)) {
		give_up(place, readers->tables->name, reason.text, error);
		return false;
	}
	for (i = 0; i < batch->count; i++)
		answers[batch->indexes[i]] = batch->answers[i];
	batch->count = 0;
	return true;
}

static void ask_server(struct readers *readers, uint32_t server, const uint8_t *keys, size_t count,
		       struct dart_tea_answer *answers, struct batch *batch,
		       struct dart_error *error)
{
	const struct dart_tea_tables *tables = readers->tables;
	const uint32_t length = tables->geometry.key_length;
	struct place *place = &readers->places[server];
	struct dart_tea_place where;
	size_t i;

	batch->count = 0;
	for (i = 0; i < count; i++) {
		if (answers[i].ret != -EHOSTUNREACH)
			continue;
		dart_tea_hash__place(readers->hash, keys + i * length, &where);
		if (tables->shares[where.share] != server &&
		    tables->replicas[where.share] != server)
			continue;
		if (!open_place(readers, place, error))
			return;
		batch->indexes[batch->count] = i;
		memcpy(batch->keys + batch->count++ * length, keys + i * length, length);
		if (batch->count == BATCH && !ask(readers, place, batch, answers, error))
			return;
	}
	ask(readers, place, batch, answers, error);
}

void readers__lookup(struct readers *readers, const uint8_t *keys, size_t count,
		     struct dart_tea_answer *answers, struct dart_error *error)
{
	struct batch *batch = malloc(sizeof(*batch));
	uint32_t server;
	size_t i;

	*error->text = '\0';
	for (i = 0; i < count; i++)
		answers[i].ret = -EHOSTUNREACH;
	if (!batch) {
		dart_error__no_memory(error);
		return;
	}
	for (server = 0; server < readers->place_count; server++)
		ask_server(readers, server, keys, count, answers, batch, error);
	free(batch);
}

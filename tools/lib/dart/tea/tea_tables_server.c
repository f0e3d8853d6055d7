// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the servers in files of lookup tables, see tea_tables.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/text_file.h>

#include "tea_tables.h"
#include "tea_tables_loader_internal.h"

#define QPN_MIN 2 /* 0 and 1 are for management */
#define BITS_24_MAX 0xffffff

static bool is_in(json_int_t number, json_int_t least, json_int_t most)
{
	return number >= least && number <= most;
}

/* ---- the stash */

static int digit_of(char character)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = character ? strchr(digits, character) : NULL;

	return found ? found - digits : -1;
}

static bool parse_bytes(const char *text, uint8_t *bytes, size_t length)
{
	int high, low;
	size_t i;

	if (strlen(text) != 2 * length)
		return false;
	for (i = 0; i < length; i++) {
		high = digit_of(text[2 * i]);
		low = digit_of(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		bytes[i] = high << 4 | low;
	}
	return true;
}

/* Room for one more entry: returns 0 or a negative errno, with the error set. */
static int make_room(struct dart_tea_tables_loader *loader)
{
	struct dart_tea_tables *tables = loader->tables;
	size_t room = loader->stashed_room ? 2 * loader->stashed_room : 64;
	struct dart_tea_stashed *list;

	if (tables->stashed_count == DART_TEA_STASHED_MAX)
		return refuse(loader, "the stashes have more than %d entries",
			      DART_TEA_STASHED_MAX);
	if (tables->stashed_count < loader->stashed_room)
		return 0;
	list = reallocarray(tables->stashed, room, sizeof(*list));
	if (!list)
		return dart_error__no_memory(loader->error);
	tables->stashed = list;
	loader->stashed_room = room;
	return 0;
}

static int take_stashed(struct dart_tea_tables_loader *loader, json_t *json,
			const struct dart_tea_server *server)
{
	const struct dart_tea_geometry *geometry = &loader->tables->geometry;
	struct dart_tea_stashed stashed = { .key = { 0 } };
	struct dart_tea_place place;
	json_error_t json_error;
	const char *key, *value;
	int ret;

	if (json_unpack_ex(json, &json_error, 0, "{s:s, s:s !}", "key", &key, "value", &value))
		return refuse(loader, "an entry of the stash: %s", json_error.text);
	if (!parse_bytes(key, stashed.key, geometry->key_length) ||
	    !parse_bytes(value, stashed.value, geometry->value_length))
		return refuse(loader,
			      "an entry of the stash: not %" PRIu32 " bytes of a key and %" PRIu32
			      " of a value, in hexadecimal",
			      geometry->key_length, geometry->value_length);
	dart_tea_hash__place(loader->hash, stashed.key, &place);
	if (!is_in(place.share, server->first_share, server->last_share))
		return refuse(loader,
			      "the stash has key %s of share %" PRIu32
			      ", which is not the server's",
			      key, place.share);
	ret = make_room(loader);
	if (!ret)
		loader->tables->stashed[loader->tables->stashed_count++] = stashed;
	return ret;
}

static int take_stash(struct dart_tea_tables_loader *loader, json_t *list,
		      const struct dart_tea_server *server)
{
	json_t *entry;
	int ret = 0;
	size_t i;

	if (!json_is_array(list))
		return refuse(loader, "stash is not a list");
	json_array_foreach(list, i, entry) {
		ret = take_stashed(loader, entry, server);
		if (ret)
			break;
	}
	return ret;
}

/* ---- servers */

/* Gives its shares to the last server, which must be beside at most one other. */
static int assign(struct dart_tea_tables_loader *loader)
{
	struct dart_tea_tables *tables = loader->tables;
	const uint32_t index = tables->server_count - 1;
	const struct dart_tea_server *server = &tables->servers[index];
	const struct dart_tea_server *other;
	uint32_t i, share;

	for (i = 0; i < index; i++) {
		other = &tables->servers[i];
		if (other->ip.s_addr == server->ip.s_addr)
			return refuse(loader, "two servers have the same address");
		if (other->last_share < server->first_share ||
		    other->first_share > server->last_share)
			continue;
		if (other->first_share != server->first_share ||
		    other->last_share != server->last_share)
			return refuse(loader,
				      "shares %" PRIu32 "-%" PRIu32
				      " overlap those of another server, %" PRIu32 "-%" PRIu32
				      ", but replicas have the same ones",
				      server->first_share, server->last_share, other->first_share,
				      other->last_share);
	}
	for (share = server->first_share; share <= server->last_share; share++) {
		if (tables->shares[share] == DART_TEA_SERVER_NONE)
			tables->shares[share] = index;
		else if (tables->replicas[share] == DART_TEA_SERVER_NONE)
			tables->replicas[share] = index;
		else
			return refuse(loader, "share %" PRIu32 " has more than two servers", share);
	}
	return 0;
}

/* The numbers of a requester, as wide as in JSON. */
struct numbers {
	json_int_t qpn, rkey, first_psn;
};

static int take_numbers(struct dart_tea_tables_loader *loader, const struct numbers *numbers,
			struct dart_tea_server *server)
{
	if (!is_in(numbers->qpn, QPN_MIN, BITS_24_MAX))
		return refuse(loader, "qpn is not the number of a queue pair");
	if (!is_in(numbers->rkey, 0, UINT32_MAX))
		return refuse(loader, "rkey has more than 32 bits");
	if (!is_in(numbers->first_psn, 0, BITS_24_MAX))
		return refuse(loader, "first_psn has more than 24 bits");
	if (server->base > UINT64_MAX - dart_tea_geometry__view_length(&loader->tables->geometry))
		return refuse(loader, "the table ends beyond all addresses");
	server->qpn = numbers->qpn;
	server->rkey = numbers->rkey;
	server->first_psn = numbers->first_psn;
	return 0;
}

/* Takes the requester into @server if it is the wanted one: returns 1; or 0. */
static int take_requester(struct dart_tea_tables_loader *loader, json_t *json,
			  struct dart_tea_server *server)
{
	struct in_addr *wanted = &loader->tables->requester;
	const char *address, *ip, *mac, *base;
	struct in_addr requester;
	struct numbers numbers;
	json_error_t error;
	int ret;

	if (json_unpack_ex(json, &error, 0, "{s:s, s:s, s:s, s:I, s:I, s:s, s:I !}", "address",
			   &address, "server", &ip, "mac", &mac, "qpn", &numbers.qpn, "rkey",
			   &numbers.rkey, "base", &base, "first_psn", &numbers.first_psn))
		return refuse(loader, "a requester: %s", error.text);
	if (!dart_export_text__address(address, &requester))
		return refuse(loader, "address '%s' is not a host's address", address);
	if (loader->is_any_requester && wanted->s_addr == INADDR_ANY)
		*wanted = requester;
	if (requester.s_addr != wanted->s_addr)
		return loader->is_any_requester ?
			       refuse(loader,
				      "another requester than those before (give the address of one)") :
			       0;
	if (!dart_export_text__address(ip, &server->ip))
		return refuse(loader, "server '%s' is not a host's address", ip);
	if (!dart_export_text__mac(mac, server->mac))
		return refuse(loader, "mac '%s' is not a host's address", mac);
	if (!dart_export_text__base(base, &server->base))
		return refuse(loader, "base '%s' is not a number like \"0x3a5f00000000\"", base);
	ret = take_numbers(loader, &numbers, server);
	return ret ?: 1;
}

static int take_requesters(struct dart_tea_tables_loader *loader, json_t *list,
			   struct dart_tea_server *server)
{
	char address[INET_ADDRSTRLEN];
	bool is_there = false;
	json_t *requester;
	size_t i;
	int ret;

	if (!json_is_array(list))
		return refuse(loader, "requesters are not a list");
	json_array_foreach(list, i, requester) {
		ret = take_requester(loader, requester, server);
		if (ret < 0)
			return ret;
		if (ret && is_there)
			return refuse(loader, "a requester occurs twice");
		is_there |= ret;
	}
	if (is_there)
		return 0;
	inet_ntop(AF_INET, &loader->tables->requester, address, sizeof(address));
	return dart_error__set(loader->error, ENOENT,
			       "%s: table '%s' has no requester%s%s (dartctl requester add)",
			       loader->path, loader->tables->name,
			       loader->is_any_requester ? "" : " ",
			       loader->is_any_requester ? "" : address);
}

int dart_tea_tables_loader__take_server(struct dart_tea_tables_loader *loader, json_t *json)
{
	struct dart_tea_tables *tables = loader->tables;
	struct dart_tea_server server = { .qpn = 0 };
	json_int_t first, last, epoch;
	json_t *requesters, *stash;
	json_error_t error;
	int ret;

	if (json_unpack_ex(json, &error, 0, "{s:[I, I !], s:I, s:o, s:o !}", "shares", &first,
			   &last, "epoch", &epoch, "requesters", &requesters, "stash", &stash))
		return refuse(loader, "a server: %s", error.text);
	if (first < 0 || first > last || last >= DART_TEA_SHARES)
		return refuse(loader, "shares are not a range of 0 to %d", DART_TEA_SHARES - 1);
	if (!is_in(epoch, 1, DART_TEA_EPOCH_MAX))
		return refuse(loader, "epoch is not from 1 to %d", DART_TEA_EPOCH_MAX);
	if (tables->server_count == DART_TEA_SERVERS_MAX)
		return refuse(loader, "more than %d servers", DART_TEA_SERVERS_MAX);
	server.first_share = first;
	server.last_share = last;
	server.epoch = epoch;
	ret = take_requesters(loader, requesters, &server);
	if (ret)
		return ret;
	tables->servers[tables->server_count++] = server;
	ret = assign(loader);
	return ret ?: take_stash(loader, stash, &server);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Tables, requesters, and the exports for switches, as JSON. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include <libdart/tea/tea_lookup.h>

#include "agent/base/request.h"
#include "requester.h"
#include "tables_json.h"

static json_t *geometry(const struct lookup_table *table)
{
	const struct dart_tea_geometry *geometry = &table->parameters.geometry;

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "name", table->object.name, "rows_log2",
			 (json_int_t)geometry->rows_log2, "cells", (json_int_t)geometry->cells,
			 "key_length", (json_int_t)geometry->key_length, "value_length",
			 (json_int_t)geometry->value_length, "packet_length",
			 (json_int_t)geometry->packet_length);
}

static json_t *shares(const struct lookup_table *table)
{
	return json_pack("[II]", (json_int_t)table->parameters.first_share,
			 (json_int_t)table->parameters.last_share);
}

/* Adds the members of @more, whose reference it takes, to @json. */
static json_t *join(json_t *json, json_t *more)
{
	if (json && (!more || json_object_update(json, more))) {
		json_decref(json);
		json = NULL;
	}
	json_decref(more);
	return json;
}

json_t *tables_json__table(const struct remote_object *object)
{
	const struct lookup_table *table = (const struct lookup_table *)object;
	struct dart_tea_statistics statistics;
	json_t *json;

	dart_tea_table__statistics(table->entries, &statistics);
	json = join(
		geometry(table),
		json_pack("{s:o, s:I, s:I, s:b, s:s*, s:s, s:I}", "shares", shares(table), "bytes",
			  (json_int_t)object->memory.length, "view_bytes",
			  (json_int_t)dart_tea_geometry__view_length(&table->parameters.geometry),
			  "huge_pages", object->memory.is_huge, "file", object->file, "user",
			  table->parameters.user, "epoch",
			  (json_int_t)table->epoch));
	return join(json,
		    json_pack("{s:I, s:I, s:f, s:I, s:I, s:I, s:I}", "entries",
			      (json_int_t)statistics.entries, "stashed",
			      (json_int_t)statistics.stashed, "load",
			      (double)statistics.entries / statistics.cells, "moves",
			      (json_int_t)statistics.moves, "full", (json_int_t)statistics.full,
			      "requesters", remote_object__count_peers(object), "readers",
			      (json_int_t)object->readers.peers));
}

json_t *tables_json__requester(const struct remote_object *object, const struct remote_peer *peer)
{
	const struct requester *requester = (const struct requester *)peer;
	const struct answering_qp *answering_qp = &requester->answering_qp;
	struct answering_qp_state state = answering_qp__state(answering_qp);
	char address[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &peer->address, address, sizeof(address));
	return json_pack("{s:s, s:s, s:I, s:s, s:I, s:I, s:I, s:b, s:I}", "table", object->name,
			 "requester", address, "qpn", (json_int_t)answering_qp->queue_pair->qp_num,
			 "state", state.is_ready ? "ready" : "error", "first_psn",
			 (json_int_t)answering_qp->first_psn, "expected_psn",
			 (json_int_t)state.expected_psn, "bytes",
			 (json_int_t)requester->memory.length, "huge_pages",
			 requester->memory.is_huge, "renewals", (json_int_t)requester->renewals);
}

json_t *tables_json__changes(const struct table_changes *changes)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "inserted",
			 (json_int_t)changes->inserted, "changed", (json_int_t)changes->changed,
			 "stashed", (json_int_t)changes->stashed, "removed",
			 (json_int_t)changes->removed, "missing", (json_int_t)changes->missing,
			 "foreign", (json_int_t)changes->foreign, "full",
			 (json_int_t)changes->full);
}

static json_t *export_requester(const struct requester *requester)
{
	const struct answering_qp *answering_qp = &requester->answering_qp;
	const struct local_path *path = &answering_qp->path;
	const uint8_t *mac = path->mac;
	char address[INET_ADDRSTRLEN], server[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &path->peer, address, sizeof(address));
	inet_ntop(AF_INET, &path->local, server, sizeof(server));
	return json_pack("{s:s, s:s, s:o, s:I, s:I, s:o, s:I}", "address", address, "server",
			 server, "mac",
			 json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
				      mac[3], mac[4], mac[5]),
			 "qpn", (json_int_t)answering_qp->queue_pair->qp_num, "rkey",
			 (json_int_t)requester->view.memory_region->rkey, "base",
			 json_sprintf("0x%" PRIx64, requester->view.base), "first_psn",
			 (json_int_t)answering_qp->first_psn);
}

static json_t *export_requesters(const struct remote_object *object)
{
	const struct remote_peer *peer;
	json_t *list = json_array();

	TAILQ_FOREACH(peer, &object->peers, link)
		reply__append(&list, export_requester((const struct requester *)peer));
	return list;
}

static json_t *hexadecimal(const uint8_t *bytes, size_t length)
{
	char text[2 * DART_TEA_KEY_MAX + 1] = "";
	size_t i;

	_Static_assert(DART_TEA_VALUE_MAX <= DART_TEA_KEY_MAX, "both fit");
	for (i = 0; i < length; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return json_string(text);
}

/* The walk begins after the rows, and ends with the last entry: most stashes are empty. */
static json_t *export_stash(const struct lookup_table *table)
{
	const struct dart_tea_geometry *geometry = &table->parameters.geometry;
	struct dart_tea_walk walk = { .row = dart_tea_geometry__rows(geometry) };
	uint8_t entry[DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX];
	struct dart_tea_statistics statistics;
	json_t *list = json_array();
	bool is_stashed;

	dart_tea_table__statistics(table->entries, &statistics);
	while (json_array_size(list) < statistics.stashed &&
	       dart_tea_lookup__next(dart_tea_table__hash(table->entries),
				     table->object.memory.address, &walk, entry, &is_stashed))
		reply__append(&list, json_pack("{s:o, s:o}", "key",
					       hexadecimal(entry, geometry->key_length), "value",
					       hexadecimal(entry + geometry->key_length,
							   geometry->value_length)));
	return list;
}

json_t *tables_json__export(const struct remote_object *object)
{
	const struct lookup_table *table = (const struct lookup_table *)object;
	json_t *servers = json_pack("[{s:o, s:I, s:o, s:o}]", "shares", shares(table), "epoch",
				    (json_int_t)table->epoch, "requesters",
				    export_requesters(object), "stash", export_stash(table));

	return json_pack("[o]", join(geometry(table), json_pack("{s:o}", "servers", servers)));
}

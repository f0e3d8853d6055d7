// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch show, see status.h. */
#include <arpa/inet.h>
#include <stdio.h>

#include "kind.h"
#include "state.h"
#include "status.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"
#include "tools/dartctl/switch/engine/live.h"

#define PACKETS "tea_packets" /* counters: of packets by outcome, */
#define REQUESTS "tea_requests" /* of requests by server, */
#define PROBES "tea_probes" /* and of probes by server */

struct status {
	struct thrift *thrift;
	struct switch_program program;
	struct lookup_state *state;
	json_t *servers, *packets;
	uint64_t cached;
	struct dart_error error;
};

static const char *const states[] = {
	[LOOKUP_UP] = "up",
	[LOOKUP_SILENT] = "silent",
	[LOOKUP_STOPPED] = "stopped",
};

/* Counts the shares of the server, and the shares whose replica it is. */
static void count_shares(const struct lookup_state *state, uint32_t number,
			 uint32_t *first, uint32_t *second)
{
	const struct switch_entry *entry;
	uint32_t share;

	*first = 0;
	*second = 0;
	for (share = 0; share < DART_TEA_SHARES; share++) {
		entry = &state->shares[share];
		if (!entry->there)
			continue;
		if (entry->values[LOOKUP_SHARE_FIRST] == number)
			++*first;
		else if (entry->values[LOOKUP_SHARE_SECOND] == number)
			++*second;
	}
}

static int read_server(struct status *status, uint32_t number)
{
	const struct lookup_state *state = status->state;
	const struct switch_entry *entry = &state->servers[number];
	struct in_addr ip = { htonl(entry->values[SERVER_IP]) };
	uint64_t psn, outstanding, requests, probes;
	uint32_t first, second;
	char address[INET_ADDRSTRLEN];
	json_t *json;
	int ret;

	ret = bmv2_register__read(status->thrift, LOOKUP_REGISTER_PSN, number, &psn,
				  &status->error) ?:
	      bmv2_register__read(status->thrift, LOOKUP_REGISTER_OUTSTANDING, number, &outstanding,
				  &status->error) ?:
	      bmv2_counter__packets(status->thrift, REQUESTS, number, &requests, &status->error) ?:
	      bmv2_counter__packets(status->thrift, PROBES, number, &probes, &status->error);
	if (ret)
		return ret;
	inet_ntop(AF_INET, &ip, address, sizeof(address));
	count_shares(state, number, &first, &second);
	json = json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "server",
			 (json_int_t)number, "address", address, "state",
			 states[state->states[number]], "qpn",
			 (json_int_t)entry->values[SERVER_QPN], "epoch",
			 (json_int_t)entry->values[SERVER_EPOCH], "psn", (json_int_t)psn,
			 "outstanding", (json_int_t)outstanding, "shares", (json_int_t)first,
			 "replica_of", (json_int_t)second, "lookups", (json_int_t)requests,
			 "probes", (json_int_t)probes);
	if (json_array_append_new(status->servers, json))
		return dart_error__no_memory(&status->error);
	return 0;
}

static int read_servers(struct status *status)
{
	uint32_t i;
	int ret = 0;

	status->servers = json_array();
	if (!status->servers)
		return dart_error__no_memory(&status->error);
	for (i = 0; !ret && i < DART_TEA_SERVERS_MAX; i++)
		if (status->state->servers[i].there)
			ret = read_server(status, i);
	return ret;
}

static int read_packets(struct status *status)
{
	const char *name;
	uint64_t packets;
	uint32_t i;
	int ret;

	status->packets = json_object();
	if (!status->packets)
		return dart_error__no_memory(&status->error);
	for (i = 0; (name = lookup_outcome__name(i)); i++) {
		ret = bmv2_counter__packets(status->thrift, PACKETS, i, &packets, &status->error);
		if (ret)
			return ret;
		if (json_object_set_new(status->packets, name, json_integer(packets)))
			return dart_error__no_memory(&status->error);
	}
	return 0;
}

static int read_status(struct status *status)
{
	const struct lookup_wish no_ports = { .keeps_cache = true };

	status->state = switch_state__new(&lookup_kind);
	if (!status->state)
		return dart_error__no_memory(&status->error);
	return switch_program__read(&status->program, &lookup_kind.needs, status->thrift,
				    &status->error) ?:
	       lookup_kind.prepare(status->state, &status->program, &status->error) ?:
	       switch_state__read(&lookup_kind, status->thrift, &no_ports, status->state,
				  &status->error) ?:
	       bmv2_table__count(status->thrift, LOOKUP_TABLE_CACHE, &status->cached,
				 &status->error) ?:
	       read_servers(status) ?: read_packets(status);
}

/* ---- output */

static const struct table_column columns[] = {
	NUMBER_COLUMN("SERVER", "server"),
	TEXT_COLUMN("ADDRESS", "address"),
	TEXT_COLUMN("STATE", "state"),
	NUMBER_COLUMN("QP", "qpn"),
	NUMBER_COLUMN("PSN", "psn"),
	NUMBER_COLUMN("OUTSTANDING", "outstanding"),
	NUMBER_COLUMN("SHARES", "shares"),
	NUMBER_COLUMN("REPLICA OF", "replica_of"),
	NUMBER_COLUMN("LOOKUPS", "lookups"),
	NUMBER_COLUMN("PROBES", "probes"),
	{}
};

/* Omits outcomes without packets. */
static int print(const struct status *status)
{
	const char *name;
	json_t *packets;

	printf("stash          %zu entries, room for %u\n",
	       status->state->stashed_count, status->state->sizes.stash_room);
	printf("cache          %llu entries, room for %u\n",
	       (unsigned long long)status->cached, status->state->sizes.cache_room);
	json_object_foreach(status->packets, name, packets)
		if (json_integer_value(packets))
			printf("%-14s %lld packets\n", name,
			       (long long)json_integer_value(packets));
	return table__print_objects(status->servers, columns);
}

static int print_as_json(const struct status *status)
{
	return print_json(json_pack("{s:O, s:O, s:{s:I, s:I}, s:{s:I, s:I}}", "servers",
				    status->servers, "packets", status->packets, "stash", "entries",
				    (json_int_t)status->state->stashed_count, "room",
				    (json_int_t)status->state->sizes.stash_room, "cache", "entries",
				    (json_int_t)status->cached, "room",
				    (json_int_t)status->state->sizes.cache_room),
			  0);
}

int lookup_status__show(const char *name, bool as_json)
{
	struct status status = { .cached = 0 };
	int ret;

	ret = thrift__connect(name, &status.thrift, &status.error) ?: read_status(&status);
	thrift__close(status.thrift);
	if (ret)
		ret = fail(-ret, "cannot show '%s': %s", name, status.error.text);
	else
		ret = as_json ? print_as_json(&status) : print(&status);
	json_decref(status.packets);
	json_decref(status.servers);
	switch_state__free(&lookup_kind, status.state);
	switch_program__free(&status.program);
	return ret;
}

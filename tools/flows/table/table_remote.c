// SPDX-License-Identifier: GPL-2.0-only
/* The table of a dartd on another host, through its port of TLS: see table_internal.h. */
#include <dart/tea_access.h>
#include <errno.h>
#include <libdart/rpc/client.h>
#include <libdart/rpc/lookups.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table_internal.h"

#define PAUSE_US 1000000
/* Each attempt costs dartd a handshake, and a line in its log. */
#define LONG_PAUSE_US 5000000

/* A record has at least an operation, and a byte of a key and of a value. */
#define OUTCOMES_MAX (DART_RPC_RECORDS_LENGTH_MAX / 3)

struct link {
	sd_event_source *io;
	struct dart_rpc_client *client;

	/* Entries of the table, until they have been compared. */
	uint8_t *entries;
	uint64_t count, size, walked;

	struct dart_rpc_lookups_wanted wanted; /* entries that were asked for last */
	uint8_t answer[DART_RPC_LOOKUPS_LENGTH_MAX];
	uint8_t records[DART_RPC_RECORDS_LENGTH_MAX]; /* of the request */
	uint8_t outcomes[OUTCOMES_MAX]; /* of its changes */
};

static struct link *link_of(const struct table *table)
{
	return table->link;
}

static void forget_entries(struct link *link)
{
	free(link->entries);
	link->entries = NULL;
	link->count = link->size = link->walked = 0;
}

static void close_link(struct table *table)
{
	struct link *link = link_of(table);

	link->io = sd_event_source_disable_unref(link->io);
	dart_rpc_client__free(link->client);
	link->client = NULL;
	forget_entries(link);
}

/* ---- entries of the table, as it is opened */

static int ask_for_entries(struct table *table, uint64_t first, struct dart_error *error)
{
	struct link *link = link_of(table);

	link->wanted = (struct dart_rpc_lookups_wanted){
		.first = first,
		.epoch = first ? table->epoch : 0,
	};
	snprintf(link->wanted.table, sizeof(link->wanted.table), "%s", table->settings->name);
	return dart_rpc_client__get_lookups(link->client, &link->wanted, link->answer, error) ?:
		       table__await(table, error);
}

/* The first answer tells the geometry; the others repeat it. */
static int check_geometry(struct table *table, const struct dart_rpc_lookups_values *values,
			  struct dart_error *error)
{
	const struct dart_tea_geometry geometry = {
		.rows_log2 = values->rows_log2,
		.cells = values->cells,
		.key_length = values->key_length,
		.value_length = values->value_length,
		.packet_length = values->packet_length,
	};

	if (!link_of(table)->wanted.first)
		return table__take_geometry(table, &geometry, values->epoch, error);
	if (values->epoch == table->epoch && !memcmp(&geometry, &table->geometry, sizeof(geometry)))
		return 0;
	return dart_error__set(error, EPROTO, "table '%s' changes its geometry",
			       table->settings->name);
}

/* Each entry is in a cell, and each cell is listed once. */
static int grow(struct table *table, uint32_t more, struct dart_error *error)
{
	const struct dart_tea_geometry *geometry = &table->geometry;
	const size_t length = geometry->key_length + geometry->value_length;
	struct link *link = link_of(table);
	const uint64_t wanted = link->count + more;
	uint8_t *entries;

	if (wanted > dart_tea_geometry__rows(geometry) * geometry->cells +
			     dart_tea_geometry__stash_cells(geometry))
		return dart_error__set(error, EPROTO, "table '%s' lists more entries than it has",
				       table->settings->name);
	if (wanted <= link->size)
		return 0;
	entries = realloc(link->entries, 2 * wanted * length);
	if (!entries)
		return dart_error__no_memory(error);
	link->entries = entries;
	link->size = 2 * wanted;
	return 0;
}

static int take_entries(struct table *table, struct dart_error *error)
{
	struct link *link = link_of(table);
	struct dart_rpc_lookups_values values;
	size_t length;
	int ret;

	ret = dart_rpc_lookups__decode(link->answer, dart_rpc_client__length(link->client),
				       link->wanted.first, &values, error) ?:
		      check_geometry(table, &values, error) ?:
		      grow(table, values.count, error);
	if (ret)
		return ret;
	length = values.key_length + values.value_length;
	if (values.count)
		memcpy(link->entries + link->count * length, values.entries, values.count * length);
	link->count += values.count;
	if (values.next)
		return ask_for_entries(table, values.next, error);
	table__opened(table);
	forget_entries(link);
	return 0;
}

static bool next_entry(struct table *table, uint8_t entry[static ENTRY_MAX])
{
	const size_t length = table->settings->key_length + table->settings->value_length;
	struct link *link = link_of(table);

	if (link->walked == link->count)
		return false;
	memcpy(entry, link->entries + link->walked++ * length, length);
	return true;
}

/* ---- changes */

static uint32_t batch_of(const struct table *table)
{
	return DART_RPC_RECORDS_LENGTH_MAX / table__record_length(table);
}

static bool has_entry(const struct table *table, size_t number, const struct change *change)
{
	const uint8_t outcome = link_of(table)->outcomes[number];

	return outcome == DART_RPC_LOOKUP_INSERTED || outcome == DART_RPC_LOOKUP_STASHED ||
	       outcome == DART_RPC_LOOKUP_CHANGED;
}

static int take_outcomes(struct table *table, struct dart_error *error)
{
	const struct link *link = link_of(table);
	uint64_t by_outcome[DART_RPC_LOOKUP_FULL + 1] = {};
	struct change_counts counts;
	size_t i;

	for (i = 0; i < table->asked; i++) {
		if (!link->outcomes[i] || link->outcomes[i] > DART_RPC_LOOKUP_FULL)
			return dart_error__set(error, EPROTO,
					       "cannot understand what dartd says about changes");
		by_outcome[link->outcomes[i]]++;
	}
	counts = (struct change_counts){
		.inserted = by_outcome[DART_RPC_LOOKUP_INSERTED] +
			    by_outcome[DART_RPC_LOOKUP_STASHED] +
			    by_outcome[DART_RPC_LOOKUP_CHANGED],
		.removed = by_outcome[DART_RPC_LOOKUP_REMOVED],
		.full = by_outcome[DART_RPC_LOOKUP_FULL],
		.foreign = by_outcome[DART_RPC_LOOKUP_FOREIGN],
	};
	table__changed(table, &counts);
	return 0;
}

/* ---- events */

static int take_answer(struct table *table, struct dart_error *error)
{
	int ret;

	table__answered(table);
	ret = table->state == OPENING ? take_entries(table, error) : take_outcomes(table, error);
	return ret ?: table__send_changes(table, error);
}

/* Sends and receives as far as that does not block.  The table may be away afterwards. */
static int proceed(struct table *table, struct dart_error *error)
{
	struct link *link = link_of(table);
	int ret = 0;

	while (!ret && link->client) {
		switch (dart_rpc_client__on_ready(link->client, error)) {
		case DART_RPC_CLIENT_NOTHING:
			return 0;
		case DART_RPC_CLIENT_CONNECTED:
			ret = ask_for_entries(table, 0, error);
			break;
		case DART_RPC_CLIENT_ANSWERED:
			ret = take_answer(table, error);
			break;
		default:
			return -EPROTO;
		}
	}
	return ret;
}

/* One descriptor over TCP, always the same; the events of poll(2) are those of epoll(7). */
static int wait_on(struct table *table, struct dart_error *error)
{
	struct link *link = link_of(table);
	struct pollfd descriptors[2];
	int ret;

	dart_rpc_client__wait(link->client, descriptors);
	ret = sd_event_source_set_io_events(link->io, descriptors[0].events);
	return ret < 0 ? dart_error__system(error, -ret, "cannot wait for dartd") : 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct dart_error error = {};
	struct table *table = data;
	int ret = proceed(table, &error);

	if (!ret && link_of(table)->client)
		ret = wait_on(table, &error);
	if (ret)
		table__go_away(table, error.text);
	return 0;
}

static int send_changes(struct table *table, struct dart_error *error)
{
	struct link *link = link_of(table);
	struct dart_rpc_lookup_changes changes = { .epoch = table->epoch };

	table__take_changes(table, link->records);
	snprintf(changes.table, sizeof(changes.table), "%s", table->settings->name);
	changes.records = link->records;
	changes.count = table->asked;
	changes.length = table->asked * table__record_length(table);
	return dart_rpc_client__change_lookups(link->client, &changes, link->outcomes, error) ?:
		       table__await(table, error)					      ?:
		       wait_on(table, error);
}

static int open_link(struct table *table, struct dart_error *error)
{
	const struct table_server *server = table->settings->server;
	struct link *link = link_of(table);
	struct pollfd descriptors[2];
	struct dart_tls *tls;
	int ret;

	ret = dart_tls__load(&server->files, &tls, error);
	if (ret)
		return ret;
	ret = dart_rpc_client__connect_tcp(server->address, server->port, tls, server->name,
					   &link->client, error);
	dart_tls__put(tls);
	if (ret)
		return ret;
	dart_rpc_client__wait(link->client, descriptors);
	ret = sd_event_add_io(table->event, &link->io, descriptors[0].fd, descriptors[0].events,
			      on_io, table);
	return ret < 0 ? dart_error__system(error, -ret, "cannot wait for dartd") :
			 table__await(table, error);
}

/* ---- life */

static int prepare_link(struct table *table, struct dart_error *error)
{
	table->link = calloc(1, sizeof(struct link));
	return table->link ? 0 : dart_error__no_memory(error);
}

static void free_link(struct table *table)
{
	if (!link_of(table))
		return;
	close_link(table);
	free(table->link);
}

const struct table_way table_remote = {
	.pause_us = PAUSE_US,
	.long_pause_us = LONG_PAUSE_US,
	.batch = batch_of,
	.prepare = prepare_link,
	.free = free_link,
	.open = open_link,
	.close = close_link,
	.next = next_entry,
	.send = send_changes,
	.has_entry = has_entry,
};

// SPDX-License-Identifier: GPL-2.0-only
/* The table of a dartd on this host, through its socket: see table_internal.h. */
#include <dart/tea_access.h>
#include <errno.h>
#include <jansson.h>
#include <libdart/registration/client.h>
#include <libdart/tea/tea_lookup.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table_internal.h"

#define PAUSE_US 500000
#define BATCH DART_REGISTRATION_TABLE_CHANGES_MAX

struct link {
	sd_event_source *io;
	struct dart_registration_client client;
	/* The table in memory, while it is there, and how far it was walked through. */
	struct dart_tea_hash *hash;
	void *memory;
	size_t length;
	struct dart_tea_walk walk;

	uint8_t *records; /* of the request, shared with dartd */
	int fd;
};

static struct link *link_of(const struct table *table)
{
	return table->link;
}

static void close_link(struct table *table)
{
	struct link *link = link_of(table);

	link->io = sd_event_source_disable_unref(link->io);
	dart_registration_client__close(&link->client);
	if (link->memory)
		munmap(link->memory, link->length);
	link->memory = NULL;
	dart_tea_hash__free(link->hash);
	link->hash = NULL;
}

/* ---- the table in memory */

static int read_geometry(struct table *table, const json_t *description, struct dart_error *error)
{
	json_int_t rows_log2, cells, key, value, packet, epoch;
	struct dart_tea_geometry geometry;

	if (json_unpack((json_t *)description, "{s:I, s:I, s:I, s:I, s:I, s:I}", "rows_log2",
			&rows_log2, "cells", &cells, "key_length", &key, "value_length", &value,
			"packet_length", &packet, "epoch", &epoch) ||
	    rows_log2 < 0 || rows_log2 > DART_TEA_ROWS_LOG2_MAX || cells < 0 ||
	    cells > DART_TEA_CELLS_MAX || packet < 0 || packet > UINT16_MAX || epoch < 1 ||
	    epoch > DART_TEA_EPOCH_MAX || key < 0 || key > DART_TEA_KEY_MAX || value < 0 ||
	    value > DART_TEA_VALUE_MAX)
		return dart_error__set(error, EPROTO, "cannot understand dartd's table '%s'",
				       table->settings->name);
	geometry = (struct dart_tea_geometry){
		.rows_log2 = rows_log2,
		.cells = cells,
		.key_length = key,
		.value_length = value,
		.packet_length = packet,
	};
	return table__take_geometry(table, &geometry, epoch, error);
}

static int map_memory(struct table *table, int fd, struct dart_error *error)
{
	struct link *link = link_of(table);
	struct stat status;
	int ret;

	link->length = dart_tea_geometry__length(&table->geometry);
	if (fd < 0 || fstat(fd, &status) || (uint64_t)status.st_size < link->length)
		return dart_error__set(error, EPROTO, "dartd's table '%s' is too short",
				       table->settings->name);
	link->memory = mmap(NULL, link->length, PROT_READ, MAP_SHARED, fd, 0);
	if (link->memory == MAP_FAILED) {
		link->memory = NULL;
		return dart_error__system(error, errno, "cannot map table '%s'",
					  table->settings->name);
	}
	link->walk = (struct dart_tea_walk){};
	ret = dart_tea_hash__new(&table->geometry, &link->hash);
	return ret ? dart_error__system(error, -ret, "cannot read table '%s'",
					table->settings->name) :
		     0;
}

static bool next_entry(struct table *table, uint8_t entry[static ENTRY_MAX])
{
	struct link *link = link_of(table);
	bool is_stashed;

	return dart_tea_lookup__next(link->hash, link->memory, &link->walk, entry, &is_stashed);
}

static bool has_entry(const struct table *table, size_t number, const struct change *change)
{
	const struct link *link = link_of(table);
	uint8_t value[DART_TEA_VALUE_MAX];

	return !dart_tea_lookup__memory(link->hash, table->epoch, link->memory, change->entry,
					value) &&
	       !memcmp(value, change->entry + table->settings->key_length,
		       table->settings->value_length);
}

/* ---- replies */

static int take_opened(struct table *table, const json_t *reply, int fd, struct dart_error *error)
{
	int ret;

	ret = read_geometry(table, json_object_get(reply, "table"), error) ?:
		      map_memory(table, fd, error);
	if (!ret)
		table__opened(table);
	return ret;
}

static int take_changed(struct table *table, const json_t *reply, struct dart_error *error)
{
	json_int_t inserted, changed, removed, full, foreign;
	struct change_counts counts;

	if (json_unpack((json_t *)reply, "{s:{s:I, s:I, s:I, s:I, s:I}}", "changes", "inserted",
			&inserted, "changed", &changed, "removed", &removed, "full", &full,
			"foreign", &foreign))
		return dart_error__set(error, EPROTO,
				       "cannot understand what dartd says about changes");
	counts = (struct change_counts){
		.inserted = inserted + changed,
		.removed = removed,
		.full = full,
		.foreign = foreign,
	};
	table__changed(table, &counts);
	return 0;
}

/* ---- events */

/* Sends and receives as far as that does not block.  The table may be away afterwards. */
static int proceed(struct table *table, struct dart_error *error)
{
	json_t *reply = NULL;
	int ret, fd = -1;

	while (table->is_asked) {
		ret = dart_registration_client__proceed(&link_of(table)->client, &reply, &fd,
							error);
		if (ret == -EAGAIN && !reply)
			break;
		table__answered(table);
		if (!ret)
			ret = table->state == OPENING ? take_opened(table, reply, fd, error) :
							take_changed(table, reply, error);
		json_decref(reply);
		reply = NULL;
		if (fd >= 0)
			close(fd);
		ret = ret ?: table__send_changes(table, error);
		if (ret)
			return ret;
	}
	return 0;
}

static int wait_on(struct table *table, struct dart_error *error)
{
	struct link *link = link_of(table);
	/* The events of poll(2) are those of epoll(7); without a request, the end of dartd. */
	const uint32_t events = table->is_asked ? dart_registration_client__events(&link->client) :
						  EPOLLIN;
	const int ret = sd_event_source_set_io_events(link->io, events);

	return ret < 0 ? dart_error__system(error, -ret, "cannot wait for dartd") : 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct table *table = data;
	struct dart_error error;
	int ret;

	if (!table->is_asked) {
		table__go_away(table, "dartd has disconnected");
		return 0;
	}
	ret = proceed(table, &error);
	if (!ret && table->state != AWAY)
		ret = wait_on(table, &error);
	if (ret)
		table__go_away(table, error.text);
	return 0;
}

static int begin(struct table *table, json_t *request, int fd, struct dart_error *error)
{
	int ret;

	if (!request)
		return dart_error__set(error, EINVAL,
				       "out of memory, or the name of the table is not UTF-8");
	ret = dart_registration_client__begin(&link_of(table)->client, request, fd, error);
	json_decref(request);
	return ret ?: table__await(table, error) ?: wait_on(table, error);
}

static uint32_t batch_of(const struct table *table)
{
	return BATCH;
}

static int send_changes(struct table *table, struct dart_error *error)
{
	struct link *link = link_of(table);

	table__take_changes(table, link->records);
	return begin(table,
		     json_pack("{s:s, s:s, s:I}", "request", "table-change", "name",
			       table->settings->name, "count", (json_int_t)table->asked),
		     link->fd, error);
}

static int open_link(struct table *table, struct dart_error *error)
{
	struct link *link = link_of(table);
	int ret;

	ret = dart_registration_client__open_now(&link->client, table->settings->socket, error);
	if (ret)
		return ret;
	ret = sd_event_add_io(table->event, &link->io, link->client.socket, EPOLLIN, on_io, table);
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot wait for dartd");
	return begin(table,
		     json_pack("{s:s, s:s}", "request", "table-open", "name",
			       table->settings->name),
		     -1, error);
}

/* ---- life */

static int prepare_link(struct table *table, struct dart_error *error)
{
	const size_t length = BATCH * table__record_length(table);
	struct link *link = calloc(1, sizeof(*link));

	if (!link)
		return dart_error__no_memory(error);
	table->link = link;
	link->client.socket = link->client.fd = -1;
	link->fd = memfd_create("changes", MFD_CLOEXEC);
	if (link->fd < 0 || ftruncate(link->fd, length))
		return dart_error__system(error, errno, "cannot create a file in memory");
	link->records = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, link->fd, 0);
	if (link->records != MAP_FAILED)
		return 0;
	link->records = NULL;
	return dart_error__system(error, errno, "cannot map a file in memory");
}

static void free_link(struct table *table)
{
	struct link *link = link_of(table);

	if (!link)
		return;
	close_link(table);
	if (link->records)
		munmap(link->records, BATCH * table__record_length(table));
	if (link->fd >= 0)
		close(link->fd);
	free(link);
}

const struct table_way table_socket = {
	.pause_us = PAUSE_US,
	.long_pause_us = PAUSE_US,
	.batch = batch_of,
	.prepare = prepare_link,
	.free = free_link,
	.open = open_link,
	.close = close_link,
	.next = next_entry,
	.send = send_changes,
	.has_entry = has_entry,
};

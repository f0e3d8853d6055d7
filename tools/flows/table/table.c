// SPDX-License-Identifier: GPL-2.0-only
/* Talks to dartd about one lookup table: see table.h. */
#include "table.h"

#include <dart/registration.h>
#include <dart/tea_access.h>
#include <errno.h>
#include <jansson.h>
#include <libdart/registration/client.h>
#include <libdart/tea/tea_lookup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAUSE_US 500000 /* before dartd is tried again */
#define ENTRY_MAX (DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX)
#define BATCH DART_REGISTRATION_TABLE_CHANGES_MAX

enum state { AWAY, OPENING, THERE };

struct change {
	void *token;
	uint8_t operation;
	uint8_t entry[ENTRY_MAX];
};

struct table {
	const struct table_settings *settings;
	const struct table_handlers *handlers;
	void *subject;
	sd_event *event;
	sd_event_source *timer, *io, *later;
	enum state state;
	char said[DART_ERROR_MAX]; /* the last reason, told once */

	struct dart_registration_client client;
	bool is_asked; /* a request has no reply yet */

	/* The table in memory, while it is there. */
	struct dart_tea_geometry geometry;
	struct dart_tea_hash *hash;
	uint32_t epoch;
	void *memory;
	size_t length;

	/* A ring of changes: the first @asked are in the request. */
	struct change *changes;
	size_t first, count, size, asked;
	uint8_t *records; /* of the request, shared with dartd */
	int fd;

	struct table_counts counts;
};

/* ---- dartd comes and goes */

static void go_away(struct table *table, const char *reason)
{
	const bool was_there = table->state == THERE;

	table->io = sd_event_source_disable_unref(table->io);
	dart_registration_client__close(&table->client);
	if (table->memory)
		munmap(table->memory, table->length);
	table->memory = NULL;
	dart_tea_hash__free(table->hash);
	table->hash = NULL;
	table->state = AWAY;
	table->is_asked = false;
	table->first = table->count = table->asked = table->counts.waiting = 0;
	sd_event_source_set_enabled(table->later, SD_EVENT_OFF);
	if (was_there || strcmp(table->said, reason)) {
		snprintf(table->said, sizeof(table->said), "%s", reason);
		table->handlers->connected(table->subject, false, reason);
	}
	sd_event_source_set_time_relative(table->timer, PAUSE_US);
	sd_event_source_set_enabled(table->timer, SD_EVENT_ONESHOT);
}

static void fail(struct table *table, struct dart_error *error)
{
	go_away(table, error->text);
}

/* ---- changes */

static struct change *change_at(struct table *table, size_t number)
{
	return &table->changes[(table->first + number) & (table->size - 1)];
}

static size_t record_length(const struct table *table)
{
	return 1 + table->settings->key_length + table->settings->value_length;
}

/* Makes place for one more. */
static bool grow(struct table *table)
{
	const size_t size = table->size ? 2 * table->size : BATCH;
	struct change *changes = malloc(size * sizeof(*changes));
	size_t i;

	if (!changes)
		return false;
	for (i = 0; i < table->count; i++)
		changes[i] = *change_at(table, i);
	free(table->changes);
	table->changes = changes;
	table->first = 0;
	table->size = size;
	return true;
}

static void add(struct table *table, uint8_t operation, const uint8_t *key, const uint8_t *value,
		void *token)
{
	const struct table_settings *settings = table->settings;
	struct change *change;

	if (table->state != THERE)
		return;
	if (table->count == table->size && !grow(table)) {
		go_away(table, "out of memory");
		return;
	}
	change = change_at(table, table->count++);
	change->operation = operation;
	change->token = token;
	memcpy(change->entry, key, settings->key_length);
	memset(change->entry + settings->key_length, 0, settings->value_length);
	if (value)
		memcpy(change->entry + settings->key_length, value, settings->value_length);
	table->counts.waiting = table->count;
	/* Sent at the end of this turn of the loop, with others of it. */
	sd_event_source_set_enabled(table->later, SD_EVENT_ONESHOT);
}

void table__insert(struct table *table, const uint8_t *key, const uint8_t *value, void *token)
{
	add(table, DART_REGISTRATION_TABLE_INSERT, key, value, token);
}

void table__remove(struct table *table, const uint8_t *key, void *token)
{
	add(table, DART_REGISTRATION_TABLE_REMOVE, key, NULL, token);
}

/* ---- the table in memory */

static int begin(struct table *table, json_t *request, int fd, struct dart_error *error)
{
	int ret;

	if (!request)
		return dart_error__set(error, EINVAL,
				       "out of memory, or the name of the table is not UTF-8");
	ret = dart_registration_client__begin(&table->client, request, fd, error);
	json_decref(request);
	table->is_asked = !ret;
	return ret;
}

static int read_geometry(struct table *table, const json_t *description, struct dart_error *error)
{
	json_int_t rows_log2, cells, key, value, packet, epoch;

	if (json_unpack((json_t *)description, "{s:I, s:I, s:I, s:I, s:I, s:I}", "rows_log2",
			&rows_log2, "cells", &cells, "key_length", &key, "value_length", &value,
			"packet_length", &packet, "epoch", &epoch) ||
	    rows_log2 < 0 || rows_log2 > DART_TEA_ROWS_LOG2_MAX || cells < 0 ||
	    cells > DART_TEA_CELLS_MAX || packet < 0 || packet > UINT16_MAX || epoch < 1 ||
	    epoch > DART_TEA_EPOCH_MAX)
		return dart_error__set(error, EPROTO, "cannot understand dartd's table '%s'",
				       table->settings->name);
	if (key != table->settings->key_length || value != table->settings->value_length)
		return dart_error__set(
			error, EINVAL,
			"table '%s' has keys of %lld bytes and values of %lld, not %u and %u as the function needs (see 'dartctl table create')",
			table->settings->name, (long long)key, (long long)value,
			table->settings->key_length, table->settings->value_length);
	table->geometry = (struct dart_tea_geometry){
		.rows_log2 = rows_log2,
		.cells = cells,
		.key_length = key,
		.value_length = value,
		.packet_length = packet,
	};
	table->epoch = epoch;
	if (dart_tea_geometry__check(&table->geometry))
		return dart_error__set(error, EPROTO, "dartd's table '%s' has an invalid geometry",
				       table->settings->name);
	return 0;
}

static int map_memory(struct table *table, int fd, struct dart_error *error)
{
	struct stat status;
	int ret;

	table->length = dart_tea_geometry__length(&table->geometry);
	if (fd < 0 || fstat(fd, &status) || (uint64_t)status.st_size < table->length)
		return dart_error__set(error, EPROTO, "dartd's table '%s' is too short",
				       table->settings->name);
	table->memory = mmap(NULL, table->length, PROT_READ, MAP_SHARED, fd, 0);
	if (table->memory == MAP_FAILED) {
		table->memory = NULL;
		return dart_error__system(error, errno, "cannot map table '%s'",
					  table->settings->name);
	}
	ret = dart_tea_hash__new(&table->geometry, &table->hash);
	return ret ? dart_error__system(error, -ret, "cannot read table '%s'",
					table->settings->name) :
		     0;
}

static void compare(struct table *table)
{
	uint8_t entry[ENTRY_MAX];
	struct dart_tea_walk walk = {};
	bool is_stashed;

	table->counts.comparisons++;
	while (dart_tea_lookup__next(table->hash, table->memory, &walk, entry, &is_stashed)) {
		if (table->handlers->see(table->subject, entry,
					 entry + table->settings->key_length))
			continue;
		table->counts.stray++;
		table__remove(table, entry, NULL);
	}
	table->handlers->compare(table->subject);
}

static int take_opened(struct table *table, const json_t *reply, int fd, struct dart_error *error)
{
	int ret;

	ret = read_geometry(table, json_object_get(reply, "table"), error) ?:
		      map_memory(table, fd, error);
	if (ret)
		return ret;
	table->state = THERE;
	table->said[0] = '\0';
	table->handlers->connected(table->subject, true, NULL);
	compare(table);
	return 0;
}

/* ---- requests of changes */

static void write_records(struct table *table)
{
	const size_t length = record_length(table);
	size_t i;

	table->asked = table->count < BATCH ? table->count : BATCH;
	for (i = 0; i < table->asked; i++) {
		const struct change *change = change_at(table, i);

		table->records[i * length] = change->operation;
		memcpy(table->records + i * length + 1, change->entry, length - 1);
	}
}

static int send_changes(struct table *table, struct dart_error *error)
{
	if (table->state != THERE || table->is_asked || !table->count)
		return 0;
	write_records(table);
	table->counts.requests++;
	return begin(table,
		     json_pack("{s:s, s:s, s:I}", "request", "table-change", "name",
			       table->settings->name, "count", (json_int_t)table->asked),
		     table->fd, error);
}

/* Has the table this entry? */
static bool has_entry(const struct table *table, const struct change *change)
{
	uint8_t value[DART_TEA_VALUE_MAX];

	return !dart_tea_lookup__memory(table->hash, table->epoch, table->memory, change->entry,
					value) &&
	       !memcmp(value, change->entry + table->settings->key_length,
		       table->settings->value_length);
}

/* Tells who waits for them.  Only if an entry was refused, each one is looked up. */
static void tell_changed(struct table *table, bool is_any_refused)
{
	bool is_there = true;
	struct change change;

	while (table->asked && table->state == THERE) {
		change = *change_at(table, 0);
		table->first++;
		table->count--;
		table->asked--;
		if (change.operation == DART_REGISTRATION_TABLE_INSERT && is_any_refused)
			is_there &= has_entry(table, &change);
		if (!change.token)
			continue;
		table->handlers->changed(table->subject, change.token,
					 change.operation == DART_REGISTRATION_TABLE_INSERT,
					 is_there);
		is_there = true;
	}
	table->counts.waiting = table->count;
}

static int take_changed(struct table *table, const json_t *reply, struct dart_error *error)
{
	json_int_t inserted, changed, removed, full, foreign;

	if (json_unpack((json_t *)reply, "{s:{s:I, s:I, s:I, s:I, s:I}}", "changes", "inserted",
			&inserted, "changed", &changed, "removed", &removed, "full", &full,
			"foreign", &foreign))
		return dart_error__set(error, EPROTO,
				       "cannot understand what dartd says about changes");
	table->counts.inserted += inserted + changed;
	table->counts.removed += removed;
	table->counts.full += full;
	table->counts.foreign += foreign;
	tell_changed(table, full || foreign);
	return 0;
}

/* ---- events */

/* Sends and receives as far as that does not block. */
static int proceed(struct table *table, struct dart_error *error)
{
	json_t *reply = NULL;
	int ret, fd = -1;

	while (table->is_asked) {
		ret = dart_registration_client__proceed(&table->client, &reply, &fd, error);
		if (ret == -EAGAIN && !reply)
			break;
		table->is_asked = false;
		if (!ret)
			ret = table->state == OPENING ? take_opened(table, reply, fd, error) :
							take_changed(table, reply, error);
		json_decref(reply);
		reply = NULL;
		if (fd >= 0)
			close(fd);
		ret = ret ?: send_changes(table, error);
		if (ret)
			return ret;
	}
	return 0;
}

static uint32_t events_of(const struct table *table)
{
	/* The events of poll(2) are those of epoll(7); without a request, the end of dartd. */
	return table->is_asked ? dart_registration_client__events(&table->client) : EPOLLIN;
}

static void go_on(struct table *table)
{
	struct dart_error error;
	int ret = proceed(table, &error);

	if (!ret && table->state == AWAY)
		return;
	if (!ret)
		ret = sd_event_source_set_io_events(table->io, events_of(table));
	if (ret == -ENOMEM)
		dart_error__no_memory(&error);
	if (ret)
		fail(table, &error);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct table *table = data;

	if (table->is_asked)
		go_on(table);
	else
		go_away(table, "dartd has disconnected");
	return 0;
}

static int on_later(sd_event_source *source, void *data)
{
	struct table *table = data;
	struct dart_error error;

	if (table->is_asked)
		return 0;
	if (send_changes(table, &error))
		fail(table, &error);
	else if (table->is_asked)
		go_on(table);
	return 0;
}

static int connect_to_dartd(struct table *table, struct dart_error *error)
{
	int ret;

	ret = dart_registration_client__open_now(&table->client, table->settings->socket, error);
	if (ret)
		return ret;
	ret = sd_event_add_io(table->event, &table->io, table->client.socket, EPOLLIN, on_io,
			      table);
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot wait for dartd");
	table->state = OPENING;
	return begin(table,
		     json_pack("{s:s, s:s}", "request", "table-open", "name",
			       table->settings->name),
		     -1, error);
}

static int on_time(sd_event_source *source, uint64_t usec, void *data)
{
	struct table *table = data;
	struct dart_error error;

	if (table->state != AWAY)
		return 0;
	if (connect_to_dartd(table, &error))
		fail(table, &error);
	else
		go_on(table);
	return 0;
}

/* ---- life */

static int open_records(struct table *table, struct dart_error *error)
{
	const size_t length = BATCH * record_length(table);

	table->fd = memfd_create("changes", MFD_CLOEXEC);
	if (table->fd < 0 || ftruncate(table->fd, length))
		return dart_error__system(error, errno, "cannot create a file in memory");
	table->records = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, table->fd, 0);
	if (table->records != MAP_FAILED)
		return 0;
	table->records = NULL;
	return dart_error__system(error, errno, "cannot map a file in memory");
}

int table__new(sd_event *event, const struct table_settings *settings,
	       const struct table_handlers *handlers, void *subject, struct table **made,
	       struct dart_error *error)
{
	struct table *table = calloc(1, sizeof(*table));
	int ret;

	if (!table)
		return dart_error__no_memory(error);
	table->settings = settings;
	table->handlers = handlers;
	table->subject = subject;
	table->event = event;
	table->client.socket = table->client.fd = table->fd = -1;
	ret = open_records(table, error);
	if (ret)
		goto err_free;
	ret = sd_event_add_time_relative(event, &table->timer, CLOCK_MONOTONIC, 0, 1000, on_time,
					 table);
	if (ret >= 0)
		ret = sd_event_add_defer(event, &table->later, on_later, table);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(table->later, SD_EVENT_OFF);
	if (ret < 0) {
		ret = dart_error__system(error, -ret, "cannot set up the event loop");
		goto err_free;
	}
	*made = table;
	return 0;

err_free:
	table__free(table);
	return ret;
}

void table__free(struct table *table)
{
	if (!table)
		return;
	sd_event_source_disable_unref(table->io);
	sd_event_source_disable_unref(table->later);
	sd_event_source_disable_unref(table->timer);
	dart_registration_client__close(&table->client);
	if (table->memory)
		munmap(table->memory, table->length);
	dart_tea_hash__free(table->hash);
	if (table->records)
		munmap(table->records, BATCH * record_length(table));
	if (table->fd >= 0)
		close(table->fd);
	free(table->changes);
	free(table);
}

bool table__is_there(const struct table *table)
{
	return table->state == THERE;
}

uint32_t table__frame_length(const struct table *table)
{
	return table->geometry.packet_length;
}

const struct table_counts *table__counts(struct table *table)
{
	return &table->counts;
}

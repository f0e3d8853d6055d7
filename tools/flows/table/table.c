// SPDX-License-Identifier: GPL-2.0-only
/* Compares a lookup table with the flows, and changes it: see table.h. */
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table_internal.h"

#define SECOND_US 1000000ULL
#define RING 2048 /* changes that it has place for at first */

/* ---- dartd comes and goes */

void table__go_away(struct table *table, const char *reason)
{
	const struct table_server *server = table->settings->server;
	const bool was_there = table->state == THERE;
	bool is_other;
	struct dart_error whole;

	if (server) {
		dart_error__set(&whole, EIO, "dartd at %s: %s", server->address, reason);
		reason = whole.text;
	}
	table->settings->way->close(table);
	table->state = AWAY;
	table__answered(table);
	table->first = table->count = table->asked = table->counts.waiting = 0;
	sd_event_source_set_enabled(table->later, SD_EVENT_OFF);
	is_other = was_there || strcmp(table->said, reason);
	if (is_other) {
		snprintf(table->said, sizeof(table->said), "%s", reason);
		table->handlers->connected(table->subject, false, reason);
	}
	sd_event_source_set_time_relative(table->timer,
					  is_other ? table->settings->way->pause_us :
						     table->settings->way->long_pause_us);
	sd_event_source_set_enabled(table->timer, SD_EVENT_ONESHOT);
}

static int on_time(sd_event_source *source, uint64_t usec, void *data)
{
	struct table *table = data;
	struct dart_error error;

	if (table->state != AWAY)
		return 0;
	table->state = OPENING;
	if (table->settings->way->open(table, &error))
		table__go_away(table, error.text);
	return 0;
}

/* ---- requests */

int table__await(struct table *table, struct dart_error *error)
{
	int ret = sd_event_source_set_time_relative(table->deadline, TABLE_DEADLINE_S * SECOND_US);

	table->is_asked = true;
	if (ret >= 0)
		ret = sd_event_source_set_enabled(table->deadline, SD_EVENT_ONESHOT);
	return ret < 0 ? dart_error__system(error, -ret, "cannot wait for dartd") : 0;
}

void table__answered(struct table *table)
{
	table->is_asked = false;
	sd_event_source_set_enabled(table->deadline, SD_EVENT_OFF);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *data)
{
	struct dart_error error;
	struct table *table = data;

	dart_error__set(&error, ETIMEDOUT, "%sno answer within %d s",
			table->settings->server ? "" : "dartd gives ", TABLE_DEADLINE_S);
	table__go_away(table, error.text);
	return 0;
}

/* ---- changes */

static struct change *change_at(struct table *table, size_t number)
{
	return &table->changes[(table->first + number) & (table->size - 1)];
}

size_t table__record_length(const struct table *table)
{
	return 1 + table->settings->key_length + table->settings->value_length;
}

/* Makes place for one more. */
static bool grow(struct table *table)
{
	const size_t size = table->size ? 2 * table->size : RING;
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
	if (table->count == settings->changes_max) {
		table__go_away(table, "dartd changes the table more slowly than flows come and go");
		return;
	}
	if (table->count == table->size && !grow(table)) {
		table__go_away(table, "out of memory");
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

void table__take_changes(struct table *table, uint8_t *records)
{
	const size_t length = table__record_length(table),
		     most = table->settings->way->batch(table);
	size_t i;

	table->asked = table->count < most ? table->count : most;
	for (i = 0; i < table->asked; i++) {
		const struct change *change = change_at(table, i);

		records[i * length] = change->operation;
		memcpy(records + i * length + 1, change->entry, length - 1);
	}
	table->counts.requests++;
	table->is_asked = true;
}

int table__send_changes(struct table *table, struct dart_error *error)
{
	if (table->state != THERE || table->is_asked || !table->count)
		return 0;
	return table->settings->way->send(table, error);
}

static int on_later(sd_event_source *source, void *data)
{
	struct table *table = data;
	struct dart_error error;

	if (table__send_changes(table, &error))
		table__go_away(table, error.text);
	return 0;
}

/* Tells who waits for them.  Only if an entry was refused, each one is looked up. */
static void tell_changed(struct table *table, bool is_any_refused)
{
	bool is_there = true;
	struct change change;
	size_t number = 0;

	while (table->asked && table->state == THERE) {
		change = *change_at(table, 0);
		table->first++;
		table->count--;
		table->asked--;
		if (change.operation == DART_REGISTRATION_TABLE_INSERT && is_any_refused)
			is_there &= table->settings->way->has_entry(table, number, &change);
		number++;
		if (!change.token)
			continue;
		table->handlers->changed(table->subject, change.token,
					 change.operation == DART_REGISTRATION_TABLE_INSERT,
					 is_there);
		is_there = true;
	}
	table->counts.waiting = table->count;
}

void table__changed(struct table *table, const struct change_counts *counts)
{
	table__answered(table);
	table->counts.inserted += counts->inserted;
	table->counts.removed += counts->removed;
	table->counts.full += counts->full;
	table->counts.foreign += counts->foreign;
	tell_changed(table, counts->full || counts->foreign);
}

/* ---- the table is there */

int table__take_geometry(struct table *table, const struct dart_tea_geometry *geometry,
			 uint32_t epoch, struct dart_error *error)
{
	const struct table_settings *settings = table->settings;

	if (geometry->key_length != settings->key_length ||
	    geometry->value_length != settings->value_length)
		return dart_error__set(
			error, EINVAL,
			"table '%s' has keys of %u bytes and values of %u, not %u and %u as the function needs (see 'dartctl table create')",
			settings->name, geometry->key_length, geometry->value_length,
			settings->key_length, settings->value_length);
	if (dart_tea_geometry__check(geometry) || !epoch || epoch > DART_TEA_EPOCH_MAX)
		return dart_error__set(error, EPROTO, "dartd's table '%s' has an invalid geometry",
				       settings->name);
	table->geometry = *geometry;
	table->epoch = epoch;
	return 0;
}

static void compare(struct table *table)
{
	uint8_t entry[ENTRY_MAX];

	table->counts.comparisons++;
	while (table->state == THERE && table->settings->way->next(table, entry)) {
		if (table->handlers->see(table->subject, entry,
					 entry + table->settings->key_length))
			continue;
		table->counts.stray++;
		table__remove(table, entry, NULL);
	}
	table->handlers->compare(table->subject);
}

void table__opened(struct table *table)
{
	table__answered(table);
	table->state = THERE;
	table->said[0] = '\0';
	table->handlers->connected(table->subject, true, NULL);
	compare(table);
}

/* ---- life */

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
	ret = table->settings->way->prepare(table, error);
	if (ret)
		goto err_free;
	ret = sd_event_add_time_relative(event, &table->deadline, CLOCK_MONOTONIC, 0, 1000,
					 on_deadline, table);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(table->deadline, SD_EVENT_OFF);
	if (ret >= 0)
		ret = sd_event_add_time_relative(event, &table->timer, CLOCK_MONOTONIC, 0, 1000,
						 on_time, table);
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
	sd_event_source_disable_unref(table->later);
	sd_event_source_disable_unref(table->timer);
	sd_event_source_disable_unref(table->deadline);
	table->settings->way->free(table);
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

const struct change_counts *table__counts(struct table *table)
{
	return &table->counts;
}

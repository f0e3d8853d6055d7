// SPDX-License-Identifier: GPL-2.0-only
/* Reads the state of simple_switch of BMv2 by its Thrift interface. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bmv2.h"
#include "call.h"

#define FOREIGN	UINT64_MAX	/* stands for the values of a foreign action */

int switch_bmv2__read_program(struct thrift *thrift,
			      struct switch_program *program,
			      struct dart_error *error)
{
	char *text = NULL;
	uint32_t length;
	json_t *json;
	int asked, ret;

	thrift__begin(thrift, SWITCH_STANDARD, "bm_get_config");
	asked = thrift__ask(thrift, THRIFT_STRING);
	if (!asked)
		text = thrift__text(thrift, &length);
	ret = thrift__end(thrift, asked, "its program", error);
	if (ret) {
		free(text);
		return ret;
	}
	json = json_loadb(text, length, 0, NULL);
	free(text);
	if (!json)
		return dart_error__set(error, EINVAL,
				       "its program is not JSON");
	return switch_program__read(program, json, error);
}

/* Most significant byte first; leading zeros may be missing. */
static uint64_t read_number(struct thrift *thrift)
{
	uint8_t bytes[sizeof(uint64_t)];
	uint32_t length = thrift__bytes(thrift, bytes, sizeof(bytes));
	uint64_t number = 0;
	uint32_t i;

	for (i = 0; i < length; i++)
		number = number << 8 | bytes[i];
	return number;
}

static void read_values(struct thrift *thrift, struct switch_entry *entry)
{
	uint32_t count = thrift__list(thrift, THRIFT_STRING), i;

	if (count > SWITCH_VALUES_MAX) {
		thrift__refuse(thrift);
		return;
	}
	for (i = 0; i < count; i++)
		entry->values[i] = read_number(thrift);
}

/* Reads an action with its values.  Is it the one of @table? */
static bool read_action(struct thrift *thrift, const struct switch_table *table,
			struct switch_entry *entry)
{
	enum thrift_type type;
	bool is_ours = false;
	uint32_t length;
	char *name;
	int16_t id;

	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 2 && type == THRIFT_STRING) {
			name = thrift__text(thrift, &length);
			is_ours = name && length == strlen(table->action) &&
				  !memcmp(name, table->action, length);
			free(name);
		} else if (id == 3 && type == THRIFT_LIST) {
			read_values(thrift, entry);
		} else {
			thrift__skip(thrift, type);
		}
	}
	return is_ours;
}

static uint64_t read_exact(struct thrift *thrift)
{
	enum thrift_type type;
	uint64_t key = UINT64_MAX;
	int16_t id;

	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_STRING)
			key = read_number(thrift);
		else
			thrift__skip(thrift, type);
	}
	return key;
}

/* Reads a key of one part; UINT64_MAX if it has another form. */
static uint64_t read_key(struct thrift *thrift)
{
	uint64_t key = UINT64_MAX;
	enum thrift_type type;
	int16_t id;

	if (thrift__list(thrift, THRIFT_STRUCT) != 1) {
		thrift__refuse(thrift);
		return UINT64_MAX;
	}
	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 2 && type == THRIFT_STRUCT)
			key = read_exact(thrift);
		else
			thrift__skip(thrift, type);
	}
	return key;
}

static void read_entry(struct thrift *thrift, const struct switch_table *table,
		       struct switch_entry *entries)
{
	struct switch_entry entry = { .there = true };
	uint64_t key = UINT64_MAX;
	enum thrift_type type;
	bool is_ours = false;
	int16_t id;
	size_t i;

	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_LIST)
			key = read_key(thrift);
		else if (id == 3 && type == THRIFT_I32)
			entry.handle = thrift__i32(thrift);
		else if (id == 4 && type == THRIFT_STRUCT)
			is_ours = read_action(thrift, table, &entry);
		else
			thrift__skip(thrift, type);
	}
	if (key >= table->entries || entries[key].there) {
		thrift__refuse(thrift);
		return;
	}
	for (i = 0; i < SWITCH_VALUES_MAX && !is_ours; i++)
		entry.values[i] = FOREIGN;
	entries[key] = entry;
}

static int read_table(struct thrift *thrift, enum switch_table_number number,
		      struct switch_entry *entries, struct dart_error *error)
{
	const struct switch_table *table = &switch_tables[number];
	uint32_t i, count = 0;
	int asked;

	switch_call__begin(thrift, "bm_mt_get_entries", table->name);
	asked = thrift__ask(thrift, THRIFT_LIST);
	if (!asked)
		count = thrift__list(thrift, THRIFT_STRUCT);
	if (count > table->entries) {
		thrift__refuse(thrift);
		count = 0;
	}
	for (i = 0; i < count; i++)
		read_entry(thrift, table, entries);
	return thrift__end(thrift, asked, table->name, error);
}

static int read_reporter(struct thrift *thrift, struct switch_state *state,
			 struct dart_error *error)
{
	const struct switch_table *table = &switch_tables[SWITCH_REPORTER];
	int asked;

	switch_call__begin(thrift, "bm_mt_get_default_entry", table->name);
	asked = thrift__ask(thrift, THRIFT_STRUCT);
	if (!asked)
		state->reporter.there = read_action(thrift, table,
						    &state->reporter);
	return thrift__end(thrift, asked, table->name, error);
}

/* Any refusal means that the session does not exist. */
static int read_session(struct thrift *thrift, uint16_t port,
			struct switch_state *state, struct dart_error *error)
{
	int32_t *found = &state->sessions[port];
	enum thrift_type type;
	int32_t to = -1;
	bool is_group = false;
	int16_t id;
	int asked;

	thrift__begin(thrift, SWITCH_SIMPLE_SWITCH, "mirroring_session_get");
	thrift__put_i32(thrift, 1, 1 + port);
	asked = thrift__ask(thrift, THRIFT_STRUCT);
	while (!asked && (type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_I32) {
			to = thrift__i32(thrift);
		} else {
			is_group |= id == 2;
			thrift__skip(thrift, type);
		}
	}
	if (asked)
		*found = SWITCH_SESSION_NONE;
	else
		*found = is_group || to < 0 ? SWITCH_SESSION_OTHER : to;
	return thrift__end(thrift, 0, NULL, error);
}

int switch_bmv2__read(struct thrift *thrift, const struct switch_wish *wish,
		      struct switch_state *state, struct dart_error *error)
{
	uint32_t i;
	int ret;

	ret = read_table(thrift, SWITCH_SHARES, state->shares, error) ?:
		      read_table(thrift, SWITCH_COLLECTORS, state->collectors,
			 error) ?:
		      read_reporter(thrift, state, error);
	for (i = 0; !ret && i < wish->collectors.count; i++)
		ret = read_session(thrift, wish->ports[i], state, error);
	return ret;
}

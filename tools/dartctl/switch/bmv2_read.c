// SPDX-License-Identifier: GPL-2.0-only
/* Reads the state of simple_switch of BMv2 by its Thrift interface. */
#include <errno.h>
#include <stdlib.h>

#include "bmv2.h"
#include "bmv2_group.h"
#include "bmv2_table.h"
#include "call.h"

int switch_bmv2__read_program(struct thrift *thrift,
			      const struct switch_kind *kind,
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
	return switch_program__read(program, kind, json, error);
}

/* Where the entries of a table go. */
struct entries {
	uint32_t count;
	struct switch_entry *list; /* by key */
};

static bool take_entry(void *subject, const struct bmv2_entry *entry)
{
	const struct entries *entries = subject;
	const uint64_t key = bmv2_bytes__number(&entry->key);

	if (key >= entries->count || entries->list[key].there)
		return false;
	bmv2_entry__numbers(entry, &entries->list[key]);
	return true;
}

static int read_table(struct thrift *thrift, enum switch_table_number number,
		      struct switch_entry *list, struct dart_error *error)
{
	const struct switch_table *table = &switch_tables[number];
	struct entries entries = { table->entries, list };

	return bmv2_table__read(thrift, table->name, table->action,
				table->entries, take_entry, &entries, error);
}

static int read_reporter(struct thrift *thrift, struct switch_state *state,
			 struct dart_error *error)
{
	const struct switch_table *table = &switch_tables[SWITCH_REPORTER];
	struct bmv2_entry entry;
	int ret;

	ret = bmv2_table__read_default(thrift, table->name, table->action,
				       &entry, error);
	if (ret)
		return ret;
	bmv2_entry__numbers(&entry, &state->reporter);
	state->reporter.there = entry.is_ours;
	return 0;
}

int switch_bmv2__read(struct thrift *thrift, const struct switch_wish *wish,
		      struct switch_state *state, struct dart_error *error)
{
	uint32_t i;
	int ret;

	ret = read_table(thrift, SWITCH_SHARES, state->shares, error) ?:
		      read_table(thrift, SWITCH_COLLECTORS, state->collectors, error) ?:
		      read_reporter(thrift, state, error);
	for (i = 0; !ret && i < wish->collectors.count; i++)
		ret = bmv2_session__read(thrift, 1 + wish->ports[i],
					 &state->sessions[wish->ports[i]],
					 error);
	return ret;
}

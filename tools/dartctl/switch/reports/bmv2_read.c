// SPDX-License-Identifier: GPL-2.0-only
/* Reads the state of simple_switch of BMv2 by its Thrift interface. */
#include <errno.h>
#include <stdlib.h>

#include "bmv2.h"
#include "tools/dartctl/switch/bmv2/group.h"
#include "tools/dartctl/switch/bmv2/table.h"
#include "tools/dartctl/switch/thrift/call.h"

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

static int read_table(struct thrift *thrift, enum switch_table_number number,
		      struct switch_entry *entries, struct dart_error *error)
{
	return bmv2_table__read_numbers(thrift, &switch_tables[number], entries,
					error);
}

int switch_bmv2__read(struct thrift *thrift, const struct switch_wish *wish,
		      struct switch_state *state, struct dart_error *error)
{
	uint32_t i;
	int ret;

	ret = read_table(thrift, SWITCH_SHARES, state->shares, error) ?:
		      read_table(thrift, SWITCH_COLLECTORS, state->collectors, error) ?:
		      read_table(thrift, SWITCH_REPORTER, &state->reporter, error);
	for (i = 0; !ret && i < wish->collectors.count; i++)
		ret = bmv2_session__read(thrift, 1 + wish->ports[i],
					 &state->sessions[wish->ports[i]],
					 error);
	return ret;
}

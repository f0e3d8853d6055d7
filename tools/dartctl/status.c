// SPDX-License-Identifier: GPL-2.0-only
/* dartctl status: the state of dartd, a line for each member of its answer. */
#include "command.h"

static const struct table_column columns[] = {
	{ "", "key", false, NULL },
	{ "", "value", false, NULL },
	{ }
};

int status__print(json_t *status)
{
	json_t *lines = json_array(), *value;
	const char *key;
	int ret;

	json_object_foreach(status, key, value)
		json_array_append_new(lines,
				      json_pack("{s:s, s:O}", "key", key,
						"value", value));
	ret = table__print_objects(lines, columns);
	json_decref(lines);
	return ret;
}

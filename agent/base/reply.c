// SPDX-License-Identifier: GPL-2.0-only
/* Builds the JSON that all replies have in common. */
#include <string.h>

#include "reply.h"

json_t *reply__ok(const char *key, json_t *value)
{
	return json_pack("{s:b, s:s, s:o}", "ok", 1, "version", DART_VERSION,
			 key, value);
}

json_t *reply__error(int ret, const char *message)
{
	const char *name = strerrorname_np(-ret);

	return json_pack("{s:b, s:s, s:s, s:s}", "ok", 0, "version",
			 DART_VERSION, "error", name ?: "EIO", "message",
			 message);
}

char *reply__line(json_t *reply, size_t *length)
{
	char *line = json_dumps(reply, JSON_COMPACT);

	json_decref(reply);
	if (line) {
		*length = strlen(line) + 1;
		line[*length - 1] = '\n';
	}
	return line;
}

void reply__append(json_t **list, json_t *item)
{
	if (!json_array_append_new(*list, item))
		return;
	json_decref(*list);
	*list = NULL;
}

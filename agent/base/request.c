// SPDX-License-Identifier: GPL-2.0-only
/* Checks shared by the handlers of requests, and the JSON of replies. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <libdart/json.h>

#include "request.h"

int request__unpack(struct request *request, const char *format, ...)
{
	json_error_t json_error;
	va_list arguments;
	int ret;

	va_start(arguments, format);
	ret = json_vunpack_ex(request->members, &json_error, 0, format, arguments);
	va_end(arguments);
	if (ret)
		return dart_error__set(&request->error, EINVAL,
				       "invalid request: %s", json_error.text);
	return 0;
}

void request__keep(struct request *request, json_t *kept)
{
	json_decref(request->kept);
	request->kept = kept;
}

int request__check_owner(struct request *request, uid_t owner, const char *name)
{
	if (request->uid && request->uid != owner)
		return dart_error__set(
			&request->error, EPERM,
			"'%s' is another user's (only its owner and root may change it)", name);
	return 0;
}

json_t *reply__ok(const char *key, json_t *value)
{
	return json_pack("{s:b, s:s, s:o}", "ok", 1, "version", DART_VERSION, key, value);
}

json_t *reply__error(int ret, const char *message)
{
	const char *name = strerrorname_np(-ret);

	return json_pack("{s:b, s:s, s:s, s:s}", "ok", 0, "version", DART_VERSION, "error",
			 name ?: "EIO", "message", message);
}

char *reply__line(json_t *reply, size_t *length)
{
	char *line = dart_json__dumps(reply, JSON_COMPACT);

	json_decref(reply);
	if (line) {
		*length = strlen(line) + 1;
		line[*length - 1] = '\n';
	}
	return line;
}

char *reply__short(size_t *length)
{
	static const char line[] = "{\"ok\":true}\n";

	*length = sizeof(line) - 1;
	return strdup(line);
}

void reply__append(json_t **list, json_t *item)
{
	if (!json_array_append_new(*list, item))
		return;
	json_decref(*list);
	*list = NULL;
}

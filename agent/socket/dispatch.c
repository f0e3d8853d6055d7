// SPDX-License-Identifier: GPL-2.0-only
/* Parses a request, finds its type, checks what all types have in common. */
#include <errno.h>
#include <string.h>

#include <dart/registration.h>

#include "dispatch.h"

static const struct request_type *find_type(const struct request_table *tables,
					    const char *name, void **subject)
{
	const struct request_type *type;

	for (; name && tables->types; tables++) {
		*subject = tables->subject;
		for (type = tables->types; type->name; type++)
			if (!strcmp(type->name, name))
				return type;
	}
	return NULL;
}

static int check(const struct request_type *type, struct request *request)
{
	struct dart_error *error = &request->error;

	if (request->has_extra_fd ||
	    (request->fd >= 0 && type->fd == REQUEST_FD_NONE))
		return dart_error__set(
			error, EINVAL,
			"the request has more file descriptors than '%s' takes",
			type->name);
	if (request->fd < 0 && type->fd == REQUEST_FD_REQUIRED)
		return dart_error__set(error, EINVAL,
				       "'%s' lacks its file descriptor",
				       type->name);
	if (request->uid && type->only_root)
		return dart_error__set(error, EPERM, "only root may %s",
				       type->only_root);
	return 0;
}

static int parse(struct request *request, const char *line, size_t length)
{
	json_error_t json_error;

	if (!line)
		return dart_error__set(&request->error, EMSGSIZE,
				       "a request has at most %d bytes",
				       DART_REGISTRATION_REQUEST_MAX);
	request->members = json_loadb(line, length, JSON_REJECT_DUPLICATES,
				      &json_error);
	if (!request->members)
		return dart_error__set(&request->error, EINVAL, "not JSON: %s",
				       json_error.text);
	return 0;
}

/* Unpacks the members, unless the handler does. */
static int unpack(const struct request_type *type, struct request *request)
{
	if (!type->member)
		return 0;
	if (!*type->member)
		return request__unpack(request, "{!}");
	return request__unpack(request, "{s:s !}", type->member, &request->text);
}

/* Hands the request to the handler of its type, which becomes @type. */
static int handle(const struct request_table *tables, struct request *request,
		  const struct request_type **type)
{
	json_t *name = json_object_get(request->members, "request");
	int ret;

	*type = find_type(tables, json_string_value(name), &request->subject);
	if (!*type)
		return dart_error__set(&request->error, EINVAL,
				       "no such request");
	ret = check(*type, request);
	if (ret)
		return ret;
	json_object_del(request->members, "request");
	ret = unpack(*type, request);
	return ret ?: (*type)->handle(request);
}

json_t *dispatch(const struct request_table *tables, struct request *request,
		 const char *line, size_t length)
{
	const struct request_type *type = NULL;
	int ret = parse(request, line, length) ?:
			  handle(tables, request, &type);

	json_decref(request->members);
	json_decref(request->kept);
	if (!ret)
		return reply__ok(type->result, request->result);
	request->is_refused = true;
	json_decref(request->result);
	return reply__error(ret, request->error.text);
}

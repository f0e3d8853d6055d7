// SPDX-License-Identifier: GPL-2.0-only
/* Parses a request, finds its type, and makes the checks that all types share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>

#include "dispatch.h"

const struct request_type *dispatch__find(const struct request_table *tables,
					  const char *name, void **subject)
{
	const struct request_type *type;

	for (; name && tables->types; tables++) {
		if (subject)
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

	if (request->has_extra_fd || (request->fd >= 0 && type->fd == REQUEST_FD_NONE))
		return dart_error__set(error, EINVAL,
				       "the request has more file descriptors than '%s' takes",
				       type->name);
	if (request->fd < 0 && type->fd == REQUEST_FD_REQUIRED)
		return dart_error__set(error, EINVAL, "'%s' lacks its file descriptor", type->name);
	if (request->uid && type->only_root)
		return dart_error__set(error, EPERM, "only root may %s", type->only_root);
	return 0;
}

static int parse(struct request *request, const char *line, size_t length)
{
	json_error_t json_error;

	if (!line)
		return dart_error__set(&request->error, EMSGSIZE, "a request has at most %d bytes",
				       DART_REGISTRATION_REQUEST_MAX);
	request->members = json_loadb(line, length, JSON_REJECT_DUPLICATES, &json_error);
	if (!request->members)
		return dart_error__set(&request->error, EINVAL, "not JSON: %s", json_error.text);
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

/* Takes out the member that tells the place of the descriptor. */
static int take_path(const struct request_type *type, struct request *request)
{
	json_t *path = json_object_get(request->members, "path");

	if (!path || !type->keeps || request->fd < 0)
		return 0;	/* if there is one, the handler refuses it */
	if (request->uid)
		return dart_error__set(&request->error, EPERM,
				       "only root may say where dartd shall open a file again");
	if (!json_is_string(path) || *json_string_value(path) != '/')
		return dart_error__set(&request->error, EINVAL, "a path begins with '/'");
	request->path = strdup(json_string_value(path));
	if (!request->path)
		return dart_error__no_memory(&request->error);
	json_object_del(request->members, "path");
	return 0;
}

/* Takes out the member that says that more such requests follow. */
static int take_more(const struct request_type *type, struct request *request)
{
	json_t *more = json_object_get(request->members, "more");

	if (!more || !(type->keeps || type->ends))
		return 0;	/* if there is one, the handler refuses it */
	if (!json_is_boolean(more))
		return dart_error__set(&request->error, EINVAL, "'more' is neither true nor false");
	request->has_more = json_is_true(more);
	json_object_del(request->members, "more");
	return 0;
}

int dispatch__members(const struct request_table *tables,
		      struct request *request, const struct request_type **type)
{
	json_t *name = json_object_get(request->members, "request");
	int ret;

	*type = dispatch__find(tables, json_string_value(name), &request->subject);
	if (!*type || (*type)->is_short)
		return dart_error__set(&request->error, EINVAL, "no such request");
	ret = check(*type, request);
	if (ret)
		return ret;
	json_object_del(request->members, "request");
	ret = take_path(*type, request)	     ?:
		      take_more(*type, request) ?:
		      unpack(*type, request);
	return ret ?: (*type)->handle(request);
}

/* The type of the short form @line, @length bytes; NULL: no type has such a line. */
static const struct request_type *find_short(const struct request_table *tables, const char *line,
					     size_t length, void **subject)
{
	static const char name[] = { DART_REGISTRATION_SHORT, '\0' };

	if (!line || !length || *line != DART_REGISTRATION_SHORT)
		return NULL;
	return dispatch__find(tables, name, subject);
}

/* Handles a short form, the text after the first of the @length bytes of @line. */
static int handle_short(const struct request_type *type, struct request *request, const char *line,
			size_t length)
{
	char *text;
	int ret = check(type, request);

	if (!ret && memchr(line, '\0', length))
		ret = dart_error__set(&request->error, EINVAL, "a NUL is in the request");
	if (ret)
		return ret;
	text = strndup(line + 1, length - 1);
	if (!text)
		return dart_error__no_memory(&request->error);
	request->text = text;
	ret = type->handle(request);
	request->text = NULL;
	free(text);
	return ret;
}

/* Returns the reply to a request of @type that succeeded. */
static json_t *reply_recorded(struct request_recorder *recorder, const struct request_type *type,
			      struct request *request)
{
	json_t *reply, *warning = NULL;

	if ((type->keeps || type->ends) && recorder->succeeded(recorder, type, request))
		warning = json_string(request->error.text);
	reply = reply__ok(type->result, request->result);
	if (warning && json_object_set_new(reply, "warning", warning)) {
		json_decref(reply);
		return NULL;
	}
	return reply;
}

json_t *dispatch(const struct request_table *tables, struct request_recorder *recorder,
		 struct request *request, const char *line, size_t length)
{
	const struct request_type *type = NULL;
	json_t *reply;
	int ret;

	type = find_short(tables, line, length, &request->subject);
	if (type)
		ret = handle_short(type, request, line, length);
	else
		ret = parse(request, line, length) ?: dispatch__members(tables, request, &type);
	if (ret == -ENOENT && type && type->ends && recorder->forget(recorder, type, request))
		ret = 0;
	if (!ret && type->is_short) {
		request->has_short_reply = true;
		reply = NULL;
	} else if (!ret && request->answer.length) {
		reply = NULL;
	} else if (!ret) {
		reply = reply_recorded(recorder, type, request);
	} else {
		request->is_refused = true;
		reply_text__clear(&request->answer);
		json_decref(request->result);
		reply = reply__error(ret, request->error.text);
	}
	json_decref(request->members);
	json_decref(request->kept);
	free(request->path);
	return reply;
}

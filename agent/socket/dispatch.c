// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <dart/registration.h>

#include "agent/agent.h"
#include "agent/base/log.h"
#include "agent/probe/probe_requests.h"
#include "agent/store/store_requests.h"
#include "agent/table/entry_json.h"
#include "agent/table/request_memory.h"
#include "agent/table/registry_requests.h"
#include "agent/base/reply.h"
#include "agent/base/request.h"

int request__unpack(json_t *object, struct dart_error *error,
		    const char *format, ...)
{
	json_error_t json_error;
	va_list arguments;
	int ret;

	va_start(arguments, format);
	ret = json_vunpack_ex(object, &json_error, 0, format, arguments);
	va_end(arguments);
	if (ret)
		return dart_error__set(error, EINVAL, "not a valid request: %s",
				       json_error.text);
	return 0;
}

static int register_map(struct agent *agent, const struct request *request,
			json_t *object, json_t **result,
			struct dart_error *error)
{
	const char *type, *name = NULL;
	struct entry *entry;
	int ret;

	ret = request__unpack(object, error, "{s:s, s?s !}", "request", &type,
			      "name", &name);
	if (ret)
		return ret;
	if (request->fd < 0)
		return dart_error__set(
			error, EINVAL,
			"the file descriptor of the map is missing");

	ret = registry__add_map(&agent->registry, request->fd, name, &entry,
				error);
	if (ret)
		return ret;
	entry->owner = request->uid;
	log__info("registered map %u as %s", entry->extent.map_id, entry->name);
	*result = describe__entry(agent, entry);
	return 0;
}

static int unregister(struct agent *agent, const struct request *request,
		      json_t *object, json_t **result, struct dart_error *error)
{
	const char *type, *name;
	struct follower *follower;
	struct entry *entry;
	int ret;

	ret = request__unpack(object, error, "{s:s, s:s !}", "request", &type,
			      "name", &name);
	if (ret)
		return ret;
	follower = followers__find(&agent->followers, name);
	if (follower)
		return request__unfollow(agent, request, follower, result,
					 error);
	entry = registry__find(&agent->registry, name);
	if (entry && entry->follower)
		return dart_error__set(error, EBUSY,
				       "'%s' is part of '%s' (unregister that)",
				       name, entry->follower->name);
	if (entry && request->uid && request->uid != entry->owner)
		return dart_error__set(
			error, EPERM,
			"'%s' is another user's (ask who registered it, or root)",
			name);
	ret = registry__remove(&agent->registry, name, &entry, error);
	if (ret)
		return ret;
	log__info("unregistered %s", entry->name);
	*result = describe__entry(agent, entry);
	return 0;
}

static int list(struct agent *agent, const struct request *request,
		json_t *object, json_t **result, struct dart_error *error)
{
	const char *type;
	int ret;

	ret = request__unpack(object, error, "{s:s !}", "request", &type);
	if (!ret)
		*result = describe__entries(agent);
	return ret;
}

static int show(struct agent *agent, const struct request *request,
		json_t *object, json_t **result, struct dart_error *error)
{
	const char *type, *name;
	struct entry *entry;
	int ret;

	ret = request__unpack(object, error, "{s:s, s:s !}", "request", &type,
			      "name", &name);
	if (ret)
		return ret;
	entry = registry__find(&agent->registry, name);
	if (!entry)
		return dart_error__set(error, ENOENT, "there is no entry '%s'",
				       name);
	return describe__values(agent, entry, result, error);
}

static int status(struct agent *agent, const struct request *request,
		  json_t *object, json_t **result, struct dart_error *error)
{
	const char *type;
	int ret;

	ret = request__unpack(object, error, "{s:s !}", "request", &type);
	if (!ret)
		*result = describe__status(agent);
	return ret;
}

static const struct kind {
	const char *name;
	request_handler *handle;
	const char *result;	/* its member in the reply */
	bool takes_fd;
} kinds[] = {
	{ "register-source", request__register_source, "entry", true },
	{ "follow-source", request__follow_source, "follow", true },
	{ "register-counters", request__register_counters, "entry", false },
	{ "new-slice", request__new_slice, "entry", false },
	{ "register-map", register_map, "entry", true },
	{ "unregister", unregister, "entry", false },
	{ "list", list, "entries", false },
	{ "show", show, "entry", false },
	{ "status", status, "status", false },
	{ "probe-list", request__probe_list, "probes", false },
	{ "probe-load", request__probe_load, "probe", false },
	{ "probe-unload", request__probe_unload, "probe", false },
	{ "store-create", request__store_create, "store", true },
	{ "store-delete", request__store_delete, "store", false },
	{ "store-list", request__store_list, "stores", false },
	{ "store-open", request__store_open, "store", false },
	{ "store-export", request__store_export, "collectors", false },
	{ "reporter-add", request__reporter_add, "reporter", false },
	{ "reporter-remove", request__reporter_remove, "reporter", false },
	{ "reporter-list", request__reporter_list, "reporters", false },
};

static const struct kind *find_kind(json_t *object)
{
	const char *name = json_string_value(json_object_get(object,
							     "request"));
	size_t i;

	for (i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static int check_fd(const struct request *request, const struct kind *kind,
		    struct dart_error *error)
{
	if (request->has_extra_fd || (request->fd >= 0 && !kind->takes_fd))
		return dart_error__set(error, EINVAL,
				       "a file descriptor too many");
	return 0;
}

json_t *request__handle(struct agent *agent, const struct request *request)
{
	json_t *object = NULL, *result = NULL;
	const struct kind *kind;
	json_error_t json_error;
	struct dart_error error;
	int ret;

	if (request->is_too_long) {
		ret = dart_error__set(&error, EMSGSIZE,
				      "a request has at most %d bytes",
				      DART_REGISTRATION_REQUEST_MAX);
		goto refuse;
	}

	object = json_loadb(request->line, request->length,
			    JSON_REJECT_DUPLICATES, &json_error);
	if (!object) {
		ret = dart_error__set(&error, EINVAL, "not JSON: %s",
				      json_error.text);
		goto refuse;
	}
	kind = find_kind(object);
	if (!kind) {
		ret = dart_error__set(&error, EINVAL, "no such request");
		goto refuse;
	}

	ret = check_fd(request, kind, &error);
	if (!ret)
		ret = kind->handle(agent, request, object, &result, &error);
	if (ret)
		goto refuse;
	json_decref(object);
	return reply__ok(kind->result, result);

refuse:
	json_decref(object);
	return reply__error(ret, error.text);
}

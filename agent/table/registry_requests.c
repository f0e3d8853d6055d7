// SPDX-License-Identifier: GPL-2.0-only
/* The requests about entries: register, unregister, list, show. */
#include <errno.h>

#include "agent/base/log.h"
#include "agent/base/reply.h"
#include "agent/schema/schema_json.h"
#include "registry_json.h"
#include "registry_requests.h"

/* The end of a request that registered @entry. */
static int reply_entry(const struct request *request, struct entry *entry,
		       json_t **result)
{
	entry->owner = request->uid;
	*result = registry_json__entry(entry);
	return 0;
}

static int register_source(void *registry, const struct request *request,
			   json_t **result, struct dart_error *error)
{
	struct selector_choice choice;
	const struct source *source;
	struct selector selector;
	struct entry *entry;
	int ret;

	ret = selector__unpack(request, &source, &choice, error);
	if (!ret)
		ret = selector__choose(&selector, source, &choice, error);
	if (ret)
		return ret;
	ret = registry__add_source(registry, &selector, NULL, &entry, error);
	selector__close(&selector);
	if (ret)
		return ret;
	log__info("registered source %s", entry->name);
	return reply_entry(request, entry, result);
}

static int register_map(void *registry, const struct request *request,
			json_t **result, struct dart_error *error)
{
	const char *name = NULL;
	struct entry *entry;
	int ret;

	ret = request__unpack(request, error, "{s?s !}", "name", &name);
	if (!ret)
		ret = registry__add_map(registry, request->fd, name, &entry,
					error);
	if (ret)
		return ret;
	log__info("registered map %u as %s", entry->extent.map_id, entry->name);
	return reply_entry(request, entry, result);
}

static int register_counters(void *registry, const struct request *request,
			     json_t **result, struct dart_error *error)
{
	struct entry *entry;
	json_t *names = NULL;
	const char *name;
	int ret;

	ret = request__unpack(request, error, "{s:s, s?o !}", "name", &name,
			      "counters", &names);
	if (!ret && names && !json_array_size(names))
		ret = dart_error__set(error, EINVAL,
				      "the list of counters has no name in it");
	if (!ret)
		ret = registry__add_counters(registry, name, names, &entry,
					     error);
	if (ret)
		return ret;
	log__info("registered counters %s", entry->name);
	return reply_entry(request, entry, result);
}

/* Not logged: there can be thousands in a second. */
static int new_slice(void *registry, const struct request *request,
		     json_t **result, struct dart_error *error)
{
	struct dart_schema *schema;
	struct entry *entry;
	const char *name;
	json_t *json;
	int ret;

	ret = request__unpack(request, error, "{s:s, s:o !}", "name", &name,
			      "schema", &json);
	if (!ret)
		ret = schema_json__new(json, &schema, error);
	if (!ret)
		ret = registry__add_slice(registry, name, schema,
					  request->reply_fd, &entry, error);
	return ret ?: reply_entry(request, entry, result);
}

static int unregister_group(struct entry_group *group,
			    const struct request *request, json_t **result,
			    struct dart_error *error)
{
	int ret;

	/* Only root registers groups. */
	ret = request__check_owner(request, 0, group->name, error);
	if (ret)
		return ret;
	*result = group->operations->describe(group);
	return group->operations->unregister(group, error);
}

static int unregister_entry(struct registry *registry, struct entry *entry,
			    const struct request *request, json_t **result,
			    struct dart_error *error)
{
	int ret;

	if (entry->group)
		return dart_error__set(error, EBUSY,
				       "'%s' is part of '%s' (unregister that)",
				       entry->name, entry->group->name);
	ret = request__check_owner(request, entry->owner, entry->name, error);
	if (!ret)
		ret = registry__remove(registry, entry->name, &entry, error);
	if (!ret)
		*result = registry_json__entry(entry);
	return ret;
}

static int find_entry(const struct registry *registry, const char *name,
		      struct entry **entry, struct dart_error *error)
{
	*entry = registry__find(registry, name);
	return *entry ? 0 :
			dart_error__set(error, ENOENT, "there is no entry '%s'",
					name);
}

static int unregister(void *registry, const struct request *request,
		      json_t **result, struct dart_error *error)
{
	struct entry_group *group;
	struct entry *entry;
	const char *name;
	int ret;

	ret = request__unpack(request, error, "{s:s !}", "name", &name);
	if (ret)
		return ret;
	group = registry__find_group(registry, name);
	if (group) {
		ret = unregister_group(group, request, result, error);
	} else {
		ret = find_entry(registry, name, &entry, error);
		if (!ret)
			ret = unregister_entry(registry, entry, request, result,
					       error);
	}
	if (!ret)
		log__info("unregistered %s", name);
	return ret;
}

static int list(void *registry, const struct request *request, json_t **result,
		struct dart_error *error)
{
	int ret = request__unpack(request, error, "{!}");

	if (!ret)
		*result = registry_json__list(registry);
	return ret;
}

static int show(void *registry, const struct request *request, json_t **result,
		struct dart_error *error)
{
	struct entry *entry;
	const char *name;
	int ret;

	ret = request__unpack(request, error, "{s:s !}", "name", &name);
	if (!ret)
		ret = find_entry(registry, name, &entry, error);
	return ret ?: registry_json__values(entry, result, error);
}

const struct request_type registry_requests[] = {
	{ "register-source", "entry", register_source,
	  "register a source of the kernel", REQUEST_FD_OPTIONAL },
	{ "register-map", "entry", register_map, NULL, REQUEST_FD_REQUIRED },
	{ "register-counters", "entry", register_counters, "register counters",
	  REQUEST_FD_NONE },
	{ "new-slice", "entry", new_slice, NULL, REQUEST_FD_NONE },
	{ "unregister", "entry", unregister, NULL, REQUEST_FD_NONE },
	{ "list", "entries", list, NULL, REQUEST_FD_NONE },
	{ "show", "entry", show, NULL, REQUEST_FD_NONE },
	{}
};

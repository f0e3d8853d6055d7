// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "agent/agent.h"
#include "agent/base/log.h"
#include "agent/schema/schema_json.h"
#include "entry_json.h"
#include "request_memory.h"

/* Not logged: there can be thousands in a second. */
int request__new_slice(struct agent *agent, const struct request *request,
		       json_t *object, json_t **result,
		       struct dart_error *error)
{
	struct dart_schema *schema;
	const char *type, *name;
	struct entry *entry;
	json_t *json;
	int ret;

	ret = request__unpack(object, error, "{s:s, s:s, s:o !}", "request",
			      &type, "name", &name, "schema", &json);
	if (!ret)
		ret = schema_json__new(json, &schema, error);
	if (ret)
		return ret;
	ret = registry__add_slice(&agent->registry, name, schema,
				  request->reply_fd, &entry, error);
	if (ret)
		return ret;
	entry->owner = request->uid;
	*result = describe__entry(agent, entry);
	return 0;
}

int request__register_counters(struct agent *agent,
			       const struct request *request, json_t *object,
			       json_t **result, struct dart_error *error)
{
	const char *type, *name;
	struct entry *entry;
	json_t *names = NULL;
	int ret;

	ret = request__unpack(object, error, "{s:s, s:s, s?o !}", "request",
			      &type, "name", &name, "counters", &names);
	if (ret)
		return ret;
	if (request->uid)
		return dart_error__set(error, EPERM,
				       "only root may register counters");
	if (names && !json_array_size(names))
		return dart_error__set(
			error, EINVAL,
			"counters are the names of one at least");
	ret = registry__add_counters(&agent->registry, name, names, &entry,
				     error);
	if (ret)
		return ret;
	log__info("registered counters %s", entry->name);
	*result = describe__entry(agent, entry);
	return 0;
}

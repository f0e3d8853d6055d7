// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "agent/agent.h"
#include "agent/base/log.h"
#include "probe_requests.h"

int request__probe_list(struct agent *agent, const struct request *request,
			json_t *object, json_t **result,
			struct dart_error *error)
{
	const char *type;
	int ret;

	ret = request__unpack(object, error, "{s:s !}", "request", &type);
	if (!ret)
		*result = probes__describe(&agent->probes);
	return ret;
}

/* Loads or unloads the probe that @object names. */
static int
change_probe(struct agent *agent, const struct request *request, json_t *object,
	     int (*change)(struct probes *probes, struct probe *probe,
			   struct dart_error *error),
	     json_t **result, struct dart_error *error)
{
	const char *type, *name;
	struct probe *probe;
	int ret;

	ret = request__unpack(object, error, "{s:s, s:s !}", "request", &type,
			      "name", &name);
	if (ret)
		return ret;
	if (request->uid)
		return dart_error__set(error, EPERM,
				       "only root may load or unload a probe");
	probe = probes__find(&agent->probes, name, error);
	if (!probe)
		return -ENOENT;

	ret = change(&agent->probes, probe, error);
	if (ret)
		return ret;
	log__info("%s probe %s", probe->object ? "loaded" : "unloaded", name);
	*result = probe__describe(&agent->probes, probe);
	return 0;
}

int request__probe_load(struct agent *agent, const struct request *request,
			json_t *object, json_t **result,
			struct dart_error *error)
{
	return change_probe(agent, request, object, probe__load, result, error);
}

int request__probe_unload(struct agent *agent, const struct request *request,
			  json_t *object, json_t **result,
			  struct dart_error *error)
{
	return change_probe(agent, request, object, probe__unload, result,
			    error);
}

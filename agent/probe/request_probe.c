// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "agent/agent.h"
#include "agent/base/log.h"
#include "request_probe.h"

int request__probe_list(struct agent *agent, const struct request *request,
			json_t *object, json_t **result, struct why *why)
{
	const char *type;
	int ret;

	ret = request__unpack(object, why, "{s:s !}", "request", &type);
	if (!ret)
		*result = probes__describe(&agent->probes);
	return ret;
}

/* Loads or unloads the probe that @object names. */
static int change_probe(struct agent *agent, const struct request *request,
			json_t *object,
			int (*change)(struct probes *probes,
				      struct probe *probe, struct why *why),
			json_t **result, struct why *why)
{
	const char *type, *name;
	struct probe *probe;
	int ret;

	ret = request__unpack(object, why, "{s:s, s:s !}", "request", &type,
			      "name", &name);
	if (ret)
		return ret;
	if (request->uid)
		return why__say(why, EPERM,
				"only root may load or unload a probe");
	probe = probes__find(&agent->probes, name, why);
	if (!probe)
		return -ENOENT;

	ret = change(&agent->probes, probe, why);
	if (ret)
		return ret;
	log__info("%s probe %s", probe->object ? "loaded" : "unloaded", name);
	*result = probe__describe(&agent->probes, probe);
	return 0;
}

int request__probe_load(struct agent *agent, const struct request *request,
			json_t *object, json_t **result, struct why *why)
{
	return change_probe(agent, request, object, probe__load, result, why);
}

int request__probe_unload(struct agent *agent, const struct request *request,
			  json_t *object, json_t **result, struct why *why)
{
	return change_probe(agent, request, object, probe__unload, result, why);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The requests about probes. */
#include <errno.h>

#include "agent/base/log.h"
#include "probe.h"
#include "probe_requests.h"

static int list(void *probes, const struct request *request, json_t **result,
		struct dart_error *error)
{
	int ret = request__unpack(request, error, "{!}");

	if (!ret)
		*result = probes__describe(probes);
	return ret;
}

/* Loads or unloads the probe that the request names. */
static int change_probe(struct probes *probes, const struct request *request,
			int (*change)(struct probes *probes,
				      struct probe *probe,
				      struct dart_error *error),
			json_t **result, struct dart_error *error)
{
	struct probe *probe;
	const char *name;
	int ret;

	ret = request__unpack(request, error, "{s:s !}", "name", &name);
	if (ret)
		return ret;
	probe = probes__find(probes, name, error);
	if (!probe)
		return -ENOENT;
	ret = change(probes, probe, error);
	if (ret)
		return ret;
	log__info("%s probe %s", probe->object ? "loaded" : "unloaded", name);
	*result = probe__describe(probes, probe);
	return 0;
}

static int load(void *probes, const struct request *request, json_t **result,
		struct dart_error *error)
{
	return change_probe(probes, request, probe__load, result, error);
}

static int unload(void *probes, const struct request *request, json_t **result,
		  struct dart_error *error)
{
	return change_probe(probes, request, probe__unload, result, error);
}

const struct request_type probe_requests[] = {
	{ "probe-list", "probes", list, NULL, REQUEST_FD_NONE },
	{ "probe-load", "probe", load, "load or unload a probe",
	  REQUEST_FD_NONE },
	{ "probe-unload", "probe", unload, "load or unload a probe",
	  REQUEST_FD_NONE },
	{}
};

// SPDX-License-Identifier: GPL-2.0-only
/* The requests about probes. */
#include <errno.h>

#include "agent/base/log.h"
#include "probe.h"

static int list_probes(struct request *request)
{
	int ret = request__unpack(request, "{!}");

	if (!ret)
		request->result = probes__describe(request->subject);
	return ret;
}

/* Loads or unloads the probe that the request names. */
static int change_probe(struct request *request,
			int (*change)(struct probes *probes,
				      struct probe *probe,
				      struct dart_error *error))
{
	struct probe *probe;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s !}", "name", &name);
	if (ret)
		return ret;
	probe = probes__find(request->subject, name, &request->error);
	if (!probe)
		return -ENOENT;
	ret = change(request->subject, probe, &request->error);
	if (ret)
		return ret;
	log__info("%s probe %s", probe->object ? "loaded" : "unloaded", name);
	request->result = probe__describe(request->subject, probe);
	return 0;
}

static int load_probe(struct request *request)
{
	return change_probe(request, probe__load);
}

static int unload_probe(struct request *request)
{
	return change_probe(request, probe__unload);
}

const struct request_type probe_requests[] = {
	{ "probe-list", "probes", list_probes, NULL, REQUEST_FD_NONE },
	{ "probe-load", "probe", load_probe, "load or unload a probe",
	  REQUEST_FD_NONE },
	{ "probe-unload", "probe", unload_probe, "load or unload a probe",
	  REQUEST_FD_NONE },
	{ }
};

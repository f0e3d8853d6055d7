// SPDX-License-Identifier: GPL-2.0-only
/* The requests about probes. */
#include <errno.h>

#include "agent/base/log.h"
#include "probe.h"

static int list_probes(struct request *request)
{
	const struct probes *probes = request->subject;
	size_t i;

	request->result = json_array();
	for (i = 0; i < probe_kind_count; i++)
		reply__append(&request->result,
			      probe__describe(probes, &probes->probes[i]));
	return 0;
}

/* Loads or unloads the probe that the request names. */
static int change_probe(struct request *request,
			int (*change)(struct probes *probes,
				      struct probe *probe,
				      struct dart_error *error))
{
	struct probe *probe;
	int ret;

	probe = probes__find(request->subject, request->text, &request->error);
	if (!probe)
		return -ENOENT;
	ret = change(request->subject, probe, &request->error);
	if (ret)
		return ret;
	log__info("%s probe %s", probe->object ? "loaded" : "unloaded",
		  request->text);
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
	{ "probe-list", "probes", list_probes, .member = "" },
	{ "probe-load", "probe", load_probe, .member = "name",
	  .only_root = "load or unload a probe", .keeps = "probe" },
	{ "probe-unload", "probe", unload_probe, .member = "name",
	  .only_root = "load or unload a probe", .ends = "probe" },
	{ }
};

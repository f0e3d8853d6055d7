// SPDX-License-Identifier: GPL-2.0-only
/* Makes the JSON of HTTP service discovery: prometheus.io/docs/prometheus/latest/http_sd. */
#include <errno.h>

#include "exposition_sd.h"

/* Samples of /metrics?target=NAME have none of these: Prometheus adds them. */
static json_t *labels_of(const char *name, const struct shared_text *labels)
{
	json_t *all = labels ? json_loads(labels->text, 0, NULL) : json_object();

	if (all && !json_object_set_new(all, "instance", json_string(name)) &&
	    !json_object_set_new(all, "__param_target", json_string(name)))
		return all;
	json_decref(all);
	return NULL;
}

int exposition_sd__add(json_t *list, const char *address, const char *name,
		       const struct shared_text *labels)
{
	json_t *all = labels_of(name, labels);
	json_t *group = all ? json_pack("{s[s] so}", "targets", address,
					"labels", all) :
			      NULL;

	return group && !json_array_append_new(list, group) ? 0 : -ENOMEM;
}

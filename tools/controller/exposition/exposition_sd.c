// SPDX-License-Identifier: GPL-2.0-only
/* Makes the JSON of HTTP service discovery: prometheus.io/docs/prometheus/latest/http_sd. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exposition_sd.h"

/* The labels by plain names; takes @all.  NULL if out of memory. */
static json_t *make_plain(json_t *all)
{
	struct named_label *labels = calloc(json_object_size(all) + 1, sizeof(*labels));
	json_t *plain = labels ? json_object() : NULL, *value;
	size_t count = 0, i;
	const char *name;

	json_object_foreach(all, name, value) {
		if (labels)
			labels[count++].given = name;
	}
	if (plain)
		label_names__choose(NULL, LABEL_NAMES_PLAIN, labels, count);
	for (i = 0; plain && i < count; i++) {
		if (*labels[i].own && json_object_set(plain, labels[i].own,
						      json_object_get(all, labels[i].given))) {
			json_decref(plain);
			plain = NULL;
		}
	}
	json_decref(all);
	free(labels);
	return plain;
}

/* Samples of /metrics?target=NAME have none of these: Prometheus adds them. */
static json_t *labels_of(const char *name, const struct shared_text *labels,
			 enum label_names_form form)
{
	json_t *all = labels ? json_loads(labels->text, 0, NULL) : json_object();

	if (all && form == LABEL_NAMES_PLAIN)
		all = make_plain(all);
	if (all && !json_object_set_new(all, "instance", json_string(name)) &&
	    !json_object_set_new(all, "__param_target", json_string(name)))
		return all;
	json_decref(all);
	return NULL;
}

enum label_names_form exposition_sd__form(const char *agent)
{
	static const char prometheus[] = "Prometheus/";

	return agent && !strncmp(agent, prometheus, sizeof(prometheus) - 1) &&
			       strtoul(agent + sizeof(prometheus) - 1, NULL, 10) < 3 ?
		       LABEL_NAMES_PLAIN :
		       LABEL_NAMES_UTF8;
}

int exposition_sd__add(json_t *list, const char *address, const char *name,
		       const struct shared_text *labels, enum label_names_form form)
{
	json_t *all = labels_of(name, labels, form);
	json_t *group = all ? json_pack("{s[s] so}", "targets", address,
					"labels", all) :
			      NULL;

	return group && !json_array_append_new(list, group) ? 0 : -ENOMEM;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Makes the JSON of HTTP service discovery: prometheus.io/docs/prometheus/latest/http_sd. */
#include "exposition_sd.h"

#include <errno.h>
#include <jansson.h>

/* The labels of a target that has one which Prometheus needs: that one is replaced. */
static char *replaced(const struct shared_text *labels, json_t *name)
{
	json_t *all = json_loads(labels->text, 0, NULL);
	char *text = NULL;

	if (all && !json_object_set(all, "instance", name) &&
	    !json_object_set(all, "__param_target", name))
		text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

static bool has_own(const struct shared_text *labels)
{
	return labels && (strstr(labels->text, "\"instance\"") ||
			  strstr(labels->text, "\"__param_target\""));
}

/* Samples of /metrics?target=NAME have none of these: Prometheus adds them. */
static void print_labels(FILE *file, const char *name,
			 const struct shared_text *labels)
{
	size_t length = labels ? strlen(labels->text) : 0;

	/* An object without its closing brace. */
	if (length > 2)
		fprintf(file, "%.*s,", (int)length - 1, labels->text);
	else
		fputs("{", file);
	fprintf(file, "\"instance\":%s,\"__param_target\":%s}", name, name);
}

int exposition_sd__print(FILE *file, const char *address, const char *name,
			 const struct shared_text *labels)
{
	json_t *json_name = json_string(name), *json_address = json_string(address);
	char *own_name = json_dumps(json_name, JSON_ENCODE_ANY);
	char *own_address = json_dumps(json_address, JSON_ENCODE_ANY);
	char *all = has_own(labels) ? replaced(labels, json_name) : NULL;
	int ret = own_name && own_address && (all || !has_own(labels)) ?
			  0 :
			  -ENOMEM;

	if (!ret) {
		fprintf(file, " {\n  \"targets\": [\n   %s\n  ],\n  \"labels\": ",
			own_address);
		if (all)
			fputs(all, file);
		else
			print_labels(file, own_name, labels);
		fputs("\n }", file);
	}
	free(all);
	free(own_name);
	free(own_address);
	json_decref(json_name);
	json_decref(json_address);
	return ret;
}

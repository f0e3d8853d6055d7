// SPDX-License-Identifier: GPL-2.0-only
/* Prints the JSON of HTTP service discovery: prometheus.io/docs/prometheus/latest/http_sd. */
#include "exposition_sd.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* True if all names in @text are plain.  It is JSON of labels__text(): ASCII without blanks. */
static bool has_plain_names(const char *text)
{
	const char *name, *end;

	for (name = strchr(text, '"'); name; name = *end == ',' ? end + 1 : NULL) {
		end = strchr(name + 1, '"');
		if (!end || name[1] == '\\' || (name[1] >= '0' && name[1] <= '9'))
			return false;
		for (name++; name < end; name++) {
			if (!isalnum((unsigned char)*name) && *name != '_')
				return false;
		}
		/* Skips the value, from its first character to its closing quotation mark. */
		for (end += 3; *end && *end != '"'; end++)
			end += *end == '\\' && end[1];
		if (*end)
			end++;
	}
	return true;
}

/* Renames the labels of @all, which it consumes, to plain names.  NULL if out of memory. */
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
		if (*labels[i].own &&
		    json_object_set(plain, labels[i].own, json_object_get(all, labels[i].given))) {
			json_decref(plain);
			plain = NULL;
		}
	}
	json_decref(all);
	free(labels);
	return plain;
}

/*
 * The labels of a target as JSON, with the "instance" and "__param_target" that Prometheus needs in
 * place of given ones, and in names that it accepts.  NULL if out of memory.
 */
static char *replaced(const struct shared_text *labels, json_t *name, enum label_names_form form)
{
	json_t *all = json_loads(labels->text, 0, NULL);
	char *text = NULL;

	if (all && form == LABEL_NAMES_PLAIN)
		all = make_plain(all);
	if (all && !json_object_set(all, "instance", name) &&
	    !json_object_set(all, "__param_target", name))
		text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

static bool is_replaced(const struct shared_text *labels, enum label_names_form form)
{
	return labels && (strstr(labels->text, "\"instance\"") ||
			  strstr(labels->text, "\"__param_target\"") ||
			  (form == LABEL_NAMES_PLAIN && !has_plain_names(labels->text)));
}

/* Prometheus adds these labels to the samples of /metrics?target=NAME, which carry none. */
static void print_labels(FILE *file, const char *name, const struct shared_text *labels)
{
	size_t length = labels ? strlen(labels->text) : 0;

	/* Copies the object without its closing brace. */
	if (length > 2)
		fprintf(file, "%.*s,", (int)length - 1, labels->text);
	else
		fputs("{", file);
	fprintf(file, "\"instance\":%s,\"__param_target\":%s}", name, name);
}

enum label_names_form exposition_sd__form(const char *agent)
{
	static const char prometheus[] = "Prometheus/";

	return agent && !strncmp(agent, prometheus, sizeof(prometheus) - 1) &&
			       strtoul(agent + sizeof(prometheus) - 1, NULL, 10) < 3 ?
		       LABEL_NAMES_PLAIN :
		       LABEL_NAMES_UTF8;
}

int exposition_sd__print(FILE *file, const char *address, const char *name,
			 const struct shared_text *labels, enum label_names_form form)
{
	const bool is_own = is_replaced(labels, form);
	json_t *json_name = json_string(name), *json_address = json_string(address);
	char *own_name = json_dumps(json_name, JSON_ENCODE_ANY);
	char *own_address = json_dumps(json_address, JSON_ENCODE_ANY);
	char *all = is_own ? replaced(labels, json_name, form) : NULL;
	int ret = own_name && own_address && (all || !is_own) ? 0 : -ENOMEM;

	if (!ret) {
		fprintf(file, " {\n  \"targets\": [\n   %s\n  ],\n  \"labels\": ", own_address);
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

// SPDX-License-Identifier: GPL-2.0-only
/* Parses lists of targets in Prometheus' JSON. */
#include "sd_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/text_file.h>

#include "tools/controller/labels.h"

/* What the labels of a group say about its targets. */
struct group {
	struct target_defaults defaults; /* borrowed, but for the labels */
	struct shared_text *labels;
	size_t number; /* from 1, for messages */
};

static int take_label(struct group *group, json_t *labels, const char *name,
		      const json_t *value, struct dart_error *error)
{
	struct target_defaults *defaults = &group->defaults;
	const char *text = json_string_value(value);
	struct dart_error reason;
	int ret;

	if (!text)
		return dart_error__set(error, EINVAL,
				       "group %zu: label '%s' is not a text",
				       group->number, name);
	if (!strcmp(name, "__scrape_interval__")) {
		if (!settings__parse_interval(text, &defaults->interval_ns))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"group %zu: '%s' is not an interval (expected 100us to 60min, e.g. 1s)",
			group->number, text);
	}
	if (!strcmp(name, "__class__")) {
		if (*text >= '0' && *text <= '0' + SETTINGS_CLASS_MAX &&
		    !text[1]) {
			defaults->class = *text - '0';
			return 0;
		}
		return dart_error__set(
			error, EINVAL,
			"group %zu: '%s' is not a class (expected 0 to %d, 0 first)",
			group->number, text, SETTINGS_CLASS_MAX);
	}
	if (!strcmp(name, "__transport__")) {
		if (!settings__parse_transport(text, &defaults->transport))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"group %zu: '%s' is not a transport (expected read, rpc or tcp)",
			group->number, text);
	}
	if (!strncmp(name, "__", 2))
		return 0;
	ret = labels__add(labels, name, text, &reason);
	if (ret == -EINVAL)
		dart_error__set(error, 0, "group %zu: %s", group->number,
				reason.text);
	return ret;
}

static int take_labels(struct group *group, json_t *object,
		       struct dart_error *error)
{
	json_t *labels = json_object(), *value;
	struct dart_error reason;
	const char *name;
	int ret = labels ? 0 : -ENOMEM;

	if (object && !json_is_object(object))
		ret = dart_error__set(error, EINVAL,
				      "group %zu: the labels are not an object",
				      group->number);
	json_object_foreach(object, name, value) {
		if (ret)
			break;
		ret = take_label(group, labels, name, value, error);
	}
	if (!ret) {
		ret = labels__text(labels, group->defaults.labels,
				   &group->labels, &reason);
		if (ret == -EINVAL)
			dart_error__set(error, 0, "group %zu: %s",
					group->number, reason.text);
	}
	json_decref(labels);
	return ret;
}

static int take_target(struct target_list_builder *builder,
		       const struct group *group, const char *text,
		       struct dart_error *error)
{
	struct target_item *item;
	char *host = NULL;
	uint16_t port;
	int ret;

	ret = text ? settings__parse_agent(text, &host, &port) : -EINVAL;
	if (!ret) {
		port = port ?: settings__default_port(group->defaults.transport);
		ret = target_list__add(builder, host, port, &item);
		free(host);
	}
	if (ret == -EINVAL)
		return dart_error__set(
			error, EINVAL,
			"group %zu: '%.300s' is not an agent (expected HOST, HOST:PORT or [V6]:PORT)",
			group->number, text ?: "?");
	if (ret == -E2BIG)
		return dart_error__set(error, EINVAL,
				       "there are more than %d agents",
				       SETTINGS_TARGETS_MAX);
	if (!ret)
		item->settings.labels = shared_text__hold(group->labels);
	return ret;
}

static int take_group(struct target_list_builder *builder, size_t number,
		      const json_t *json, struct dart_error *error)
{
	const struct target_defaults *defaults = builder->defaults;
	struct group group = { .defaults = *defaults, .number = number };
	const json_t *targets = json_object_get(json, "targets");
	size_t i;
	int ret;

	if (!json_is_array(targets))
		return dart_error__set(
			error, EINVAL,
			"group %zu has no list of targets (expected {\"targets\": [...]})",
			number);
	ret = take_labels(&group, json_object_get(json, "labels"), error);
	builder->defaults = &group.defaults;
	for (i = 0; !ret && i < json_array_size(targets); i++)
		ret = take_target(builder, &group,
				  json_string_value(json_array_get(targets, i)),
				  error);
	builder->defaults = defaults;
	shared_text__release(group.labels);
	return ret;
}

/* Counts what takes memory, outside of texts.  Refuses what is not a list of targets. */
static int check_counts(const char *bytes, size_t length,
			struct dart_error *error)
{
	uint32_t objects = 0, commas = 0;
	bool is_text = false;
	size_t i;

	for (i = 0; i < length; i++) {
		if (bytes[i] == '"')
			is_text = !is_text;
		else if (is_text)
			i += bytes[i] == '\\';
		else if (bytes[i] == '[' || bytes[i] == '{')
			objects++;
		else if (bytes[i] == ',')
			commas++;
	}
	if (objects > SD_JSON_OBJECTS_MAX)
		return dart_error__set(error, EINVAL,
				       "more than %u lists and objects",
				       SD_JSON_OBJECTS_MAX);
	if (commas > SD_JSON_COMMAS_MAX)
		return dart_error__set(error, EINVAL, "more than %u values",
				       SD_JSON_COMMAS_MAX);
	return 0;
}

int sd_json__parse(const void *bytes, size_t length,
		   const struct target_defaults *defaults,
		   struct shared_text *source, struct target_list *list,
		   struct dart_error *error)
{
	struct target_list_builder builder = {
		.defaults = defaults,
		.source = source,
	};
	json_error_t reason;
	json_t *groups;
	int ret;
	size_t i;

	dart_text_file__skip_mark(&bytes, &length);
	if (length > SD_JSON_BYTES_MAX)
		return dart_error__set(error, EINVAL, "more than %u bytes",
				       SD_JSON_BYTES_MAX);
	ret = check_counts(bytes, length, error);
	if (ret)
		return ret;
	groups = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &reason);
	if (!groups)
		return dart_error__set(error, EINVAL, "not JSON: line %d: %s",
				       reason.line, reason.text);
	dart_error__set(error, 0, "out of memory");
	if (!json_is_array(groups))
		ret = dart_error__set(error, EINVAL,
				      "not a list of groups of targets");
	for (i = 0; !ret && i < json_array_size(groups); i++)
		ret = take_group(&builder, i + 1, json_array_get(groups, i),
				 error);
	json_decref(groups);
	if (ret)
		target_list__clear(&builder.list);
	else
		target_list__finish(&builder, list);
	return ret;
}

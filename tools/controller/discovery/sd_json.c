// SPDX-License-Identifier: GPL-2.0-only
/* Parses lists of targets in Prometheus' JSON. */
#include "sd_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>
#include <libdart/text_file.h>

#include "target_relabel.h"
#include "tools/controller/settings/labels.h"

/* A group, and the settings of its targets that its labels change. */
struct group {
	struct target_defaults defaults; /* its pointers belong to the source */
	struct shared_text *labels;
	const json_t *all_labels; /* as the list has them, for rules; NULL: none */
	size_t number; /* from 1, for messages */
};

static int take_label(struct group *group, json_t *labels, const char *name, const json_t *value,
		      struct dart_error *error)
{
	const char *text = json_is_null(value) ? "" : json_string_value(value);
	const char *key = target_relabel__key(name);
	struct dart_error reason;
	int ret;

	if (!text)
		return dart_error__set(error, EINVAL, "group %zu: label '%s' is not a text",
				       group->number, name);
	if (key) {
		ret = target_defaults__take(&group->defaults, key, text, &reason);
		return ret ? dart_error__set(error, -ret, "group %zu: %s", group->number,
					     reason.text) :
			     0;
	}
	if (!strncmp(name, "__", 2))
		return 0;
	ret = labels__add(labels, name, text, &reason);
	if (ret == -EINVAL)
		dart_error__set(error, 0, "group %zu: %s", group->number, reason.text);
	return ret;
}

static int take_labels(struct group *group, json_t *object, struct dart_error *error)
{
	json_t *labels = json_object(), *value;
	struct dart_error reason;
	const char *name;
	int ret = labels ? 0 : -ENOMEM;

	if (object && !json_is_null(object) && !json_is_object(object))
		ret = dart_error__set(error, EINVAL, "group %zu: the labels are not an object",
				      group->number);
	json_object_foreach(object, name, value) {
		if (ret)
			break;
		ret = take_label(group, labels, name, value, error);
	}
	if (!ret) {
		ret = labels__text(labels, group->defaults.labels, &group->labels, &reason);
		if (ret == -EINVAL)
			dart_error__set(error, 0, "group %zu: %s", group->number, reason.text);
	}
	json_decref(labels);
	return ret;
}

/* @number counts the targets of the group from 1. */
static int take_target(struct target_list_builder *builder, const struct group *group,
		       size_t number, const json_t *json, struct target_faults *faults,
		       struct dart_error *error)
{
	const char *text = json_string_value(json);
	struct dart_error fault;
	struct target_item *item;
	char *host = NULL;
	uint16_t port;
	int ret;

	if (text && !relabel_rules__is_empty(group->defaults.relabel)) {
		const struct unlabelled_target target = {
			.address = text,
			.labels = { group->defaults.meta, group->defaults.labels,
				    group->all_labels },
		};

		return target_relabel__add(builder, group->defaults.relabel, &target, faults,
					   error);
	}
	ret = text ? settings__parse_agent(text, &host, &port) : -EINVAL;
	if (!ret) {
		port = port ?: settings__default_port(group->defaults.transport);
		ret = target_list__add(builder, host, port, &item);
		free(host);
	}
	if (ret == -EINVAL) {
		if (text)
			dart_error__set(
				&fault, EINVAL,
				"group %zu: '%.300s' is not an agent (expected HOST, HOST:PORT or [V6]:PORT)",
				group->number, text);
		else
			dart_error__set(&fault, EINVAL, "group %zu: target %zu is not a text",
					group->number, number);
		target_faults__add(faults, &fault);
		return 0;
	}
	if (ret == -E2BIG)
		return dart_error__set(error, EINVAL, "there are more than %d agents",
				       SETTINGS_TARGETS_MAX);
	if (!ret)
		item->settings.labels = shared_text__hold(group->labels);
	return ret;
}

static int take_targets(struct target_list_builder *builder, const struct group *group,
			const json_t *targets, struct target_faults *faults,
			struct dart_error *error)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < json_array_size(targets); i++)
		ret = take_target(builder, group, i + 1, json_array_get(targets, i), faults, error);
	return ret;
}

static int check_group(const json_t *json, size_t number, struct dart_error *error)
{
	const json_t *targets = json_object_get(json, "targets");

	if (!json_is_object(json))
		return dart_error__set(error, EINVAL,
				       "group %zu is not an object (expected {\"targets\": [...]})",
				       number);
	if (targets && !json_is_null(targets) && !json_is_array(targets))
		return dart_error__set(
			error, EINVAL,
			"group %zu: the targets are not a list (expected {\"targets\": [...]})",
			number);
	return 0;
}

/* Takes the targets of a group, or none of them if the group is faulty. */
static int take_group(struct target_list_builder *builder, size_t number, const json_t *json,
		      struct target_faults *faults, struct dart_error *error)
{
	const struct target_defaults *defaults = builder->defaults;
	struct group group = { .defaults = *defaults, .number = number };
	struct dart_error fault;
	int ret;

	if (json_is_null(json))
		return 0;
	ret = check_group(json, number, &fault) ?:
		      take_labels(&group, json_object_get(json, "labels"), &fault);
	if (ret == -EINVAL) {
		target_faults__add(faults, &fault);
		ret = 0;
	} else if (!ret) {
		group.all_labels = json_object_get(json, "labels");
		builder->defaults = &group.defaults;
		ret = take_targets(builder, &group, json_object_get(json, "targets"), faults,
				   error);
		builder->defaults = defaults;
	}
	shared_text__release(group.labels);
	return ret;
}

/* Counts lists, objects and values before they are parsed, and refuses too many. */
static int check_counts(const char *bytes, size_t length, struct dart_error *error)
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
		return dart_error__set(error, EINVAL, "more than %u lists and objects",
				       SD_JSON_OBJECTS_MAX);
	if (commas > SD_JSON_COMMAS_MAX)
		return dart_error__set(error, EINVAL, "more than %u values", SD_JSON_COMMAS_MAX);
	return 0;
}

/* True if @bytes begin with the escape of a NUL, which ends a text in C. */
static bool is_nul(const char *bytes, size_t left)
{
	return left >= 6 && !memcmp(bytes, "\\u0000", 6);
}

/* True if @bytes begin with the escape of half a character, from U+D800 to U+DFFF. */
static bool is_surrogate(const char *bytes, size_t left)
{
	return left >= 6 && bytes[0] == '\\' && bytes[1] == 'u' &&
	       (bytes[2] == 'd' || bytes[2] == 'D') && bytes[3] &&
	       strchr("89abcdefABCDEF", bytes[3]);
}

/* True if the surrogate at @bytes is a high one, and a low one follows. */
static bool is_pair(const char *bytes, size_t left)
{
	return left >= 12 && strchr("89abAB", bytes[3]) && is_surrogate(bytes + 6, left - 6) &&
	       strchr("cdefCDEF", bytes[9]);
}

/*
 * Copies the JSON, and replaces bytes that are not UTF-8, single halves of characters and NULs by
 * U+FFFD, like Go: jansson would refuse the whole list for one of them.  Sets @length to that of
 * the copy.  Returns NULL if out of memory.
 */
static char *replace_foreign(const char *bytes, size_t *length)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *copy = malloc(3 * *length + 1), *to = copy;
	size_t at, taken, left;
	bool is_kept;

	for (at = 0; copy && at < *length; at += taken) {
		left = *length - at;
		taken = dart_escape__character(bytes + at, left);
		is_kept = taken;
		if (is_nul(bytes + at, left)) {
			is_kept = false;
			taken = 6;
		} else if (is_surrogate(bytes + at, left)) {
			is_kept = is_pair(bytes + at, left);
			taken = is_kept ? 12 : 6;
		} else if (bytes[at] == '\\' && left > 1 &&
			   dart_escape__character(bytes + at + 1, left - 1)) {
			/* An escape: the byte after the backslash does not begin another one. */
			taken = 2;
		}
		if (is_kept)
			to = mempcpy(to, bytes + at, taken);
		else
			to = mempcpy(to, replacement, sizeof(replacement) - 1);
		taken = taken ?: 1;
	}
	if (copy)
		*length = to - copy;
	return copy;
}

int sd_json__parse(const void *bytes, size_t length, const struct target_defaults *defaults,
		   struct shared_text *source, struct target_list *list,
		   struct target_faults *faults, struct dart_error *error)
{
	struct target_list_builder builder = {
		.defaults = defaults,
		.source = source,
	};
	json_error_t reason;
	json_t *groups;
	char *text;
	int ret;
	size_t i;

	dart_text_file__skip_mark(&bytes, &length);
	if (length > SD_JSON_BYTES_MAX)
		return dart_error__set(error, EINVAL, "more than %u bytes", SD_JSON_BYTES_MAX);
	ret = check_counts(bytes, length, error);
	if (ret)
		return ret;
	text = replace_foreign(bytes, &length);
	if (!text)
		return dart_error__no_memory(error);
	/* If an object names a member twice, the last one counts, as in Go. */
	groups = json_loadb(text, length, JSON_DECODE_ANY, &reason);
	free(text);
	if (!groups)
		return dart_error__set(error, EINVAL, "not JSON: line %d: %s", reason.line,
				       reason.text);
	dart_error__set(error, 0, "out of memory");
	if (!json_is_array(groups) && !json_is_null(groups))
		ret = dart_error__set(error, EINVAL, "not a list of groups of targets");
	for (i = 0; !ret && i < json_array_size(groups); i++)
		ret = take_group(&builder, i + 1, json_array_get(groups, i), faults, error);
	json_decref(groups);
	/* A list in which all targets are faulty does not say that there are no targets. */
	if (!ret && faults->count && !faults->dropped && !builder.list.count)
		ret = dart_error__set(error, EINVAL, "%s", faults->first[0].text);
	if (ret)
		target_list__clear(&builder.list);
	else
		target_list__finish(&builder, list);
	return ret;
}

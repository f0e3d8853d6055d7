// SPDX-License-Identifier: GPL-2.0-only
/* Labels of targets, as objects of jansson. */
#include "labels.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

bool labels__is_plain_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char more[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return *name && strchr(letters, *name) && !name[strspn(name, more)];
}

/* UTF-8 without control characters, since names are printed. */
static bool is_name(const char *name)
{
	const size_t length = strlen(name);

	return length && length <= LABELS_NAME_MAX && dart_escape__is_plain(name, length);
}

int labels__add(json_t *labels, const char *name, const char *value, struct dart_error *error)
{
	char *escaped;
	json_t *text;

	if (!is_name(name))
		return dart_error__set(
			error, EINVAL,
			"'%.150s' is not the name of a label (expected 1 to %d bytes of UTF-8, without control characters)",
			name, LABELS_NAME_MAX);
	if (strlen(value) > LABELS_VALUE_MAX)
		return dart_error__set(error, EINVAL, "label '%s' has more than %d bytes", name,
				       LABELS_VALUE_MAX);
	if (!json_object_get(labels, name) && json_object_size(labels) == LABELS_MAX)
		return dart_error__set(error, EINVAL, "there are more than %d labels", LABELS_MAX);
	/* Labels from recordings are escaped already; do not escape them twice. */
	escaped = dart_escape__new(value, DART_ESCAPE_SENTENCE);
	text = escaped ? json_string(escaped) : NULL;
	free(escaped);
	if (!text)
		return dart_error__no_memory(error);
	return json_object_set_new(labels, name, text) ? dart_error__no_memory(error) : 0;
}

static int read_label(struct dart_yaml *yaml, const yaml_node_t *key, const char *name,
		      const yaml_node_t *node, void *labels)
{
	const char *value = dart_yaml__raw_text(node);
	struct dart_error error;
	int ret;

	if (json_object_get(labels, name))
		return dart_yaml__refuse(yaml, key, "'%s' occurs twice (remove one)", name);
	if (!value)
		return dart_yaml__refuse(yaml, node, "expected the text of label '%s'", name);
	ret = labels__add(labels, name, value, &error);
	return ret == -EINVAL ? dart_yaml__refuse(yaml, node, "%s", error.text) : ret;
}

int labels__read(struct dart_yaml *yaml, const yaml_node_t *node, json_t **labels)
{
	*labels = json_object();
	if (!*labels)
		return dart_error__no_memory(yaml->error);
	return dart_yaml__take_pairs(yaml, node, read_label, *labels);
}

int labels__text(const json_t *own, const json_t *defaults,
		 struct shared_text **text, struct dart_error *error)
{
	json_t *all = defaults ? json_copy((json_t *)defaults) : json_object();
	char *dumped = NULL;
	int ret = 0;

	*text = NULL;
	if (!all || (own && json_object_update(all, (json_t *)own)))
		ret = dart_error__no_memory(error);
	if (!ret && json_object_size(all)) {
		dumped = json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_SORT_KEYS);
		if (dumped &&
		    (json_object_size(all) > LABELS_MAX || strlen(dumped) > LABELS_TEXT_MAX))
			ret = dart_error__set(
				error, EINVAL,
				"a target has more than %d labels, or %d bytes of them",
				LABELS_MAX, LABELS_TEXT_MAX);
		else
			*text = dumped ? shared_text__new(dumped) : NULL;
		if (!ret && !*text)
			ret = dart_error__no_memory(error);
	}
	free(dumped);
	json_decref(all);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Takes labels of series from YAML. */
#include "names_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>
#include <libdart/table/schema.h>

#include "names_builder.h"

#define LABEL_MAX 1000 /* bytes of a constant */

const char *names__keep(struct dart_yaml *yaml, struct arena *arena, const char *text)
{
	const char *copy = arena__copy(arena, text, strlen(text));

	if (!copy)
		dart_error__no_memory(yaml->error);
	return copy;
}

void *names__keep_array(struct dart_yaml *yaml, struct arena *arena, const void *from, size_t count,
			size_t size)
{
	void *copy = arena__take_array(arena, count, size);

	if (!copy)
		dart_error__no_memory(yaml->error);
	else if (count)
		memcpy(copy, from, count * size);
	return copy;
}

int names_labels__take_name(struct dart_yaml *yaml, const yaml_node_t *node, struct arena *arena,
			    const char **name)
{
	const char *text = dart_yaml__text(node);

	if (!text || !name__is_valid(text) || !strcmp(text, "le"))
		return dart_yaml__refuse(
			yaml, node,
			"'%s' cannot be the name of a label (letters, digits and '_'; not 'le')",
			text ?: "?");
	*name = names__keep(yaml, arena, text);
	return *name ? 0 : -ENOMEM;
}

/*
 * Takes the value of a label; '$' starts the name of a value from the entry, its row or the host.
 */
static int take_label_value(struct dart_yaml *yaml, const yaml_node_t *node, struct arena *arena,
			    bool is_constant, struct name_label *label)
{
	static const struct {
		const char *name;
		enum name_label_kind kind;
	} known[] = {
		{ "selector", NAME_LABEL_SELECTOR },	   { "netns", NAME_LABEL_NETNS },
		{ "application", NAME_LABEL_APPLICATION }, { "instance", NAME_LABEL_INSTANCE },
		{ "node_name", NAME_LABEL_NODE_NAME },	   { "boot_id", NAME_LABEL_BOOT_ID },
		{ "host_id", NAME_LABEL_HOST_ID },
	};
	const char *text = dart_yaml__text(node);
	unsigned int i;
	char *escaped;

	if (!text || !*text || strlen(text) > LABEL_MAX)
		return dart_yaml__refuse(yaml, node,
					 "the value of '%s' is not a text of 1 to %d bytes",
					 label->name, LABEL_MAX);
	label->kind = NAME_LABEL_CONSTANT;
	if (*text == '$') {
		text++;
		label->kind = NAME_LABEL_FIELD;
		for (i = 0; i < sizeof(known) / sizeof(*known); i++)
			if (!strcmp(text, known[i].name))
				label->kind = known[i].kind;
		if (is_constant)
			return dart_yaml__refuse(
				yaml, node,
				"'$%s': labels of a field are constant (put this one under 'labels')",
				text);
		if (!dart_name__is_valid(text))
			return dart_yaml__refuse(yaml, node, "'$%s' cannot be the name of a field",
						 text);
	}
	/* A constant in quotes may contain a control character: "\\n". */
	escaped = dart_escape__new(text, DART_ESCAPE_SENTENCE);
	label->text = escaped ? names__keep(yaml, arena, escaped) : NULL;
	free(escaped);
	return label->text ? 0 : -ENOMEM;
}

int names_labels__take(struct dart_yaml *yaml, const yaml_node_t *node, struct arena *arena,
		       bool is_constant, const struct name_label **labels, uint32_t *count)
{
	struct name_label found[NAMES_LABELS_MAX];
	const yaml_node_t *name, *value;
	yaml_node_pair_t *pair;
	uint32_t i;
	int ret;

	*count = 0;
	if (!node)
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return dart_yaml__refuse(yaml, node, "expected LABEL: VALUE");
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		name = yaml_document_get_node(&yaml->document, pair->key);
		value = yaml_document_get_node(&yaml->document, pair->value);
		if (*count == NAMES_LABELS_MAX / 2)
			return dart_yaml__refuse(yaml, name, "more than %d labels",
						 NAMES_LABELS_MAX / 2);
		ret = names_labels__take_name(yaml, name, arena, &found[*count].name) ?:
			      take_label_value(yaml, value, arena, is_constant, &found[*count]);
		if (ret)
			return ret;
		for (i = 0; i < *count; i++)
			if (!strcmp(found[i].name, found[*count].name))
				return dart_yaml__refuse(yaml, name, "'%s' occurs twice",
							 found[i].name);
		++*count;
	}
	*labels = names__keep_array(yaml, arena, found, *count, sizeof(*found));
	return *labels ? 0 : -ENOMEM;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loads key schemas from YAML files, see dart_schema(5). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/key/key_schema_loader_internal.h>
#include <libdart/table/schema.h>

/* Fields of a key become options of dartctl(1), which has these already. */
static const char *const reserved[] = { "from",	  "help",    "json", "policy",
					"socket", "version", NULL };

int dart_key_loader__take_text(struct dart_yaml *yaml,
			       const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);
	char **copy = into;

	if (!text || !dart_text__is_valid(text))
		return dart_yaml__refuse(yaml, node, "expected a text in ASCII");
	*copy = strdup(text);
	return *copy ? 0 : dart_error__no_memory(yaml->error);
}

/* The rules that apply only to fields of keys, or only to those of values. */
static const char *objection(const struct dart_key_field *field, bool is_key)
{
	const char *const *name;

	if (!is_key)
		return field->type->width_min < field->type->width_max ?
			       "an address in a value must be ipv4 or ipv6" :
			       NULL;
	if (field->count > 1 && field->type->kind != DART_KEY_BYTES &&
	    field->type->kind != DART_KEY_TEXT)
		return "a key cannot have arrays";
	for (name = reserved; *name; name++)
		if (!strcmp(*name, field->name))
			return "a field of a key cannot have the name of an option";
	return NULL;
}

static int take_fields(struct dart_yaml *yaml, const yaml_node_t *node,
		       struct dart_key_fields *fields, uint32_t length_max,
		       bool is_key)
{
	struct dart_key_field *field;
	const yaml_node_t *at;
	const char *wrong;
	yaml_node_item_t *item;
	uint32_t i;
	int ret;

	if (node->type != YAML_SEQUENCE_NODE ||
	    node->data.sequence.items.start == node->data.sequence.items.top)
		return dart_yaml__refuse(yaml, node, "expected a list of fields");
	for (item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		at = yaml_document_get_node(&yaml->document, *item);
		if (fields->count == DART_KEY_FIELDS_MAX)
			return dart_yaml__refuse(yaml, at, "more than %d fields",
				      DART_KEY_FIELDS_MAX);
		field = &fields->list[fields->count++];
		ret = dart_key_loader__take_field(yaml, at, field);
		if (ret)
			return ret;
		wrong = objection(field, is_key);
		if (wrong)
			return dart_yaml__refuse(yaml, at, "%s", wrong);
		for (i = 0; i < fields->count - 1; i++)
			if (!strcmp(fields->list[i].name, field->name))
				return dart_yaml__refuse(yaml, at,
					      "field '%s' occurs twice",
					      field->name);
		fields->length += dart_key_field__length(field);
		if (fields->length > length_max)
			return dart_yaml__refuse(yaml, at, "more than %u bytes",
				      length_max);
	}
	return 0;
}

static int take_key(struct dart_yaml *yaml, const yaml_node_t *node,
		    void *into)
{
	struct dart_key_schema *schema = into;

	return take_fields(yaml, node, &schema->key, DART_STORE_KEY_MAX,
			   true);
}

static int take_value(struct dart_yaml *yaml, const yaml_node_t *node,
		      void *into)
{
	struct dart_key_schema *schema = into;

	return take_fields(yaml, node, &schema->value, DART_STORE_VALUE_MAX,
			   false);
}

static int take_document(struct dart_yaml *yaml, const yaml_node_t *root,
			 struct dart_key_schema *schema)
{
	static const struct dart_yaml_member members[] = {
		{ "description", dart_key_loader__take_text,
		  offsetof(struct dart_key_schema, description) },
		{ "key", take_key, 0 },
		{ "value", take_value, 0 },
		{ }
	};
	int ret;

	if (!root)
		return dart_error__set(yaml->error, EINVAL,
				       "%s:1: the file is empty", yaml->path);
	ret = dart_yaml__take_mapping(yaml, root, members, schema);
	if (ret)
		return ret;
	if (!schema->key.count || !schema->value.count)
		return dart_yaml__refuse(yaml, root, "the schema has no '%s'",
					 schema->key.count ? "value" : "key");
	return 0;
}

int dart_key_schema__load(FILE *file, const char *path,
			  struct dart_key_schema **result,
			  struct dart_error *error)
{
	struct dart_key_schema *schema = calloc(1, sizeof(*schema));
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret;

	if (!schema)
		return dart_error__no_memory(error);
	ret = dart_yaml__load(&yaml, file, path, NULL, &root, error);
	if (!ret) {
		ret = take_document(&yaml, root, schema);
		dart_yaml__close(&yaml);
	}
	if (ret)
		dart_key_schema__free(schema);
	else
		*result = schema;
	return ret;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loads key schemas from YAML files, see dart_schema(5). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/private/key_schema_loader.h>
#include <libdart/table/schema.h>

/* Fields of a key become options of dartctl(1), which has these already. */
static const char *const reserved[] = { "from",	  "help",    "json", "policy",
					"socket", "version", NULL };

const yaml_node_t *dart_key_loader__node(struct dart_key_loader *loader,
					 int index)
{
	return yaml_document_get_node(&loader->document, index);
}

const char *dart_key_loader__text(const yaml_node_t *node)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE)
		return NULL;
	text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

int dart_key_loader__take(struct dart_key_loader *loader,
			  const yaml_node_t *node,
			  const struct dart_key_member *members, void *into)
{
	const struct dart_key_member *member;
	const yaml_node_t *name_node;
	yaml_node_pair_t *pair;
	uint32_t seen = 0;
	const char *name;
	int ret;

	if (node->type != YAML_MAPPING_NODE)
		return refuse(loader, node, "expected KEY: VALUE lines");
	for (pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		name_node = dart_key_loader__node(loader, pair->key);
		name = dart_key_loader__text(name_node);
		for (member = members; name && member->name; member++)
			if (!strcmp(member->name, name))
				break;
		if (!name || !member->name)
			return refuse(loader, name_node, "unknown key '%s'",
				      name ? name : "?");
		if (seen & 1U << (member - members))
			return refuse(loader, name_node, "'%s' occurs twice",
				      name);
		seen |= 1U << (member - members);
		ret = member->take(loader,
				   dart_key_loader__node(loader, pair->value),
				   (char *)into + member->offset);
		if (ret)
			return ret;
	}
	return 0;
}

int dart_key_loader__take_text(struct dart_key_loader *loader,
			       const yaml_node_t *node, void *into)
{
	const char *text = dart_key_loader__text(node);
	char **copy = into;

	if (!text || !dart_text__is_valid(text))
		return refuse(loader, node, "expected a text in ASCII");
	*copy = strdup(text);
	return *copy ? 0 : dart_error__no_memory(loader->error);
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

static int take_fields(struct dart_key_loader *loader, const yaml_node_t *node,
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
		return refuse(loader, node, "expected a list of fields");
	for (item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		at = dart_key_loader__node(loader, *item);
		if (fields->count == DART_KEY_FIELDS_MAX)
			return refuse(loader, at, "more than %d fields",
				      DART_KEY_FIELDS_MAX);
		field = &fields->list[fields->count++];
		ret = dart_key_loader__take_field(loader, at, field);
		if (ret)
			return ret;
		wrong = objection(field, is_key);
		if (wrong)
			return refuse(loader, at, "%s", wrong);
		for (i = 0; i < fields->count - 1; i++)
			if (!strcmp(fields->list[i].name, field->name))
				return refuse(loader, at,
					      "field '%s' occurs twice",
					      field->name);
		fields->length += dart_key_field__length(field);
		if (fields->length > length_max)
			return refuse(loader, at, "more than %u bytes",
				      length_max);
	}
	return 0;
}

static int take_key(struct dart_key_loader *loader, const yaml_node_t *node,
		    void *into)
{
	struct dart_key_schema *schema = into;

	return take_fields(loader, node, &schema->key, DART_STORE_KEY_MAX,
			   true);
}

static int take_value(struct dart_key_loader *loader, const yaml_node_t *node,
		      void *into)
{
	struct dart_key_schema *schema = into;

	return take_fields(loader, node, &schema->value, DART_STORE_VALUE_MAX,
			   false);
}

static int take_document(struct dart_key_loader *loader,
			 struct dart_key_schema *schema)
{
	static const struct dart_key_member members[] = {
		{ "description", dart_key_loader__take_text,
		  offsetof(struct dart_key_schema, description) },
		{ "key", take_key, 0 },
		{ "value", take_value, 0 },
		{ }
	};
	yaml_node_t *root = yaml_document_get_root_node(&loader->document);
	int ret;

	if (!root)
		return refuse(loader, root, "the file is empty");
	ret = dart_key_loader__take(loader, root, members, schema);
	if (ret)
		return ret;
	if (!schema->key.count || !schema->value.count)
		return refuse(loader, root, "the schema has no '%s'",
			      schema->key.count ? "value" : "key");
	return 0;
}

int dart_key_schema__load(FILE *file, const char *path,
			  struct dart_key_schema **result,
			  struct dart_error *error)
{
	struct dart_key_loader loader = { .path = path, .error = error };
	struct dart_key_schema *schema;
	yaml_parser_t parser;
	int ret;

	schema = calloc(1, sizeof(*schema));
	if (!schema || !yaml_parser_initialize(&parser)) {
		ret = dart_error__no_memory(error);
		goto out_free;
	}
	yaml_parser_set_input_file(&parser, file);
	if (!yaml_parser_load(&parser, &loader.document)) {
		if (parser.error == YAML_MEMORY_ERROR)
			ret = dart_error__no_memory(error);
		else
			ret = dart_error__set(
				error, EINVAL, "%s:%zu: not YAML: %s", path,
				parser.problem_mark.line + 1,
				parser.problem ? parser.problem : "?");
		goto out_parser;
	}
	ret = take_document(&loader, schema);
	yaml_document_delete(&loader.document);
out_parser:
	yaml_parser_delete(&parser);
out_free:
	if (ret)
		dart_key_schema__free(schema);
	else
		*result = schema;
	return ret;
}

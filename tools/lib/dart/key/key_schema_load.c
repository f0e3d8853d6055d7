// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loads key schemas from YAML files, see dart_schema(5). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/key/key_schema.h>
#include <libdart/table/schema.h>
#include <libdart/yaml_file.h>

/* Fields of a key become options of dartctl(1), which defines these already. */
static const char *const reserved[] = { "at",	   "from",   "help",  "json",	 "policy",
					"since", "socket", "until", "version", NULL };

static const struct dart_key_type types[] = {
	{ "u8", DART_KEY_NUMBER, 1, 1 },
	{ "u16", DART_KEY_NUMBER, 2, 2 },
	{ "u32", DART_KEY_NUMBER, 4, 4 },
	{ "u64", DART_KEY_NUMBER, 8, 8 },
	{ "address", DART_KEY_ADDRESS, 4, 16 },
	{ "ipv4", DART_KEY_ADDRESS, 4, 4 },
	{ "ipv6", DART_KEY_ADDRESS, 16, 16 },
	{ "mac", DART_KEY_MAC, 6, 6 },
	{ "bytes", DART_KEY_BYTES, 1, 1 },
	{ "text", DART_KEY_TEXT, 1, 1 },
};

#define TYPES (sizeof(types) / sizeof(types[0]))

/* Copies a text of printable ASCII to the char * at @into. */
static int take_text(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);
	char **copy = into;

	if (!text || !dart_text__is_valid(text))
		return dart_yaml__refuse(yaml, node, "expected a text in ASCII");
	*copy = strdup(text);
	return *copy ? 0 : dart_error__no_memory(yaml->error);
}

/* Letters, digits, "-" and "_", beginning with a letter. */
static bool is_name(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const size_t length = text ? strlen(text) : 0;

	return length && length < DART_KEY_NAME_MAX && strspn(text, letters) == length &&
	       !strchr("0123456789-_", *text);
}

static int take_name(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_key_field *field = into;
	const char *text = dart_yaml__text(node);

	if (!is_name(text))
		return dart_yaml__refuse(yaml, node,
					 "'%s' is not a name (up to %d letters, digits, - and _)",
					 text ? text : "?", DART_KEY_NAME_MAX - 1);
	strcpy(field->name, text);
	return 0;
}

static int take_type(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_key_field *field = into;
	const char *text = dart_yaml__text(node);
	size_t i;

	for (i = 0; text && i < TYPES; i++) {
		if (!strcmp(types[i].name, text)) {
			field->type = &types[i];
			return 0;
		}
	}
	return dart_yaml__refuse(yaml, node, "'%s' is not a type (see dart_schema(5))",
		      text ? text : "?");
}

static int take_count(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_key_field *field = into;
	const char *text = dart_yaml__text(node);
	unsigned long count;
	char *end;

	count = text && isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
	if (!count || *end || count > DART_STORE_VALUE_MAX)
		return dart_yaml__refuse(yaml, node, "expected a number from 1 to %d",
			      DART_STORE_VALUE_MAX);
	field->count = count;
	return 0;
}

static int take_stack(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_key_field *field = into;
	const char *text = dart_yaml__text(node);

	if (!text || (strcmp(text, "true") && strcmp(text, "false")))
		return dart_yaml__refuse(yaml, node, "expected true or false");
	field->is_stack = *text == 't';
	return 0;
}

static int take_number_name(struct dart_yaml *yaml, const yaml_node_pair_t *pair,
			    struct dart_key_field *field)
{
	const yaml_node_t *name_node = yaml_document_get_node(&yaml->document, pair->key);
	const yaml_node_t *number_node = yaml_document_get_node(&yaml->document, pair->value);
	const char *name = dart_yaml__text(name_node), *number = dart_yaml__text(number_node);
	struct dart_key_name *into = &field->names[field->name_count];
	char *end;
	uint32_t i;

	if (!is_name(name))
		return dart_yaml__refuse(yaml, name_node, "'%s' is not a name", name ? name : "?");
	if (!number || !isdigit((unsigned char)*number))
		return dart_yaml__refuse(yaml, number_node, "expected a number");
	errno = 0;
	into->number = strtoull(number, &end, 10);
	if (*end || errno)
		return dart_yaml__refuse(yaml, number_node, "'%s' is not a number", number);
	strcpy(into->name, name);
	for (i = 0; i < field->name_count; i++)
		if (!strcmp(field->names[i].name, name) || field->names[i].number == into->number)
			return dart_yaml__refuse(yaml, name_node, "'%s' or its number occurs twice",
						 name);
	field->name_count++;
	return 0;
}

static int take_names(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_key_field *field = into;
	yaml_node_pair_t *pair;
	int ret;

	if (node->type != YAML_MAPPING_NODE)
		return dart_yaml__refuse(yaml, node, "expected NAME: NUMBER lines");
	if (node->data.mapping.pairs.top - node->data.mapping.pairs.start > DART_KEY_NAMES_MAX)
		return dart_yaml__refuse(yaml, node, "more than %d names", DART_KEY_NAMES_MAX);
	field->names = calloc(DART_KEY_NAMES_MAX, sizeof(*field->names));
	if (!field->names)
		return dart_error__no_memory(yaml->error);
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		ret = take_number_name(yaml, pair, field);
		if (ret)
			return ret;
	}
	return 0;
}

/* Why the type of @field does not allow its other members, or NULL. */
static const char *type_objection(const struct dart_key_field *field)
{
	uint64_t max;
	uint32_t i;

	if (field->is_stack && (field->count == 1 || field->type->kind == DART_KEY_BYTES ||
				field->type->kind == DART_KEY_TEXT))
		return "a stack needs a count of numbers or addresses";
	if (!field->name_count)
		return NULL;
	if (field->type->kind != DART_KEY_NUMBER)
		return "only numbers can have names";
	max = UINT64_MAX >> (64 - 8 * field->type->width_max);
	for (i = 0; i < field->name_count; i++)
		if (field->names[i].number > max)
			return "a named number is too large for the type";
	return NULL;
}

/* The caller frees the contents of @field, also after an error. */
static int take_field(struct dart_yaml *yaml, const yaml_node_t *node, struct dart_key_field *field)
{
	static const struct dart_yaml_member members[] = {
		{ "name", take_name, 0 },
		{ "type", take_type, 0 },
		{ "count", take_count, 0 },
		{ "stack", take_stack, 0 },
		{ "unit", take_text, offsetof(struct dart_key_field, unit) },
		{ "names", take_names, 0 },
		{ "description", take_text,
		  offsetof(struct dart_key_field, description) },
		{ }
	};
	const char *wrong;
	int ret;

	field->count = 1;
	ret = dart_yaml__take_mapping(yaml, node, members, field);
	if (ret)
		return ret;
	if (!*field->name || !field->type)
		return dart_yaml__refuse(yaml, node, "the field has no '%s'",
			      *field->name ? "type" : "name");
	wrong = type_objection(field);
	return wrong ? dart_yaml__refuse(yaml, node, "%s", wrong) : 0;
}

/* The rules that apply only to fields of keys, or only to fields of values. */
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
		       struct dart_key_fields *fields, uint32_t length_max, bool is_key)
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
	for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
		at = yaml_document_get_node(&yaml->document, *item);
		if (fields->count == DART_KEY_FIELDS_MAX)
			return dart_yaml__refuse(yaml, at, "more than %d fields",
				      DART_KEY_FIELDS_MAX);
		field = &fields->list[fields->count++];
		ret = take_field(yaml, at, field);
		if (ret)
			return ret;
		wrong = objection(field, is_key);
		if (wrong)
			return dart_yaml__refuse(yaml, at, "%s", wrong);
		for (i = 0; i < fields->count - 1; i++)
			if (!strcmp(fields->list[i].name, field->name))
				return dart_yaml__refuse(yaml, at, "field '%s' occurs twice",
							 field->name);
		fields->length += dart_key_field__length(field);
		if (fields->length > length_max)
			return dart_yaml__refuse(yaml, at, "more than %u bytes", length_max);
	}
	return 0;
}

static int take_key(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_key_schema *schema = into;

	return take_fields(yaml, node, &schema->key, DART_STORE_KEY_MAX, true);
}

static int take_value(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_key_schema *schema = into;

	return take_fields(yaml, node, &schema->value, DART_STORE_VALUE_MAX, false);
}

static int take_document(struct dart_yaml *yaml, const yaml_node_t *root,
			 struct dart_key_schema *schema)
{
	static const struct dart_yaml_member members[] = {
		{ "description", take_text, offsetof(struct dart_key_schema, description) },
		{ "key", take_key, 0 },
		{ "value", take_value, 0 },
		{ }
	};
	int ret;

	if (!root)
		return dart_error__set(yaml->error, EINVAL, "%s:1: the file is empty", yaml->path);
	ret = dart_yaml__take_mapping(yaml, root, members, schema);
	if (ret)
		return ret;
	if (!schema->key.count || !schema->value.count)
		return dart_yaml__refuse(yaml, root, "the schema has no '%s'",
					 schema->key.count ? "value" : "key");
	return 0;
}

int dart_key_schema__load(FILE *file, const char *path, struct dart_key_schema **result,
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

// SPDX-License-Identifier: GPL-2.0-only
/* Schemas of keys: see key_schemas.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/files.h>

#include "key_schemas.h"

#define OWN_DIRECTORY "/etc/dart/schemas"
/* Relative to the directory of the program, whether installed or just built. */
#define THEIR_DIRECTORY "../share/dart/schemas"

static void add_file(struct key_schemas *schemas, const char *directory, const char *file_name)
{
	const int length = strlen(file_name) - strlen(DART_FILES_YAML);
	struct dart_key_schema *schema = NULL;
	char path[PATH_MAX + NAME_MAX + 2];
	struct dart_error error;
	char *name = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, file_name);
	file = fopen(path, "re");
	if (!file)
		return;
	if (schemas->count < KEY_SCHEMAS_MAX && !dart_key_schema__load(file, path, &schema, &error))
		name = strndup(file_name, length);
	fclose(file);
	if (!name || key_schemas__find(schemas, name)) {
		free(name);
		if (schema)
			dart_key_schema__free(schema);
		return;
	}
	schemas->list[schemas->count].name = name;
	schemas->list[schemas->count++].schema = schema;
}

static void add_directory(struct key_schemas *schemas, const char *directory)
{
	struct dirent **entries;
	int count, i;

	count = dart_files__list_yaml(directory, &entries);
	for (i = 0; i < count; i++)
		add_file(schemas, directory, entries[i]->d_name);
	dart_files__free(entries, count);
}

void key_schemas__load(struct key_schemas *schemas)
{
	char path[PATH_MAX];

	*schemas = (struct key_schemas){};
	/* Schemas of the user take precedence. */
	add_directory(schemas, OWN_DIRECTORY);
	dart_files__beside_program(THEIR_DIRECTORY, path);
	add_directory(schemas, path);
}

const struct dart_key_schema *key_schemas__find(const struct key_schemas *schemas, const char *name)
{
	size_t i;

	for (i = 0; i < schemas->count; i++)
		if (!strcmp(schemas->list[i].name, name))
			return schemas->list[i].schema;
	return NULL;
}

static void print_field(const struct dart_key_field *field, struct json_text *text)
{
	uint32_t i;

	json_text__put(text, "{\"name\":");
	json_text__string(text, field->name);
	json_text__put(text, ",\"type\":");
	json_text__string(text, field->type->name);
	json_text__put(text, ",\"description\":");
	json_text__string(text, field->description ?: "");
	json_text__put(text, ",\"names\":[");
	for (i = 0; i < field->name_count; i++) {
		json_text__put(text, i ? "," : "");
		json_text__string(text, field->names[i].name);
	}
	json_text__put(text, "]}");
}

void key_schemas__print(const struct key_schemas *schemas, struct json_text *text)
{
	const struct dart_key_schema *schema;
	uint32_t k;
	size_t i;

	json_text__put(text, "[");
	for (i = 0; i < schemas->count; i++) {
		schema = schemas->list[i].schema;
		json_text__put(text, i ? ",{\"name\":" : "{\"name\":");
		json_text__string(text, schemas->list[i].name);
		json_text__put(text, ",\"description\":");
		json_text__string(text, schema->description ?: "");
		json_text__put(text, ",\"key\":[");
		for (k = 0; k < schema->key.count; k++) {
			json_text__put(text, k ? "," : "");
			print_field(&schema->key.list[k], text);
		}
		json_text__put(text, "]}");
	}
	json_text__put(text, "]");
}

void key_schemas__clear(struct key_schemas *schemas)
{
	while (schemas->count) {
		schemas->count--;
		free(schemas->list[schemas->count].name);
		dart_key_schema__free(schemas->list[schemas->count].schema);
	}
}

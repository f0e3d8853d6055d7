// SPDX-License-Identifier: GPL-2.0-only
/* Checks a compiled P4 program and finds its hashes, see program.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "tools/dartctl/switch/thrift/call.h"

/* Each hash is searched among the calculations, and a hostile switch could list millions. */
#define CALCULATIONS_MAX 1024

/* Adds a part to the sentence that lists the missing ones. */
static void add_missing(struct dart_error *error, const char *kind, const char *name)
{
	size_t length = strlen(error->text);

	snprintf(error->text + length, sizeof(error->text) - length, "%s%s %s",
		 length ? ", " : "the program has no ", kind, name);
}

static const char *string_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)) ?: "";
}

/* The element of @list whose member "name" is @name, or NULL. */
static json_t *find(json_t *list, const char *name)
{
	json_t *element;
	size_t i;

	json_array_foreach(list, i, element)
		if (!strcmp(string_at(element, "name"), name))
			return element;
	return NULL;
}

/* ---- tables */

static json_t *find_table(const struct switch_program *program, const char *name)
{
	json_t *pipelines = json_object_get(program->json, "pipelines");
	json_t *pipeline, *table = NULL;
	size_t i;

	json_array_foreach(pipelines, i, pipeline) {
		table = find(json_object_get(pipeline, "tables"), name);
		if (table)
			break;
	}
	return table;
}

/* True if the table has one key field of exact match, or, if no key is wanted, none. */
static bool has_key(json_t *table, bool wanted)
{
	json_t *key = json_object_get(table, "key");

	if (json_array_size(key) != wanted)
		return false;
	return !wanted || !strcmp(string_at(json_array_get(key, 0), "match_type"), "exact");
}

static bool has_action(json_t *table, const char *name)
{
	json_t *element;
	size_t i;

	json_array_foreach(json_object_get(table, "actions"), i, element)
		if (json_is_string(element) && !strcmp(json_string_value(element), name))
			return true;
	return false;
}

static bool takes_values(json_t *action, const struct switch_table *table)
{
	json_t *parameters = json_object_get(action, "runtime_data");
	json_t *bits;
	uint32_t i;

	if (json_array_size(parameters) != table->value_count)
		return false;
	for (i = 0; i < table->value_count; i++) {
		bits = json_object_get(json_array_get(parameters, i), "bitwidth");
		if (json_integer_value(bits) != table->values[i].bits)
			return false;
	}
	return true;
}

static void check_table(const struct switch_program *program, const struct switch_table *table,
			struct dart_error *error)
{
	json_t *found = find_table(program, table->name);
	json_t *size = json_object_get(found, "max_size"), *action;

	if (!found || !has_key(found, table->key_bits) || json_integer_value(size) < table->room) {
		add_missing(error, "table", table->name);
		return;
	}
	action = find(json_object_get(program->json, "actions"), table->action);
	if (!has_action(found, table->action) || !takes_values(action, table))
		add_missing(error, "action", table->action);
}

static void check_register(const struct switch_program *program,
			   const struct switch_register *wanted, struct dart_error *error)
{
	json_t *found = find(json_object_get(program->json, "register_arrays"), wanted->name);
	json_t *size = json_object_get(found, "size");

	if (json_integer_value(size) < wanted->size)
		add_missing(error, "register", wanted->name);
}

/* ---- hashes */

/* True if p4c made @name from @field: p4c adds prefixes, and sometimes a number at the end. */
static bool is_field(const char *name, const char *field)
{
	size_t length = strlen(field);
	const char *found, *rest;

	for (found = strstr(name, field); found; found = strstr(found + 1, field)) {
		rest = found + length;
		if (*rest == '_')
			rest += 1 + strspn(rest + 1, "0123456789");
		if ((found == name || strchr("._", found[-1])) && !*rest)
			return true;
	}
	return false;
}

/* The polynomial for a field, or NULL. */
static const struct switch_polynomial *
polynomial_of(const struct switch_needs *needs, const char *field)
{
	uint32_t i;

	for (i = 0; i < needs->polynomial_count; i++)
		if (is_field(field, needs->polynomials[i].field))
			return &needs->polynomials[i];
	return NULL;
}

/* True if a primitive fills a field with a calculation, whose names it returns. */
static bool is_hash(json_t *primitive, const char **field, const char **calculation)
{
	const char *operation, *header, *type;
	json_t *base;

	return !json_unpack(primitive, "{s:s, s:[{s:[s, s]}, o, {s:s, s:s}]}", "op", &operation,
			    "parameters", "value", &header, field, &base, "type", &type, "value",
			    calculation) &&
	       !strcmp(operation, "modify_field_with_hash_based_offset") &&
	       !strcmp(type, "calculation");
}

static bool is_custom(const struct switch_program *program, const char *name)
{
	json_t *calculations = json_object_get(program->json, "calculations");

	return !strcmp(string_at(find(calculations, name), "algo"), "crc32_custom");
}

static int add_hash(struct switch_program *program, const char *name,
		    uint32_t polynomial, struct dart_error *error)
{
	struct switch_hash *hash;
	uint32_t i;

	for (i = 0; i < program->hash_count; i++) {
		hash = &program->hashes[i];
		if (strcmp(hash->name, name))
			continue;
		if (hash->polynomial == polynomial)
			return 0;
		return dart_error__set(error, EINVAL, "the program has one hash for two purposes");
	}
	if (program->hash_count == SWITCH_HASHES_MAX)
		return dart_error__set(error, EINVAL, "the program has more than %d hashes",
				       SWITCH_HASHES_MAX);
	program->hashes[program->hash_count++] = (struct switch_hash){ name, polynomial };
	return 0;
}

/* Reads the hashes of an action; refuses a custom CRC of unknown purpose. */
static int read_action(struct switch_program *program, const struct switch_needs *needs,
		       json_t *action, struct dart_error *error)
{
	const char *field, *name;
	const struct switch_polynomial *polynomial;
	json_t *primitive;
	size_t i;
	int ret;

	json_array_foreach(json_object_get(action, "primitives"), i, primitive) {
		if (!is_hash(primitive, &field, &name) || !is_custom(program, name))
			continue;
		polynomial = polynomial_of(needs, field);
		if (!polynomial)
			return dart_error__set(error, EINVAL,
					       "the program has a hash for an unknown purpose");
		ret = add_hash(program, name, polynomial->polynomial, error);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_hashes(struct switch_program *program,
		       const struct switch_needs *needs, struct dart_error *error)
{
	json_t *action;
	int ret = 0;
	size_t i;

	if (json_array_size(json_object_get(program->json, "calculations")) > CALCULATIONS_MAX)
		return dart_error__set(error, EINVAL, "the program has more than %d calculations",
				       CALCULATIONS_MAX);
	json_array_foreach(json_object_get(program->json, "actions"), i, action) {
		ret = read_action(program, needs, action, error);
		if (ret)
			break;
	}
	return ret;
}

bool switch_program__has_hash(const struct switch_program *program, uint32_t polynomial)
{
	uint32_t i;

	for (i = 0; i < program->hash_count; i++)
		if (program->hashes[i].polynomial == polynomial)
			return true;
	return false;
}

/* ---- the whole */

static void check(const struct switch_program *program, const struct switch_needs *needs,
		  struct dart_error *error)
{
	uint32_t i;

	for (i = 0; i < needs->table_count; i++)
		check_table(program, &needs->tables[i], error);
	for (i = 0; i < needs->register_count; i++)
		check_register(program, &needs->registers[i], error);
}

static void check_hashes(const struct switch_program *program, const struct switch_needs *needs,
			 struct dart_error *error)
{
	const struct switch_polynomial *polynomial;
	uint32_t i;

	for (i = 0; i < needs->polynomial_count; i++) {
		polynomial = &needs->polynomials[i];
		if (polynomial->is_needed &&
		    !switch_program__has_hash(program, polynomial->polynomial))
			add_missing(error, "hash that fills", polynomial->field);
	}
}

int switch_program__parse(struct switch_program *program, const struct switch_needs *needs,
			  json_t *json, struct dart_error *error)
{
	int ret;

	*program = (struct switch_program){ .json = json };
	*error->text = '\0';
	check(program, needs, error);
	ret = *error->text ? -EINVAL : read_hashes(program, needs, error);
	if (!ret) {
		check_hashes(program, needs, error);
		ret = *error->text ? -EINVAL : 0;
	}
	if (ret)
		switch_program__free(program);
	return ret;
}

void switch_program__free(struct switch_program *program)
{
	json_decref(program->json);
	program->json = NULL;
}

json_t *switch_program__table(const struct switch_program *program, const char *name)
{
	return find_table(program, name);
}

/* ---- the program of a switch */

int switch_program__read(struct switch_program *program, const struct switch_needs *needs,
			 struct thrift *thrift, struct dart_error *error)
{
	char *text = NULL;
	uint32_t length;
	json_t *json;
	int asked, ret;

	thrift__begin(thrift, SWITCH_STANDARD, "bm_get_config");
	asked = thrift__ask(thrift, THRIFT_STRING);
	if (!asked)
		text = thrift__text(thrift, &length);
	ret = thrift__end(thrift, asked, "its program", error);
	if (ret) {
		free(text);
		return ret;
	}
	json = json_loadb(text, length, 0, NULL);
	free(text);
	if (!json)
		return dart_error__set(error, EINVAL, "its program is not JSON");
	return switch_program__parse(program, needs, json, error);
}

int switch_program__set_polynomials(const struct switch_program *program, struct thrift *thrift,
				    struct dart_error *error)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < program->hash_count; i++) {
		switch_call__begin(thrift, "bm_set_crc32_custom_parameters",
				   program->hashes[i].name);
		thrift__put_struct(thrift, 3);
		thrift__put_i32(thrift, 1, program->hashes[i].polynomial);
		thrift__put_i32(thrift, 2, UINT32_MAX); /* initial value */
		thrift__put_i32(thrift, 3, UINT32_MAX); /* XORed to the result */
		thrift__put_bool(thrift, 4, true); /* input and output reflected */
		thrift__put_bool(thrift, 5, true);
		thrift__put_stop(thrift);
		ret = thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), "a polynomial", error);
	}
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Schemas of stores, YAML: loaded, and used for a key and a value. */
#include <libdart/key/key_schema.h>

#include "fuzz.h"

static void use(const struct dart_key_schema *schema)
{
	static const uint8_t value[DART_STORE_VALUE_MAX] = "\1\2\3\4value";
	const char *texts[DART_KEY_FIELDS_MAX];
	uint8_t key[DART_STORE_KEY_MAX];
	struct dart_error error = {};
	json_t *json;
	uint32_t i;
	int ret;

	for (i = 0; i < schema->key.count; i++)
		texts[i] = schema->key.list[i].type->kind == DART_KEY_ADDRESS ? "10.0.0.1" : "17";
	ret = dart_key_schema__key(schema, texts, key, &error);
	require(ret <= (int)sizeof(key));
	if (ret < 0)
		require_sentence(&error);
	json = dart_key_schema__value(schema, value);
	require(json);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct dart_key_schema *schema;
	struct dart_error error = {};

	if (!file)
		return 0;
	if (dart_key_schema__load(file, "schema", &schema, &error)) {
		require_sentence(&error);
	} else {
		use(schema);
		dart_key_schema__free(schema);
	}
	fclose(file);
	return 0;
}

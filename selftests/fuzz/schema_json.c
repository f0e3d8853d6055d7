// SPDX-License-Identifier: GPL-2.0-only
/* Schemas in requests to register a slice, and names of counters. */
#include <libdart/table/value.h>

#include "agent/schema/schema_json.h"
#include "fuzz.h"

static void take(struct dart_schema *schema, int ret, const struct dart_error *error)
{
	uint32_t i;
	json_t *json;

	if (ret) {
		require_sentence(error);
		return;
	}
	for (i = 0; i < schema->field_count; i++)
		require(dart_schema__find(schema, schema->fields[i].name) == &schema->fields[i]);
	json = dart_schema__to_json(schema);
	require(json);
	json_decref(json);
	dart_schema__free(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct dart_schema *schema = NULL;
	struct dart_error error = {};
	int ret;

	if (!json)
		return 0;
	if (json_is_array(json) && json_array_size(json))
		ret = schema_json__new_counters("counters", json, &schema, &error);
	else
		ret = schema_json__new(json, &schema, &error);
	take(schema, ret, &error);
	json_decref(json);
	return 0;
}

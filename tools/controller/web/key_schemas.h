/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The schemas of keys that the page offers, dart_schema(5): the files in /etc/dart/schemas and the
 * files that come with the program, the same as for dartctl.  They are read once.
 */
#ifndef CONTROLLER_KEY_SCHEMAS_H
#define CONTROLLER_KEY_SCHEMAS_H

#include <libdart/key/key_schema.h>

#include "json_text.h"

#define KEY_SCHEMAS_MAX 64

struct key_schemas {
	struct {
		char *name;
		struct dart_key_schema *schema;
	} list[KEY_SCHEMAS_MAX];
	size_t count;
};

/* Skips files that are not schemas. */
void key_schemas__load(struct key_schemas *schemas);
/* Returns NULL if there is no schema of this name. */
const struct dart_key_schema *key_schemas__find(const struct key_schemas *schemas,
						const char *name);
/* Appends [{"name", "description", "key": [{"name", "type", "description", "names"}]}]. */
void key_schemas__print(const struct key_schemas *schemas, struct json_text *text);
void key_schemas__clear(struct key_schemas *schemas);

#endif /* CONTROLLER_KEY_SCHEMAS_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parts that read a schema file; private to the key schema. */
#ifndef DART_KEY_SCHEMA_LOADER_H
#define DART_KEY_SCHEMA_LOADER_H

#include <libdart/error.h>
#include <libdart/key/key_schema.h>
#include <libdart/yaml_file.h>

/* Copies a text of printable ASCII to the char * at @into. */
int dart_key_loader__take_text(struct dart_yaml *yaml, const yaml_node_t *node,
			       void *into);

/* The caller frees the contents of @field, also after an error. */
int dart_key_loader__take_field(struct dart_yaml *yaml, const yaml_node_t *node,
				struct dart_key_field *field);

#endif /* DART_KEY_SCHEMA_LOADER_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of reading a schema file; private to the key schema. */
#ifndef DART_KEY_SCHEMA_LOADER_H
#define DART_KEY_SCHEMA_LOADER_H

#include <yaml.h>

#include <libdart/error.h>
#include <libdart/key/key_schema.h>

struct dart_key_loader {
	yaml_document_t document;
	const char *path;
	struct dart_error *error;
};

/*
 * A key that a mapping may have, and the function that takes its value into the
 * object, at @offset.
 */
struct dart_key_member {
	const char *name;
	int (*take)(struct dart_key_loader *loader, const yaml_node_t *node,
		    void *into);
	size_t offset;
};

/* Sets the error, with the line of @at, a node or NULL; returns -EINVAL. */
#define refuse(loader, at, format, ...)                                       \
	dart_error__set((loader)->error, EINVAL, "%s:%zu: " format,           \
			(loader)->path, (at) ? (at)->start_mark.line + 1 : 1, \
			##__VA_ARGS__)

const yaml_node_t *dart_key_loader__node(struct dart_key_loader *loader,
					 int index);
/* The text of a scalar; NULL for other nodes and for a text with a NUL. */
const char *dart_key_loader__text(const yaml_node_t *node);

/*
 * Takes a mapping whose keys are @members, each at most once; the array ends
 * with zeros.
 */
int dart_key_loader__take(struct dart_key_loader *loader,
			  const yaml_node_t *node,
			  const struct dart_key_member *members, void *into);
/* Copies a text of printable ASCII to the char * at @into. */
int dart_key_loader__take_text(struct dart_key_loader *loader,
			       const yaml_node_t *node, void *into);

/* The caller frees the contents of @field, also after an error. */
int dart_key_loader__take_field(struct dart_key_loader *loader,
				const yaml_node_t *node,
				struct dart_key_field *field);

#endif /* DART_KEY_SCHEMA_LOADER_H */

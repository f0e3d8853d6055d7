/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A schema file that is being read; private to the key schema. */
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

/* What a mapping may say, and who takes it. */
struct dart_key_member {
	const char *name;
	int (*take)(struct dart_key_loader *loader, const yaml_node_t *node,
		    void *into);
};

/* Says what is wrong in the line of @node; always -EINVAL. */
__attribute__((format(printf, 3, 4))) int
dart_key_loader__refuse(struct dart_key_loader *loader, const yaml_node_t *node,
			const char *format, ...);

const yaml_node_t *dart_key_loader__node(struct dart_key_loader *loader,
					 int index);
/* The text of a scalar; NULL if it is none, or has a NUL inside. */
const char *dart_key_loader__text(const yaml_node_t *node);

/* Each member once, and none but @members, which end with zeros. */
int dart_key_loader__take(struct dart_key_loader *loader,
			  const yaml_node_t *node,
			  const struct dart_key_member *members, void *into);
/* Printable ASCII, into the char * at @into. */
int dart_key_loader__take_text(struct dart_key_loader *loader,
			       const yaml_node_t *node, void *into);

/* Whatever becomes of it, what is in @field is to be freed. */
int dart_key_loader__take_field(struct dart_key_loader *loader,
				const yaml_node_t *node,
				struct dart_key_field *field);

#endif /* DART_KEY_SCHEMA_LOADER_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of keys that layouts and descriptions of applications have in common. */
#ifndef DART_DOCUMENT_INTERNAL_H
#define DART_DOCUMENT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include <libdart/application/location.h>
#include <libdart/yaml_file.h>

/* Parses a whole number of at most @most. */
int dart_document__take_number(struct dart_yaml *yaml, const yaml_node_t *node, uint64_t most,
			       uint64_t *number);

/*
 * For members of mappings: a text of ASCII into a char * that the caller frees; a
 * struct dart_application_build_id; an enum dart_control_field_kind; any number into a uint64_t.
 */
int dart_document__take_text(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_document__take_build_id(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_document__take_kind(struct dart_yaml *yaml, const yaml_node_t *node, void *into);
int dart_document__take_u64(struct dart_yaml *yaml, const yaml_node_t *node, void *into);

/*
 * Makes room for element @count of @list, which has grown like this from NULL; NULL if out of
 * memory, when @list is unchanged.
 */
void *dart_document__grow(void *list, uint32_t count, size_t size);

#endif /* DART_DOCUMENT_INTERNAL_H */

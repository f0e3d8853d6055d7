/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Labels of targets: pairs of a name, any UTF-8 as in Prometheus 3, and a text.  The configuration
 * or a source gives labels to targets, and outputs attach them to values.  Outputs that take only
 * plain names, [a-zA-Z_][a-zA-Z0-9_]*, translate the others: see metrics/labels/label_collisions.h.
 */
#ifndef CONTROLLER_LABELS_H
#define CONTROLLER_LABELS_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/yaml_file.h>

#include "tools/controller/base/shared_text.h"

/* Labels of one target. */
#define LABELS_MAX 64
#define LABELS_NAME_MAX 128 /* bytes */
#define LABELS_VALUE_MAX 1024
/* Bytes of the JSON text. */
#define LABELS_TEXT_MAX 16384

/* Is it a name that each output takes as it is? */
bool labels__is_plain_name(const char *name);
/*
 * Adds a label to the object @labels, or replaces it.  Returns 0; -EINVAL with a sentence in
 * @error; -ENOMEM.
 */
int labels__add(json_t *labels, const char *name, const char *value, struct dart_error *error);

/*
 * Reads a mapping of a configuration file into a new object, which belongs to the caller also after
 * an error.
 */
int labels__read(struct dart_yaml *yaml, const yaml_node_t *node, json_t **labels);

/*
 * Prints the labels of @own, and the labels of @defaults that @own lacks, in alphabetical order as
 * a JSON text in ASCII.  Either may be NULL; @text is NULL without labels.  Returns 0;
 * -EINVAL with a sentence in @error; -ENOMEM.
 */
int labels__text(const json_t *own, const json_t *defaults,
		 struct shared_text **text, struct dart_error *error);

#endif /* CONTROLLER_LABELS_H */

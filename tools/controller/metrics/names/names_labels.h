/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes labels from a file of names, and keeps texts of the file. */
#ifndef CONTROLLER_NAMES_LABELS_H
#define CONTROLLER_NAMES_LABELS_H

#include <libdart/yaml_file.h>

#include "names.h"
#include "tools/controller/base/arena.h"

/* Copy to the arena. If memory runs out, both set the error and return NULL. */
const char *names__keep(struct dart_yaml *yaml, struct arena *arena, const char *text);
void *names__keep_array(struct dart_yaml *yaml, struct arena *arena, const void *from, size_t count,
			size_t size);

/* Takes the name of a label. Returns 0, or -errno with a sentence in the error. */
int names_labels__take_name(struct dart_yaml *yaml, const yaml_node_t *node, struct arena *arena,
			    const char **name);
/*
 * Takes a mapping of names to values; NULL is an empty mapping. @is_constant: refuses values
 * "$...". Returns 0, or -errno with a sentence in the error.
 */
int names_labels__take(struct dart_yaml *yaml, const yaml_node_t *node, struct arena *arena,
		       bool is_constant, const struct name_label **labels, uint32_t *count);

#endif /* CONTROLLER_NAMES_LABELS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes one item of a file of names: a family, or a pattern of families. */
#ifndef CONTROLLER_NAMES_FAMILY_H
#define CONTROLLER_NAMES_FAMILY_H

#include <libdart/yaml_file.h>

#include "names_builder.h"

struct names_file {
	struct loaded_names *loaded;
	const char *path; /* in the arena of the names */
};

/* Takes the item with its series. Returns 0, or -errno with a sentence in the error. */
int names_family__take(struct dart_yaml *yaml, const yaml_node_t *node, struct names_file *file);

#endif /* CONTROLLER_NAMES_FAMILY_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Takes the series of a family from a file of names. */
#ifndef CONTROLLER_NAMES_SERIES_H
#define CONTROLLER_NAMES_SERIES_H

#include <libdart/yaml_file.h>

#include "names_builder.h"

struct names_series_use {
	struct loaded_names *loaded;
	bool is_pattern;
	bool is_histogram;
	/*
	 * Finds the family of a value; @name is the text that a pattern's field gives for $name,
	 * and otherwise NULL. Returns 0, or -errno with a sentence in the error.
	 */
	int (*find_family)(struct dart_yaml *yaml, const yaml_node_t *node, const char *name,
			   void *data, uint32_t *index);
	void *data;
};

/* Returns 0, or -errno with a sentence in the error. */
int names_series__take(struct dart_yaml *yaml, const yaml_node_t *node,
		       const struct names_series_use *use);

#endif /* CONTROLLER_NAMES_SERIES_H */

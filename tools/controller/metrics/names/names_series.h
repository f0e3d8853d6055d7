/* SPDX-License-Identifier: GPL-2.0-only */
/* The series of a family in a file of names. */
#ifndef CONTROLLER_NAMES_SERIES_H
#define CONTROLLER_NAMES_SERIES_H

#include <libdart/yaml_file.h>

#include "names_builder.h"

struct names_series_use {
	struct loaded_names *loaded;
	bool is_pattern;
	bool is_histogram;
	/*
	 * The family of a value, which a field of a pattern calls @name; NULL otherwise.
	 * Returns 0, or -errno with a sentence in the error.
	 */
	int (*find_family)(struct dart_yaml *yaml, const yaml_node_t *node, const char *name,
			   void *data, uint32_t *index);
	void *data;
};

/* Returns 0, or -errno with a sentence in the error. */
int names_series__take(struct dart_yaml *yaml, const yaml_node_t *node,
		       const struct names_series_use *use);

#endif /* CONTROLLER_NAMES_SERIES_H */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of reading files of lookup tables, see tea_tables.h. */
#ifndef DART_TEA_TABLES_LOADER_H
#define DART_TEA_TABLES_LOADER_H

#include <stdbool.h>

#include <jansson.h>

#include <libdart/tea/tea_hash.h>
#include <libdart/tea/tea_tables.h>

struct dart_tea_tables_loader {
	struct dart_tea_tables *tables;
	struct dart_tea_hash *hash; /* of the first table, NULL at first */
	bool is_any_requester; /* take the first one */
	size_t stashed_room; /* entries */
	const char *path;
	struct dart_error *error;
};

/* Sets the error, with the file; returns -EINVAL. */
#define refuse(loader, format, ...)                             \
	dart_error__set((loader)->error, EINVAL, "%s: " format, \
			(loader)->path, ##__VA_ARGS__)

/*
 * Adds a server of a table whose geometry is there.  Returns 0, or -errno with a sentence in
 * the error.
 */
int dart_tea_tables_loader__take_server(struct dart_tea_tables_loader *loader, json_t *json);

#endif /* DART_TEA_TABLES_LOADER_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* An entry, or only a key, on the command line. */
#ifndef LOOKUP_ENTRY_H
#define LOOKUP_ENTRY_H

#include <libdart/tea/tea_geometry.h>

#include "layout.h"

/* From the command line; NULL: not given. */
struct lookup_named {
	const char *table;
	const char *schema;
	const char *key, *value; /* hexadecimal digits */
	char *const *fields; /* FIELD=VALUE */
	int field_count;
};

/*
 * Finds the fields of the entries: from the schema that --schema names, or from the schema with the
 * name of the table if its entries fit a table of @geometry; otherwise, or if the command line
 * gives a key in digits and no --schema, they are two strings of bytes.  Returns an exit status;
 * after a failure its message has been printed.
 */
int lookup_entry__layout(const struct lookup_named *named, const struct dart_tea_geometry *geometry,
		      struct lookup_layout *layout);
/* Reads the key and, with @has_value, the value after it.  Returns an exit status likewise. */
int lookup_entry__take(const struct lookup_named *named, const struct lookup_layout *layout,
		       bool has_value, uint8_t entry[static LOOKUP_ENTRY_MAX]);

#endif /* LOOKUP_ENTRY_H */

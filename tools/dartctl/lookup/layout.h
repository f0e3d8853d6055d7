/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of the entries of a lookup table, by a schema: dart_schema(5). */
#ifndef LOOKUP_LAYOUT_H
#define LOOKUP_LAYOUT_H

#include <dart/tea.h>
#include <libdart/key/key_schema.h>

#define LOOKUP_FIELDS_MAX (2 * DART_KEY_FIELDS_MAX)

struct lookup_field {
	const struct dart_key_field *is;
	uint32_t offset; /* bytes, from the first one of the key */
	size_t name_length;
};

/* An entry is its key and, after it, its value. */
struct lookup_layout {
	struct dart_key_schema *schema;
	struct lookup_field
		fields[LOOKUP_FIELDS_MAX]; /* of the key, then of the value */
	uint32_t count, key_count; /* numbers of all fields, and of those in the key */
	uint32_t key_length, value_length; /* bytes */
};

#define LOOKUP_ENTRY_MAX (DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX) /* bytes */

/*
 * Makes a layout of @schema, which it owns afterwards.  Returns 0, or sets @error and
 * returns -EINVAL if no table can have such entries; then the caller keeps @schema.
 */
int lookup_layout__init(struct lookup_layout *layout, struct dart_key_schema *schema,
		     struct dart_error *error);
/*
 * Makes the layout of entries without a schema: the fields "key" and "value", in hexadecimal
 * digits.  Returns 0, -EINVAL or -ENOMEM.
 */
int lookup_layout__init_raw(struct lookup_layout *layout, uint32_t key_length,
			 uint32_t value_length, struct dart_error *error);
void lookup_layout__free(struct lookup_layout *layout);

/* The index of the field whose name is these @length bytes, or -ENOENT. */
int lookup_layout__find(const struct lookup_layout *layout, const char *name, size_t length);
/* Writes the names of all fields, with ", " between them. */
void lookup_layout__names(const struct lookup_layout *layout, char *text, size_t size);

#endif /* LOOKUP_LAYOUT_H */
